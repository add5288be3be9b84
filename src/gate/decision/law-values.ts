/**
 * What laws are judged with, put together from what is recorded: the same values when a proposal is
 * judged, when its decision is computed again, and when other laws are tried on it. Laws are judged
 * as of the admission: a slow rehearsal changes neither the time they see nor what is in force.
 */
import type { Evaluation, EvaluationBasis, Proposal, SandboxResult } from '../../contracts/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { LawChange, LawValues } from '../../policy/index.ts'
import { riskAfterRun } from '../admission/risk.ts'
import type { Comparison } from '../comparison/comparison.ts'
import { type Change, listsOf } from '../evidence/change.ts'
import { displayOfRaw } from '../paths/raw-path.ts'

/** What a rehearsal did, and what became of it. */
export interface RehearsalEffects {
  readonly result: SandboxResult
  readonly changes: Pick<Comparison, 'promoted' | 'discarded'>
}

export function lawValues(
  proposal: Proposal,
  evaluation: Pick<Evaluation, 'host' | 'risk' | 'actor_kind'>,
  basis: Pick<EvaluationBasis, 'actor' | 'machine' | 'home' | 'recent_rollbacks'>,
  rehearsed: RehearsalEffects | null,
): LawValues {
  const { host, risk, actor_kind } = evaluation
  return {
    proposal,
    risk:
      rehearsed === null ? risk.effective : riskAfterRun(proposal, host, risk, rehearsed.result),
    result: rehearsed?.result ?? null,
    changes: rehearsed === null ? null : lawChanges(rehearsed.changes),
    context: {
      now: occurredAtText(host.now_ms),
      actor: basis.actor,
      actor_kind,
      workspace: host.workspace,
      host: basis.machine,
      recent_rollbacks: basis.recent_rollbacks,
    },
    home: basis.home,
  }
}

/** The laws that a human set aside for this proposal. */
export function lawsSetAside({ basis }: Pick<Evaluation, 'basis'>): ReadonlySet<string> {
  return new Set(basis?.overrides.map(({ policy_id }) => policy_id))
}

/** The overrides without which a law would speak about this act. */
export function overridesUsed({
  basis,
  law_outcomes,
}: Pick<Evaluation, 'basis' | 'law_outcomes'>): NonNullable<Evaluation['basis']>['overrides'] {
  const silent = new Set(
    law_outcomes.flatMap(({ overridden, policy_id }) => (overridden ? [policy_id] : [])),
  )
  return (basis?.overrides ?? []).filter(
    ({ policy_id }, index, all) =>
      silent.has(policy_id) && all.findIndex((one) => one.policy_id === policy_id) === index,
  )
}

function lawChanges({ promoted, discarded }: RehearsalEffects['changes']): readonly LawChange[] {
  const changes = (list: readonly Change[], isDiscarded: boolean): readonly LawChange[] =>
    list.map((change) => ({
      path: displayOfRaw(change.path),
      lists: listsOf(change),
      discarded: isDiscarded,
    }))
  return [...changes(promoted, false), ...changes(discarded, true)]
}
