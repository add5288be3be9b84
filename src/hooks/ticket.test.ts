/** Tickets: one use, one directory, a short life. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeTicket, redeemTicket, withTickets } from './ticket.ts'

const folder = join(mkdtempSync(join(tmpdir(), 'writ-tickets-')), 'tickets')
afterAll(() => rmSync(join(folder, '..'), { recursive: true }))

const CALL = { host: 'codex', session: 's', cwd: '/project', command: "echo 'hi'" }
const NOW = Date.now()

describe('a ticket', () => {
  it('is redeemed once, in its directory or below', () => {
    const id = makeTicket(folder, CALL, NOW)
    expect(makeTicket(folder, CALL, NOW)).toBe(id)
    expect(redeemTicket(folder, id, '/project/src', NOW).command).toBe(CALL.command)
    expect(() => redeemTicket(folder, id, '/project', NOW)).toThrow(/unknown or was used/)
  })

  it.each([
    ['another directory', '/projects', 0, /is for `\/project`/],
    ['the directory above', '/', 0, /is for `\/project`/],
    ['eleven minutes', '/project', 11 * 60_000, /has expired/],
  ])('does not count after %s', (_, cwd, later, words) => {
    const id = makeTicket(folder, CALL, NOW)
    expect(() => redeemTicket(folder, id, cwd, NOW + later)).toThrow(words)
    expect(() => redeemTicket(folder, id, '/project', NOW)).toThrow(/unknown or was used/)
  })

  it.each(['../../etc/passwd', '', 'x'.repeat(32)])('is no name such as %j', (id) => {
    expect(() => redeemTicket(folder, id, '/project', NOW)).toThrow(/is not a ticket/)
  })

  it('is another one for another session, command or directory', () => {
    const ids = [{}, { session: 't' }, { command: 'ls' }, { cwd: '/' }].map((change) =>
      makeTicket(folder, { ...CALL, ...change }, NOW),
    )
    expect(new Set(ids).size).toBe(4)
  })
})

describe('a program of a shell', () => {
  const ID = '0123456789abcdef0123456789abcdef'
  const redeem = (id: string): string => `echo '${id === ID ? 'yes' : 'no'}'`

  it.each([
    [`/opt/writ exec --ticket ${ID}`, "echo 'yes'"],
    [
      `. x && eval '/opt/writ exec --ticket ${ID}' < /dev/null && pwd`,
      `. x && eval 'echo '\\''yes'\\''' < /dev/null && pwd`,
    ],
    ['echo plain', 'echo plain'],
    [`/opt/writ exec --ticket ${ID}; rm x`, `/opt/writ exec --ticket ${ID}; rm x`],
    [`eval '/opt/writ exec --ticket ${ID}; rm x'`, `eval '/opt/writ exec --ticket ${ID}; rm x'`],
  ])('%s', (program, want) => {
    expect(withTickets(program, redeem)).toBe(want)
  })
})
