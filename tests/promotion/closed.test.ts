/** Modes and owners that stand in the way, as root and as an ordinary user. */
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ORDINARY_UID, runAs, TEST_USERS } from '../tree/users.ts'

const PROGRAM = 'tests/promotion/closed.program.ts'
const isRoot = process.getuid?.() === 0

/** A directory of the ordinary user's in which root has a file. */
function makeForeign(): string {
  const base = mkdtempSync(join(tmpdir(), 'writ-promotion-foreign-'))
  mkdirSync(join(base, 'tree'))
  for (const path of [base, join(base, 'tree')]) chownSync(path, ORDINARY_UID, ORDINARY_UID)
  writeFileSync(join(base, 'tree/foreign'), 'of root', { mode: 0o644 })
  return base
}

describe('what modes and owners forbid', () => {
  it.each(TEST_USERS)(
    'is promoted and rolled back as %s',
    async (user) => {
      const foreign = isRoot ? makeForeign() : null
      try {
        const { stdout, stderr } = await runAs(user, PROGRAM, { foreign }, 100_000)
        expect(stderr).toBe('')
        const lines = stdout.split('\n').slice(0, -1)
        const results = lines.map((line) => JSON.parse(line) as { name: string; found: string[] })
        expect(results.filter(({ found }) => found.length > 0)).toEqual([])
        expect(results.length).toBe(isRoot ? 5 : 4)
      } finally {
        if (foreign !== null) rmSync(foreign, { recursive: true, force: true })
      }
    },
    120_000,
  )
})
