/** Of what runs on a machine only bubblewraps of the directory are taken for stragglers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { isDead } from '../supervision/meters.ts'
import { killStragglers } from './waiting-shell.ts'

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

async function start(program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: 'ignore' })
  started.push(child)
  const comm = `/proc/${child.pid}/comm`
  await expect.poll(() => readFileSync(comm, 'latin1').trim(), { timeout: 5000 }).toBe(program)
  return child
}

const bubble = (directory: string): readonly string[] => [
  ...['--unshare-pid', '--die-with-parent', '--ro-bind', '/', '/'],
  ...['--setenv', 'PLACE', `${directory}/m0`],
  ...['--', 'sleep', '600'],
]

it('are killed, and no other process', async () => {
  const [own, other] = [`/tmp/writ-test-${process.pid}-a`, `/tmp/writ-test-${process.pid}-b`]
  const left = await start('bwrap', bubble(own))
  const neighbour = await start('bwrap', bubble(other))
  const reader = await start('tail', ['-F', `${own}/m0`])
  const ended = new Promise((resolve) => left.once('exit', (_, signal) => resolve(signal)))
  killStragglers(own)
  expect(await ended).toBe('SIGKILL')
  expect([neighbour, reader].map(({ pid = 0 }) => isDead(pid))).toEqual([false, false])
})
