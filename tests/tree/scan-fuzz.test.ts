/**
 * A scan says what a full walk before and after says, and what is set aside is what was rehearsed: on
 * random trees, as root and as an ordinary user, with the upper layer in memory and on disk.
 *
 * `WRIT_SCAN_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { expect, it } from 'vitest'
import { runAs, TEST_USERS } from './users.ts'

const ROUNDS = Number(process.env['WRIT_SCAN_ROUNDS'] ?? 150)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261115)
const EACH = Math.ceil(ROUNDS / TEST_USERS.length)

it.concurrent.each(TEST_USERS.map((user, index) => ({ user, seed: SEED + index * EACH })))(
  `${EACH} random trees as $user, seed $seed`,
  async ({ user, seed }) => {
    const input = { seed, rounds: EACH }
    const ended = await runAs(user, 'tests/tree/scan-fuzz.program.ts', input, 3_600_000)
    expect(ended.stderr).toBe('')
    const [last] = ended.stdout.trim().split('\n').slice(-1)
    expect(ended).toMatchObject({ status: 0 })
    expect(JSON.parse(last ?? '{}').changes).toBeGreaterThan(EACH)
  },
  3_600_000,
)
