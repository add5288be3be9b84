/**
 * Which of several compensations of one step counts.
 *
 * INVARIANT (undone once): a step has one compensation that waits, was approved or was carried out. Of
 *   two that were proposed at the same time the later one ends (`ask`); under the workspace's lock none
 *   is carried out after another (`promote`).
 */

import { faultError, showName } from '../../base/index.ts'
import type { Evaluation } from '../../contracts/index.ts'
import { compensationInForce, type StandingFold } from '../../gate/index.ts'

interface Undoer {
  readonly actionId: string
  readonly evaluation: Pick<Evaluation, 'compensates'>
}

/** Returns the compensation of the same step that came before this one; null for the first. */
export function earlierCompensation(standing: StandingFold, undoer: Undoer): string | null {
  const { compensates } = undoer.evaluation
  const first = compensates === undefined ? null : compensationInForce(standing, compensates)
  return first === undoer.actionId.toLowerCase() ? null : first
}

/** Under the lock: what was sent is compensated once, however many compensations were approved. */
export function refuseSecondCompensation(standing: StandingFold, undoer: Undoer): void {
  const first = earlierCompensation(standing, undoer)
  if (first === null || standing.promotion(first) === null) return
  const message = `${showName(first)} undid the same before, so this was not sent`
  throw faultError('compensation.used', first, message)
}
