/** Output that cannot be written any more: the run has an outcome on the record all the same. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  place = new Place('output').init()
}, 180_000)

afterAll(() => place?.remove())

/** Runs `writ exec … > target` or `writ exec … | reader` in bash; answers with the status of writ. */
function through(target: string, options: readonly string[], command: readonly string[]) {
  const argv = place.argv(['exec', ...options, '--', ...command])
  const script = `"$@" ${target}; echo "status \${PIPESTATUS[0]}" >&2`
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], {
    cwd: place.project,
    env: place.env(),
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { err: stderr, status: Number(/status (\d+)\n$/.exec(stderr)?.[1] ?? -1) }
}

/** The newest row of the history. */
function newest(): string {
  return place.writ(['log']).out.trimEnd().split('\n').at(-1) ?? ''
}

it('a full disk ends the command, and what it declared is promoted', () => {
  const { status, err } = through('> /dev/full', ['--write', '.'], shell('full'))
  expect(status).toBe(141)
  expect(err).toContain('no space is left')
  expect(place.has('full')).toBe(true)
  expect(newest()).toContain('promoted')
})

it('a reader that is gone ends the command, and its effects wait', () => {
  const { status, err } = through('| head -1', [], shell('gone'))
  expect(status).toBe(75)
  expect(err).toContain('writ approve')
  expect(place.has('gone')).toBe(false)
  expect(newest()).toContain('waiting')
})

it('a program that ignores the signal and goes on writing is ended', () => {
  const lines = [
    'import signal',
    'signal.signal(signal.SIGPIPE, signal.SIG_IGN)',
    'open("stubborn", "w").close()',
    'while True: print(1, flush=True)',
  ]
  const { status } = through('| head -1', ['--write', '.'], ['python3', '-c', lines.join('\n')])
  expect(status).toBe(143)
  expect(newest()).toContain('promoted')
})

function shell(name: string): readonly string[] {
  return ['sh', '-c', `echo x > ${name}; seq 1 500000`]
}
