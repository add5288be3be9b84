/** Small readings that the lifecycle of a proposal is made from. */
import type { Fault } from '../../base/index.ts'
import type { Obstacle } from '../../contracts/index.ts'
import {
  type Change,
  type Comparison,
  displayOfRaw,
  listsOf,
  type StandingFold,
} from '../../gate/index.ts'
import { realPathOf } from './host-facts.ts'

/** Failures of sandbox, scan and stage carry a fault; anything else is a defect and goes on. */
export function obstacleOf(error: unknown): Obstacle {
  const { fault } = error as { readonly fault?: Fault }
  if (!(error instanceof Error) || fault === undefined) throw error
  return { code: fault.code, detail: fault.message, ...(fault.at === '' ? {} : { path: fault.at }) }
}

export function lawChanges({ promoted, discarded }: Comparison) {
  const changes = (list: readonly Change[], isDiscarded: boolean) =>
    list.map((change) => ({
      path: displayOfRaw(change.path),
      lists: listsOf(change),
      discarded: isDiscarded,
    }))
  return [...changes(promoted, false), ...changes(discarded, true)]
}

const DAY_MS = 24 * 60 * 60 * 1000

export function recentRollbacks(standing: StandingFold, nowMs: number): number {
  return standing
    .promoted()
    .filter(
      ({ rolledBackBy, promotedAt }) =>
        rolledBackBy !== null && nowMs - Date.parse(promotedAt) < DAY_MS,
    ).length
}

export function pathDirectories(path: string | undefined): readonly string[] {
  const directories = (path ?? '').split(':').filter((directory) => directory.startsWith('/'))
  return [...new Set(directories.map(realPathOf))]
}
