/** `writ laws check` as a user meets it: the built program on real files. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestBytes } from '../../src/base/index.ts'
import { DEFAULT_LAWS } from '../../src/policy/index.ts'
import { ensureBuilt } from '../built.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const folder = mkdtempSync(join(tmpdir(), 'writ-laws-check-'))

/** The built files must be those of this source. */
beforeAll(() => {
  ensureBuilt()
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function check(args: readonly string[], input: string | Buffer = '') {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, 'laws', 'check', ...args],
    {
      input,
      encoding: 'utf8',
      timeout: 30_000,
      cwd: folder,
      env: { PATH: '/usr/bin', HOME: folder },
    },
  )
  return { status, out: stdout, err: stderr }
}

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const BROKEN = DEFAULT_LAWS.replace("'CRITICAL'", "'CRITCAL'")

describe('writ laws check', () => {
  it('accepts the default laws', () => {
    const { status, out } = check([file('laws.yaml', DEFAULT_LAWS)])
    expect(status).toBe(0)
    expect(out).toMatch(
      /^valid {2}\S*laws\.yaml\n {2}of this file\n {4}NO_CRITICAL +tier 1, block, before the rehearsal, the same as the default law\n/,
    )
  })

  it('refuses with file, line and column, the code and the nearest word', () => {
    const path = file('broken.yaml', BROKEN)
    const { status, out } = check([path])
    expect(status).toBe(1)
    expect(out).toContain(`${path}:14:43  expression.word`)
    expect(out).toContain('hint: did you mean `CRITICAL`?')
  })

  it('says the same as JSON', () => {
    const { status, out } = check(['--json', '-'], BROKEN)
    expect(status).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      file: '-',
      valid: false,
      in_force: null,
      faults: [{ code: 'expression.word', path: '/laws/0/policy_expr', line: 14, column: 43 }],
      laws: [],
    })
    const fine = JSON.parse(check(['--json', '-'], DEFAULT_LAWS).out)
    expect(fine.laws[0]).toEqual({
      policy_id: 'NO_CRITICAL',
      tier: 1,
      violation_action: 'block',
      reads_result: false,
      origin: 'file',
      default_law: 'same',
      text: 'Nothing that its own author calls critical.',
    })
  })

  it('warns of a law that breaks on acts it does not mean', () => {
    const text = DEFAULT_LAWS.replace(
      "descriptor.risk_level == 'CRITICAL'",
      "operation.argv[0] == 'rm'",
    )
    const { status, out } = check(['-'], text)
    expect(status).toBe(0)
    expect(out).toContain('warning  -:14:18  laws.unguarded')
    expect(JSON.parse(check(['--json', '-'], text).out).warnings).toHaveLength(1)
  })

  it('finds the laws of a home that no human registered yet', () => {
    const made = spawnSync(process.execPath, [PROGRAM, 'init', '--no-pass'], {
      cwd: folder,
      env: { PATH: '/usr/bin', HOME: folder },
      timeout: 60_000,
      encoding: 'utf8',
    })
    expect(made.status, made.stderr).toBe(0)
    const fresh = check([])
    expect([fresh.status, fresh.out]).toEqual([
      0,
      expect.stringMatching(/^valid {2}\S*laws\.yaml, in force\n/),
    ])
    // A file that can be read is not in force before a human accepts it.
    file('.writ/laws.yaml', `# ours\n${DEFAULT_LAWS}`)
    expect(check([]).out).toMatch(/^valid {2}\S*laws\.yaml, not in force: `writ laws accept`/)
    const { in_force: inForce, digest } = JSON.parse(check(['--json']).out)
    expect([inForce, digest]).toEqual([false, digestBytes(`# ours\n${DEFAULT_LAWS}`)])
    file('.writ/laws.yaml', BROKEN)
    expect(check([]).status).toBe(1)
  })

  it('refuses bytes that are no text, and a file that is not there', () => {
    expect(check([file('bytes.yaml', Buffer.from([0xff, 0xfe]))]).status).toBe(1)
    expect(check([join(folder, 'gone.yaml')]).status).toBe(2)
  })
})
