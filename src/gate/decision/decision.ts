/**
 * The decision (G-8, G-17): a pure function of the proposal, of what the host wrote down in the
 * evaluation, and of the result. Same inputs, same decision.
 *
 * INVARIANT (strict order): reasons are gathered in the order of G-8 and none is skipped; `code` is
 *   the first of those that carry the decision, `codes` are all.
 * INVARIANT (nothing argues for promotion): every reason hinders or reports. Without a result there
 *   is nothing to promote, so the absence of reasons is then no permission.
 */
import type {
  Decision,
  Evaluation,
  EvaluationBasis,
  Proposal,
  SandboxResult,
} from '../../contracts/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import type { LawChange, LawValues } from '../../policy/index.ts'
import { riskAfterRun } from '../admission/risk.ts'
import type { Comparison } from '../comparison/comparison.ts'
import type { Judgement } from '../evidence/findings.ts'
import { type Change, listsOf } from '../evidence/manifest.ts'
import { displayOfRaw } from '../paths/raw-path.ts'
import { earlyReasons, isIdle, lateReasons, type Reason, rehearsalReasons } from './reasons.ts'

/** Returns the decision that needs no rehearsal: a BLOCK, or null to go on. */
export function decideEarly(judgement: Judgement): Decision | null {
  const reasons = earlyReasons(judgement)
  return reasons.some(({ weight }) => weight === 'block') ? write(judgement, reasons) : null
}

/** Returns the decision after the rehearsal and all laws. */
export function decide(judgement: Judgement): Decision {
  return write(judgement, reasonsOf(judgement))
}

/** Returns every reason that blocks, asks or reports, in the order of G-8. */
export function reasonsOf(judgement: Judgement): readonly Reason[] {
  const early = earlyReasons(judgement)
  if (early.some(({ weight }) => weight === 'block')) return early
  const rehearsal = [...early, ...rehearsalReasons(judgement)]
  // Laws that read the result, and questions to a human, need a result.
  if (judgement.result === null) return unlessBlocked(rehearsal)
  const reasons = [...rehearsal, ...lateReasons(judgement)]
  return isIdle(judgement) ? reasons.filter(isNoQuestion) : reasons
}

function write({ evaluation, decidedAt }: Judgement, reasons: readonly Reason[]): Decision {
  const carrying = carriers(reasons)
  const [first] = carrying
  const decision = first === undefined ? 'PROMOTE' : first.weight === 'block' ? 'BLOCK' : 'CONFIRM'
  const codes = [...new Set(reasons.map(({ code }) => code))]
  // Of several laws that ask, the one that asks most humans counts.
  const approvals = Math.max(1, ...carrying.map((reason) => reason.approvals ?? 1))
  const tiers = carrying.flatMap(({ tier }) => (tier === undefined ? [] : [tier]))
  const lawRefs = new Set([
    ...evaluation.law_outcomes.map(({ policy_id }) => policy_id),
    ...reasons.flatMap(({ law }) => (law === undefined ? [] : [law])),
  ])
  return {
    action_id: evaluation.action_id,
    proposal_digest: evaluation.proposal_digest,
    ...(evaluation.result_digest === undefined ? {} : { result_digest: evaluation.result_digest }),
    decision,
    code: first?.code ?? 'promote.ok',
    codes: decision === 'PROMOTE' ? ['promote.ok', ...codes] : codes,
    ...(tiers.length === 0 ? {} : { tier: Math.min(...tiers) }),
    permanent: decision === 'BLOCK' && reasons.some(({ permanent }) => permanent === true),
    law_refs: [...lawRefs],
    decided_at: decidedAt,
    ...(decision === 'CONFIRM' && approvals > 1 ? { approvals } : {}),
  }
}

function isNoQuestion({ weight }: Reason): boolean {
  return weight !== 'confirm'
}

/** The reasons that carry the decision: all that block, else all that ask. */
function carriers(reasons: readonly Reason[]): readonly Reason[] {
  const blocking = reasons.filter(({ weight }) => weight === 'block')
  return blocking.length > 0 ? blocking : reasons.filter(({ weight }) => weight === 'confirm')
}

/** Fails closed: adds a block when the result is missing and no reason explains why. */
function unlessBlocked(reasons: readonly Reason[]): readonly Reason[] {
  if (reasons.some(({ weight }) => weight === 'block')) return reasons
  return [...reasons, { code: 'result.sandbox_error', weight: 'block' }]
}

/** What a rehearsal did, and what became of it. */
export interface RehearsalEffects {
  readonly result: SandboxResult
  readonly changes: Pick<Comparison, 'promoted' | 'discarded'>
}

/**
 * What laws are judged with, put together from what is recorded: the same values when a proposal is
 * judged, when its decision is computed again, and when other laws are tried on it. Laws are judged
 * as of the admission: a slow rehearsal changes neither the time they see nor what is in force.
 */
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
