/**
 * Passphrases as people type them: the built program on a terminal, with a person who answers when they
 * are asked. What is typed is never shown.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Place } from './cli-gate/place.ts'

const SECRET = 'four words of mine'
let place: Place

beforeAll(() => {
  place = new Place('passphrase')
}, 180_000)

afterAll(() => place?.remove())

interface Exchange {
  readonly asked: string
  /** What is typed; `\r` is the return key, `\u0003` Ctrl-C. */
  readonly typed: string
}

/** Runs the program on a terminal and types each answer once its question is on the screen. */
function onTerminal(
  project: string,
  args: readonly string[],
  exchanges: readonly Exchange[],
): { readonly status: number | null; readonly screen: string } {
  const cwd = join(place.folder, project)
  mkdirSync(cwd, { recursive: true })
  const steps = exchanges.flatMap(({ asked, typed }) => [{ expect: asked }, { send: typed }])
  const { status, output: screen, failed } = place.person(args, steps, { cwd })
  expect(failed, screen).toBeNull()
  return { status, screen }
}

const CHOOSE =
  'a passphrase, asked for when you approve what cannot be taken back (four words or 12 characters; empty: set it later with `writ principal pass`): '
const AGAIN = 'once more: '

describe('writ init on a terminal', () => {
  it('asks twice, shows nothing that was typed, and keeps the credential', () => {
    const { status, screen } = onTerminal(
      'good',
      ['init'],
      [
        { asked: CHOOSE, typed: `${SECRET}\r` },
        { asked: AGAIN, typed: `${SECRET}\r` },
      ],
    )
    expect(screen).toMatch(/credential\s+passphrase/)
    expect(screen).not.toContain('of mine')
    expect(status).toBe(0)
  })

  it('takes an empty answer for none yet', () => {
    const { status, screen } = onTerminal('none', ['init'], [{ asked: CHOOSE, typed: '\r' }])
    expect(screen).toMatch(/credential\s+none yet/)
    expect(status).toBe(0)
  })

  it('refuses two that differ, and one that is weak, before anything is made', () => {
    const differ = onTerminal(
      'bad',
      ['init'],
      [
        { asked: CHOOSE, typed: `${SECRET}\r` },
        { asked: AGAIN, typed: 'four other words here\r' },
      ],
    )
    expect(differ.screen).toContain('credential.wrong')
    const weak = onTerminal('bad', ['init'], [{ asked: CHOOSE, typed: 'pa55\r' }])
    expect(weak.screen).toContain('credential.weak')
    expect([differ.status, weak.status]).not.toContain(0)
    expect(weak.screen + differ.screen).not.toMatch(/pa55|other words/)
    const made = onTerminal('bad', ['principal', 'list'], [])
    expect(made.screen).toContain('home.missing')
  })

  it('ends when it is interrupted', () => {
    const { status, screen } = onTerminal(
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

  it('does nothing on a wrong passphrase, and its work on the right one', () => {
    const wrong = onTerminal('good', ADD, [{ asked: QUESTION, typed: 'not this one at all\r' }])
    expect(wrong.screen).toContain('credential.wrong')
    expect(wrong.screen).not.toContain('not this')
    const right = onTerminal('good', ADD, [{ asked: QUESTION, typed: `${SECRET}\r` }])
    expect(right.status).toBe(0)
    expect(right.screen).not.toContain('four')
    const list = onTerminal('good', ['principal', 'list'], [])
    expect(list.screen).toContain('pump-3')
  })
})
