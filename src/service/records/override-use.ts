/**
 * An override counts for so many acts, also when two acts ask at the same moment: an act that uses one
 * is recorded only if the stream still ends at the facts where the override was found in force. The
 * second of two acts finds it used up.
 */

import type { Evaluation } from '../../contracts/index.ts'
import type { StandingFold } from '../../gate/index.ts'
import { retryWhileMoved } from '../../store/index.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'

export function usesOverride({ law_outcomes }: Evaluation): boolean {
  return law_outcomes.some(({ overridden }) => overridden)
}

/** False when an override that the act rests on is no longer in force; nothing is recorded then. */
export function recordUse(
  view: LedgerView,
  records: readonly GateRecord[],
  evaluation: Evaluation,
): Promise<boolean> {
  return recordWhile(view, records, (standing) => isStillInForce(standing, evaluation))
}

function isStillInForce(standing: StandingFold, evaluation: Evaluation): boolean {
  const { action_id, intent = '', host, basis, law_outcomes } = evaluation
  const inForce = standing.overridesInForce(action_id, intent, host.now_ms)
  return law_outcomes
    .filter(({ overridden }) => overridden)
    .every((law) => {
      const used = basis?.overrides.find(({ policy_id }) => policy_id === law.policy_id)
      return inForce.some(({ override_id }) => override_id === used?.override_id)
    })
}

/**
 * Records only if the stream still ends at the facts where a condition was found to hold. The second of
 * two writers finds the stream longer, checks again, and finds that the condition no longer holds.
 *
 * False when it does not hold; nothing is recorded then.
 */
export async function recordWhile(
  view: LedgerView,
  records: readonly GateRecord[],
  holds: (standing: StandingFold) => boolean,
): Promise<boolean> {
  return retryWhileMoved(async () => {
    if (!holds(await view.standing())) return false
    await view.recordAt(records, view.seen.stream)
    return true
  })
}
