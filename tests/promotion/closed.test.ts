/** Modes that shut out the owner, as root and as an ordinary user. */
import { describe, expect, it } from 'vitest'
import { runAs, TEST_USERS } from '../tree/users.ts'

describe('what modes forbid the owner', () => {
  it.each(TEST_USERS)(
    'is promoted and rolled back as %s',
    async (user) => {
      const { stdout, stderr } = await runAs(user, 'tests/promotion/closed.program.ts', {}, 100_000)
      expect(stderr).toBe('')
      const lines = stdout.split('\n').slice(0, -1)
      const results = lines.map((line) => JSON.parse(line) as { name: string; found: string[] })
      expect(results.filter(({ found }) => found.length > 0)).toEqual([])
      expect(results.length).toBe(4)
    },
    120_000,
  )
})
