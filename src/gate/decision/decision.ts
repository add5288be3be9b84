/**
 * The decision (G-8, G-17): a pure function of the proposal, of what the host wrote down in the
 * evaluation, and of the result. Same inputs, same decision.
 *
 * INVARIANT (strict order): reasons are gathered in the order of G-8 and none is skipped; `code` is
 *   the first of those that carry the decision, `codes` are all.
 * INVARIANT (nothing argues for promotion): every reason hinders or reports. Without a result there
 *   is nothing to promote, so the absence of reasons is then no permission.
 */
import type { Decision } from '../../contracts/index.ts'
import type { Judgement } from '../evidence/judgement.ts'
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
