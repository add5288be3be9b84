/**
 * A live view shows what a plain directory would show, and nothing of it is lost, in random rounds (S-1,
 * S-2, S-10): as root and as an ordinary user, with the layers next to the tree and on another filesystem.
 *
 * `WRIT_VIEW_ROUNDS` and `WRIT_SEED` make the soak out of the slice; the seed is in the name.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { programFile } from '../ledger/program.ts'
import { ORDINARY_UID, runAs, TEST_USERS, type TestUser } from '../tree/users.ts'

const ROUNDS = Number(process.env['WRIT_VIEW_ROUNDS'] ?? 60)
const SEED = Number(process.env['WRIT_SEED'] ?? 20261117)
const KILLS = Math.ceil(ROUNDS / 10)
/** A memory filesystem that every user may write to. */
const OTHER = '/dev/shm'

const places: string[] = []
afterAll(() => {
  for (const place of places) execFileSync('chmod', ['-R', 'u+rwx', place])
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

async function watcherUrl(): Promise<string> {
  return pathToFileURL(await programFile('src/sandbox/supervision/watch.worker.ts')).href
}

async function rounds(user: TestUser, seed: number, kept?: string) {
  const watcher = await watcherUrl()
  const input = { seed, rounds: ROUNDS, watcher, ...(kept === undefined ? {} : { kept }) }
  const ended = await runAs(user, 'tests/view/rounds.program.ts', input, 3_600_000)
  const [last] = ended.stdout.trim().split('\n').slice(-1)
  expect(ended).toMatchObject({ status: 0, stderr: '' })
  return JSON.parse(last ?? '{}')
}

it.each(TEST_USERS.map((user, index) => ({ user, seed: SEED + index })))(
  `${ROUNDS} rounds as $user, seed $seed`,
  async ({ user, seed }) => {
    const { settles, pruned, kept, edits } = await rounds(user, seed)
    expect(settles).toBe(ROUNDS)
    for (const count of [pruned, kept, edits]) expect(count).toBeGreaterThan(ROUNDS / 10)
  },
  3_600_000,
)

it(`${ROUNDS} rounds with the layers on another filesystem, seed ${SEED + 7}`, async () => {
  const other = mkdtempSync(`${OTHER}/writ-view-test-`)
  places.push(other)
  chmodSync(other, 0o777)
  expect(statSync(other).dev).not.toBe(statSync('/var/tmp').dev)
  const { settles } = await rounds('self', SEED + 7, other)
  expect(settles).toBe(ROUNDS)
}, 3_600_000)

/** The private directory of whom the rounds run as. */
function placeFor(user: TestUser): string {
  const place = mkdtempSync('/var/tmp/writ-view-test-')
  places.push(place)
  if (user === 'ordinary') chownSync(place, ORDINARY_UID, ORDINARY_UID)
  return place
}

it.each(TEST_USERS.map((user, index) => ({ user, seed: SEED + 20 + index })))(
  `${KILLS} kills inside promotions and prunes as $user, seed $seed (S-11)`,
  async ({ user, seed }) => {
    const base = placeFor(user)
    const watcher = await watcherUrl()
    for (let kill = 0; kill < KILLS; kill++) {
      const crash = kill % 2 === 0 ? 'promote' : 'prune'
      const input = { seed: seed + kill, rounds: 3, watcher, base, crash }
      const ended = await runAs(user, 'tests/view/rounds.program.ts', input, 300_000)
      expect(ended).toMatchObject({ stdout: '', stderr: '' })
    }
    const input = { seed: seed + KILLS, rounds: 3, watcher, base }
    const ended = await runAs(user, 'tests/view/rounds.program.ts', input, 300_000)
    expect(ended).toMatchObject({ status: 0, stderr: '' })
  },
  3_600_000,
)
