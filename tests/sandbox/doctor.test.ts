/** `writ doctor` as a user meets it: the built program, as root and as an ordinary user. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { place, userWrapper, WHO, type Who } from './drive.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 120_000)

function writ(as: Who, args: readonly string[], cwd: string, home: string) {
  const env = { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: join(home, 'state') }
  const [command = '', ...rest] = [
    ...userWrapper(as).filter((word) => !word.startsWith('HOME=')),
    process.execPath,
    PROGRAM,
    ...args,
  ]
  const { status, stdout, stderr } = spawnSync(command, rest, { cwd, env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe.each(WHO)('doctor, for %s', (as) => {
  it('tells each control, the level and that there is no home', () => {
    const home = place(as)
    const { status, stdout, stderr } = writ(as, ['doctor', '--json'], home, home)
    expect([status, stderr]).toEqual([0, ''])
    const answer = JSON.parse(stdout)
    expect(answer).toMatchObject({ ok: true, level: 'seatbelt', credential: null })
    for (const control of answer.controls) {
      expect(['kernel', 'polled']).toContain(control.status)
    }
    const memory = answer.controls.find(({ name }: { name: string }) => name === 'cap_memory')
    expect(memory.status).toBe(as === 'root' ? 'kernel' : 'polled')
    if (as === 'user') expect(memory.hint).toMatch(/^(?:sudo install -d|systemd-run) /)
  })

  it('says in words what the level means, and whether the human has a credential', () => {
    const home = place(as)
    const work = join(home, 'work')
    mkdirSync(work, { mode: 0o777 })
    if (as === 'user') execFileSync('chown', ['-R', '1777:1777', home])
    expect(writ(as, ['init', '--no-pass'], work, home).status).toBe(0)
    const { status, stdout } = writ(as, ['doctor'], work, home)
    expect(status).toBe(0)
    expect(stdout).toContain('trust level seatbelt')
    expect(stdout).toMatch(/^confinement: (?:confined|advisory)[\s\S]*^custody: seatbelt/m)
    expect(stdout).toContain('no passphrase yet')
  })
})
