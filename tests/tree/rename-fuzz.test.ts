/**
 * Renames inside a sandbox, of directories above all, are what they are in a plain directory: the same
 * answers, the same tree, with owners, modes, attributes and times; and the diff says so.
 *
 * `WRIT_RENAME_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { programFile } from '../ledger/program.ts'
import { runAs, TEST_USERS } from './users.ts'

const ROUNDS = Number(process.env['WRIT_RENAME_ROUNDS'] ?? 30)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261116)
const EACH = Math.ceil(ROUNDS / TEST_USERS.length)

it.concurrent.each(TEST_USERS.map((user, index) => ({ user, seed: SEED + index * EACH })))(
  `${EACH} random trees with renames as $user, seed $seed`,
  async ({ user, seed }) => {
    const thread = await programFile('src/sandbox/supervision/watch.worker.ts')
    const input = { seed, rounds: EACH, watcher: pathToFileURL(thread).href }
    const ended = await runAs(user, 'tests/tree/rename-fuzz.program.ts', input, 3_600_000)
    expect(ended.stdout).not.toContain('wrong')
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    const [last = '{}'] = ended.stdout.trim().split('\n').slice(-1)
    expect(JSON.parse(last).renamed).toBeGreaterThan(EACH)
  },
  3_600_000,
)
