/**
 * Runs the corpora whole, or what is named, and tells one line of JSON for each task that is through.
 * Its one argument: `{ only, parallel }`.
 */
import { HIDDEN } from './hidden/index.ts'
import { tryHidden, WAYS } from './hidden-trial.ts'
import { TEST_USERS, tryAll, USER_NAMES } from './round.ts'
import { ROUTINE } from './routine/index.ts'
import { tryRoutine } from './routine-trial.ts'

interface Order {
  /** Beginnings of ids; all when there are none. */
  readonly only: readonly string[]
  readonly parallel: number
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order
const isWanted = ({ id }: { readonly id: string }): boolean =>
  order.only.length === 0 || order.only.some((word) => id.startsWith(word))

// An end by the keyboard is an end: what lies around is removed on the way out.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1))

for (const user of TEST_USERS) {
  const tell = (kind: string) => (result: object) =>
    process.stdout.write(`${JSON.stringify({ kind, user: USER_NAMES[user], ...result })}\n`)
  const { parallel } = order
  await tryAll(user, HIDDEN.filter(isWanted), (ground, task) => tryHidden(ground, task, WAYS), {
    parallel,
    onResult: tell('hidden'),
  })
  await tryAll(user, ROUTINE.filter(isWanted), tryRoutine, { parallel, onResult: tell('routine') })
}
