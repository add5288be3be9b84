/**
 * Generated trees and changes: symbolic links, renames, modes, attributes, odd names, type swaps, hard
 * links, owners, holes. Promoting makes the tree what was rehearsed, rolling back makes it what it was,
 * to the nanosecond; as root and as an ordinary user.
 *
 * `WRIT_PROMOTION_TREES` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { describe, expect, it } from 'vitest'
import { runAs, TEST_USERS, type TestUser } from '../tree/users.ts'

const TREES = Number(process.env['WRIT_PROMOTION_TREES'] ?? 80)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)
const SHARES: Readonly<Record<TestUser, number>> = { self: 0.75, ordinary: 0.25 }
const TIMEOUT_MS = 7_000_000

async function rounds(user: TestUser, from: number, count: number): Promise<void> {
  const program = 'tests/promotion/trees.program.ts'
  const { stdout, stderr } = await runAs(user, program, { from, count }, TIMEOUT_MS)
  expect(stderr).toBe('')
  const lines = stdout.split('\n').slice(0, -1)
  const results = lines.map((line) => JSON.parse(line) as { seed: number; found: string[] })
  expect(results.filter(({ found }) => found.length > 0)).toEqual([])
  expect(results.length).toBe(count)
}

describe(`promote, then roll back, ${TREES} generated trees (seed ${SEED})`, () => {
  it.each(TEST_USERS)(
    'as %s, in two processes',
    async (user) => {
      const count = Math.ceil((TREES * SHARES[user]) / 2)
      const from = user === 'self' ? SEED : SEED + TREES
      await Promise.all([rounds(user, from, count), rounds(user, from + count, count)])
    },
    7_200_000,
  )
})
