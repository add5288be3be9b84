/**
 * A scan says what a full walk before and after says, and what is set aside is what was rehearsed: on
 * random trees, as root and as an ordinary user, with the upper layer in memory and on disk.
 *
 * `WRIT_SCAN_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { expect, it } from 'vitest'
import { runAs, TEST_USERS, type TestUser } from './users.ts'

const ROUNDS = Number(process.env['WRIT_SCAN_ROUNDS'] ?? 80)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)
const EACH = Math.ceil(ROUNDS / TEST_USERS.length)
/** Trees on which something was wrong once: two names of a real file, with a mode given to each. */
const FOUND_ONCE = [1_612_583_270]

/** How many changes the rounds made. */
async function changesIn(user: TestUser, seed: number, rounds: number): Promise<number> {
  const input = { seed, rounds }
  const ended = await runAs(user, 'tests/tree/scan-fuzz.program.ts', input, 3_600_000)
  expect(ended.stderr).toBe('')
  const [last] = ended.stdout.trim().split('\n').slice(-1)
  expect(ended).toMatchObject({ status: 0 })
  return JSON.parse(last ?? '{}').changes
}

it.concurrent.each(TEST_USERS.map((user, index) => ({ user, seed: SEED + index * EACH })))(
  `${EACH} random trees as $user, seed $seed`,
  async ({ user, seed }) => {
    expect(await changesIn(user, seed, EACH)).toBeGreaterThan(EACH)
  },
  3_600_000,
)

it.each(TEST_USERS.flatMap((user) => FOUND_ONCE.map((seed) => ({ user, seed }))))(
  'the tree of seed $seed as $user',
  async ({ user, seed }) => {
    expect(await changesIn(user, seed, 1)).toBeGreaterThan(0)
  },
  60_000,
)
