/** Wrapping, from the hook to the gate: ticket lines and `writ-shell` of the built program. */
import { execFile, spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Place } from './place.ts'

const SHELL = resolve('bin/writ-shell.cjs')
const WRIT = resolve('bin/writ.cjs')
let place: Place
const servers: Server[] = []

beforeAll(() => {
  place = new Place('ticket').init()
}, 180_000)
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(() => place?.remove())

/** What Claude Code would run after the hook. */
function line(command: string, env: Record<string, string> = {}): string {
  const input = JSON.stringify({
    session_id: 's',
    cwd: place.project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: 't',
  })
  const { out, status } = place.writ(['hook', 'event', '--wrap', 'claude-code'], {
    input,
    env,
    isWarm: false,
  })
  expect(status).toBe(0)
  return JSON.parse(out).hookSpecificOutput.updatedInput.command
}

function shell(words: readonly string[], env: Record<string, string> = {}, program = SHELL) {
  const options = { cwd: place.project, env: place.env({ env }), encoding: 'utf8' as const }
  return spawnSync(process.execPath, [program, ...words], options)
}

describe('a ticket line', () => {
  it('runs the command under the gate, once', () => {
    const [program = '', ...words] = line("printf '%s' \"it's\" > a.txt; echo said").split(' ')
    expect([resolve(program), words.slice(0, 2)]).toEqual([WRIT, ['exec', '--ticket']])
    const first = place.writ([words[0] ?? '', '--yes', ...words.slice(1)])
    expect([first.status, first.out]).toEqual([0, 'said\n'])
    expect(place.text('a.txt')).toBe("it's")
    const again = place.writ(words)
    expect([again.status, again.lastLine]).toEqual([125, 'writ: hook.ticket'])
  })

  it('waits for a person without their yes, and changes nothing', () => {
    const { status } = place.writ(line('echo b > b.txt').split(' ').slice(1))
    expect([status, place.has('b.txt')]).toEqual([75, false])
  })

  it('takes no command besides', () => {
    const words = line('echo c > c.txt').split(' ').slice(1)
    expect(place.writ([...words, '--', 'true']).lastLine).toBe('writ: cli.usage')
  })
})

describe('writ-shell', () => {
  it.each([
    ['the whole program as one word', (text: string) => [text]],
    ['-c and a program', (text: string) => ['-c', text]],
    ['-lc and a program', (text: string) => ['-lc', text]],
  ])('runs under the gate, given %s', (_, words) => {
    const { status, stdout } = shell(words('echo said; echo d > d.txt'))
    expect([status, stdout, place.has('d.txt')]).toEqual([75, 'said\n', false])
  })

  it('replaces a ticket line inside the program of Claude Code', () => {
    const { status, stdout } = shell([
      `true && eval '${line("echo 'in it'")}' < /dev/null && pwd -P`,
    ])
    expect([status, stdout]).toEqual([0, `in it\n${place.project}\n`])
  })

  it('is not switched off by a variable, only by a channel that answers', () => {
    const closed = shell(['-c', 'echo e > e.txt'], { WRIT_SESSION_CHANNEL: 'http://127.0.0.1:9/t' })
    expect([closed.status, place.has('e.txt')]).toEqual([75, false])
  })

  it('becomes bash for the hooks of writ themselves, and for nothing that only looks like one', () => {
    const own = shell([`${WRIT} hook event claude-code`])
    expect([own.status, own.stderr]).toMatchObject([2, expect.stringContaining('hook.input')])
    const other = shell([`${WRIT} hook event x; echo f > f.txt`])
    expect([other.status === 0, place.has('f.txt')]).toEqual([false, false])
  })

  it('comes as a bash for PATH, which is not there for what it runs', () => {
    const bash = resolve('bin/shell/bash')
    const PATH = `${dirname(bash)}:${process.env['PATH']}`
    const { stdout, status } = shell(['-c', 'echo $PATH; command -v bash'], { PATH }, bash)
    expect([status, stdout.includes(dirname(bash))]).toEqual([0, false])
  })
})

describe('in a session', () => {
  it('writ-shell becomes bash', async () => {
    const server = createServer((_, response) => response.end('{}'))
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const env = place.env({ env: { WRIT_SESSION_CHANNEL: `http://127.0.0.1:${port}/token` } })
    const out = await new Promise<string>((done) => {
      execFile(
        process.execPath,
        [SHELL, '-c', 'echo g > g.txt; echo $?'],
        { cwd: place.project, env },
        (_, text) => done(text),
      )
    })
    expect([out, place.has('g.txt')]).toEqual(['0\n', true])
  })
})
