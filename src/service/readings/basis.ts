/** What laws are judged with besides the documents, as of a moment: it is recorded with the decision. */
import { hostname } from 'node:os'
import type { EvaluationBasis } from '../../contracts/index.ts'
import { hourUse, RECENT_MS, type StandingFold } from '../../gate/index.ts'
import type { GateContext } from '../surface/context.ts'
import { realPathOf } from './host-facts.ts'

export function basisOf(
  { caller, userDirectory }: GateContext,
  seen: EvaluationBasis['facts_seen'],
  actionId: string,
  intent: string | null,
  standing: StandingFold,
  nowMs: number,
): EvaluationBasis {
  const { id: actor } = caller.principal
  return {
    actor,
    machine: hostname(),
    home: realPathOf(userDirectory),
    recent_rollbacks: standing.rollbacksOf(actor, nowMs, RECENT_MS),
    overrides: [...standing.overridesInForce(actionId, intent ?? '', nowMs)],
    hour_use: hourUse(standing, actor, nowMs),
    facts_seen: seen,
  }
}
