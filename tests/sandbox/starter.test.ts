/** Holders that a starter forks: the same walls as those that this process starts, and no survivor. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { programFile, type RunOptions, runProgram } from '../ledger/program.ts'
import { place } from './drive.ts'

async function told(then: 'end' | 'lose' | 'stay', options?: RunOptions) {
  const watcher = pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
  const order = { watcher, root: place('root'), then }
  return runProgram('tests/sandbox/starter.program.ts', order, options)
}

async function untilGone(pid: number): Promise<boolean> {
  for (let looks = 0; looks < 100 && existsSync(`/proc/${pid}`); looks++) await pause(100)
  return !existsSync(`/proc/${pid}`)
}

it('shows a command exactly what one finds whose holder was started directly', async () => {
  const { lines, errors } = await told('end')
  expect(errors).toBe('')
  const { own, count, direct, forked, crowded } = JSON.parse(lines[0] ?? '{}')
  expect(direct.holder).toEqual({ ...direct.holder, parent: own, session: direct.holder.pid })
  expect(forked.holder.parent).not.toBe(own)
  expect(forked.holder.session).toBe(forked.holder.pid)
  expect(forked.found).toEqual(direct.found)
  expect(direct.found.stdout).toContain('NoNewPrivs')
  // Connections of another process are not the streams of a holder.
  expect(crowded).toMatchObject({ stdout: 'on\n', exitCode: 0 })
  expect(crowded.holder.parent).toBe(forked.holder.parent)
  // A driver that opens few sandboxes never starts a starter.
  expect(count).toBeGreaterThan(4)
  expect(lines.at(-1)).toBe('closed')
  expect(await untilGone(forked.holder.parent)).toBe(true)
})

it('loses its holders with it, and the next one is started directly', async () => {
  const { lines, errors } = await told('lose')
  expect(errors).toBe('')
  const { own, forked } = JSON.parse(lines[0] ?? '{}')
  const { lost, after } = JSON.parse(lines[2] ?? '{}')
  expect(lost).toBe('SIGKILL')
  expect(after).toMatchObject({ holder: { parent: own }, found: { stdout: 'on\n', exitCode: 0 } })
  expect(await untilGone(forked.holder.pid)).toBe(true)
  expect(lines.at(-1)).toBe('closed')
})

it('dies with the process that it works for, and so does every holder', async () => {
  const { lines, signal } = await told('stay', { killAfterMs: 3000 })
  expect([signal, lines[1]]).toEqual(['SIGKILL', 'running'])
  const { forked } = JSON.parse(lines[0] ?? '{}')
  expect(await untilGone(forked.holder.pid)).toBe(true)
  expect(await untilGone(forked.holder.parent)).toBe(true)
})
