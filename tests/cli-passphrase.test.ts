/**
 * Passphrases as people type them: the built program on a real pseudo-terminal (`script` of
 * util-linux), which answers when it is asked. What is typed is never shown.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from './built.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const folder = mkdtempSync(join(tmpdir(), 'writ-passphrase-'))
const SECRET = 'four words of mine'

beforeAll(() => {
  ensureBuilt()
}, 180_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Exchange {
  readonly asked: string
  /** What is typed; `\r` is the return key, `\u0003` Ctrl-C. */
  readonly typed: string
}

const WAIT_MS = 30_000

/** Runs the program on a terminal and types each answer once its question is on the screen. */
function onTerminal(
  project: string,
  args: readonly string[],
  exchanges: readonly Exchange[],
): Promise<{ readonly status: number | null; readonly screen: string }> {
  mkdirSync(join(folder, project), { recursive: true })
  const command = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: join(folder, project),
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, USER: 'ann', NO_COLOR: '1', TERM: 'xterm' },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_MS)
  let screen = ''
  let next = 0
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    screen += chunk
    const exchange = exchanges[next]
    const at = exchange === undefined ? -1 : screen.indexOf(exchange.asked, seen)
    if (exchange === undefined || at === -1) return
    next++
    seen = at + exchange.asked.length
    child.stdin.write(exchange.typed)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => {
      clearTimeout(timer)
      resolve({ status, screen })
    })
  })
}

const CHOOSE = 'a passphrase for approvals (empty: none yet): '
const AGAIN = 'once more: '

describe('writ init on a terminal', () => {
  it('asks twice, shows nothing that was typed, and keeps the credential', async () => {
    const { status, screen } = await onTerminal(
      'good',
      ['init'],
      [
        { asked: CHOOSE, typed: `${SECRET}\r` },
        { asked: AGAIN, typed: `${SECRET}\r` },
      ],
    )
    expect(screen).toMatch(/credential\s+passphrase/)
    expect(screen).not.toContain('four')
    expect(status).toBe(0)
  })

  it('takes an empty answer for none yet', async () => {
    const { status, screen } = await onTerminal('none', ['init'], [{ asked: CHOOSE, typed: '\r' }])
    expect(screen).toMatch(/credential\s+none yet/)
    expect(status).toBe(0)
  })

  it('refuses two that differ, and one that is weak, before anything is made', async () => {
    const differ = await onTerminal(
      'bad',
      ['init'],
      [
        { asked: CHOOSE, typed: `${SECRET}\r` },
        { asked: AGAIN, typed: 'four other words here\r' },
      ],
    )
    expect(differ.screen).toContain('credential.wrong')
    const weak = await onTerminal('bad', ['init'], [{ asked: CHOOSE, typed: 'pa55\r' }])
    expect(weak.screen).toContain('credential.weak')
    expect([differ.status, weak.status]).not.toContain(0)
    expect(weak.screen + differ.screen).not.toMatch(/pa55|other words/)
    const made = await onTerminal('bad', ['principal', 'list'], [])
    expect(made.screen).toContain('home.missing')
  })

  it('ends when it is interrupted', async () => {
    const { status, screen } = await onTerminal(
      'cut',
      ['init'],
      [{ asked: CHOOSE, typed: 'half a pass\u0003' }],
    )
    expect(screen).toContain('interrupted')
    expect(screen).not.toContain('half')
    expect(status).not.toBe(0)
  })
})

describe('a command that needs the human', () => {
  const ADD = ['principal', 'add', 'device:pump-3@farm']
  const QUESTION = 'passphrase for '

  it('does nothing on a wrong passphrase, and its work on the right one', async () => {
    const wrong = await onTerminal('good', ADD, [
      { asked: QUESTION, typed: 'not this one at all\r' },
    ])
    expect(wrong.screen).toContain('credential.wrong')
    expect(wrong.screen).not.toContain('not this')
    const right = await onTerminal('good', ADD, [{ asked: QUESTION, typed: `${SECRET}\r` }])
    expect(right.status).toBe(0)
    expect(right.screen).not.toContain('four')
    const list = await onTerminal('good', ['principal', 'list'], [])
    expect(list.screen).toContain('pump-3')
  })
})
