/**
 * Other laws tried on a decision of the past: what would have been decided had they been in force,
 * with all else as it was. Nothing is run again, so an act that the laws of its day refused before it
 * was rehearsed cannot be judged by laws that would let it be.
 */
import type { Decision, Evaluation, EvaluationBasis, LawOutcome } from '../../contracts/index.ts'
import { judgeRecorded, type LawSet } from '../../policy/index.ts'
import { admissionRules, admitProposal } from '../admission/admission.ts'
import type { Comparison } from '../comparison/comparison.ts'
import type { GateLists } from '../data/lists.ts'
import { isComparedCode } from '../evidence/findings.ts'
import { decide, decideEarly, lawsSetAside, lawValues } from './decision.ts'
import { compareAgain, type RecordedDecision } from './replay.ts'

export type PastDecision = Omit<RecordedDecision, 'grounds'>

/** The laws on trial, with the lists as they would make them. */
export interface LawsOnTrial {
  readonly laws: LawSet
  readonly lists: GateLists
}

export type Trial =
  | {
      readonly kind: 'judged'
      readonly from: Decision['decision']
      readonly to: Decision['decision']
      /** How many humans had to say yes, and would have to. */
      readonly approvals: { readonly from: number; readonly to: number }
      /** The law that makes the difference; null without one, or when settings or lists do. */
      readonly policyId: string | null
      /** Laws that would have been broken, set aside or not. */
      readonly broken: readonly string[]
    }
  | { readonly kind: 'unjudgeable'; readonly reason: string }

export function tryLaws(record: PastDecision, trial: LawsOnTrial, basis: EvaluationBasis): Trial {
  const { decision, evaluation } = record
  const outcomes: LawOutcome[] = []
  const decided = decideUnder(record, trial, basis, outcomes)
  if (typeof decided === 'string') return { kind: 'unjudgeable', reason: decided }
  const from = decision.decision
  const to = decided.decision
  const approvals = { from: decision.approvals ?? 1, to: decided.approvals ?? 1 }
  return {
    kind: 'judged',
    from,
    to,
    approvals,
    policyId:
      from === to
        ? differingApprovals(approvals, evaluation.law_outcomes, outcomes)
        : differing(from, to, evaluation.law_outcomes, outcomes),
    broken: outcomes.map(({ policy_id }) => policy_id),
  }
}

/** The decision, with what laws said of it; or why there is none. */
function decideUnder(
  record: PastDecision,
  { laws, lists }: LawsOnTrial,
  basis: EvaluationBasis,
  outcomes: LawOutcome[],
): Decision | string {
  const { proposal, result, decision } = record
  const decidedAt = decision.decided_at
  const evaluation = admitted(record, laws, lists)
  if (proposal === null) {
    return decide({ proposal, evaluation, result: null, lists, decidedAt })
  }
  const early = { proposal, evaluation, result: null, lists, decidedAt }
  const setAside = lawsSetAside({ basis })
  const refused = decideEarly(early)
  if (refused !== null) return refused
  if (evaluation.preconditions === null) {
    return 'it was refused before its preconditions were looked at'
  }
  outcomes.push(
    ...judgeRecorded(laws, 'before', lawValues(proposal, evaluation, basis, null), setAside),
  )
  evaluation.law_outcomes = outcomes
  const blocked = decideEarly(early)
  if (blocked !== null) return blocked
  if (result === null) {
    return evaluation.obstacles.length > 0
      ? decide(early)
      : 'it was refused before it was rehearsed'
  }
  const comparison = compareAgain({ ...record, evaluation, lists })
  if (comparison === null) return 'it was rehearsed, and what it did was not compared'
  const seen = { ...result, ...comparedParts(result, comparison) }
  const values = lawValues(proposal, evaluation, basis, { result: seen, changes: comparison })
  outcomes.push(...judgeRecorded(laws, 'after', values, setAside))
  return decide({ ...early, result: seen })
}

/** What was found out at admission, with the ceilings of the laws on trial and nothing said yet. */
function admitted(
  { proposal, evaluation }: PastDecision,
  laws: LawSet,
  lists: GateLists,
): Evaluation {
  const host = { ...evaluation.host, ceilings: laws.settings.ceilings }
  const risk =
    proposal === null
      ? evaluation.risk
      : admitProposal(proposal, host, lists, admissionRules(evaluation)).risk
  return { ...evaluation, host, risk, law_outcomes: [] }
}

type Result = NonNullable<PastDecision['result']>

/** A result with another comparison: findings of the scan stay, those of the comparison do not. */
function comparedParts(
  { findings, diff, compliance }: Result,
  comparison: Comparison,
): Pick<Result, 'findings' | 'diff' | 'compliance'> {
  return {
    findings: [...comparison.findings, ...findings.filter(({ code }) => !isComparedCode(code))],
    diff: { ...diff, counts: comparison.counts, bytes: comparison.bytes },
    compliance: {
      ...compliance,
      effects_declared: comparison.effectsDeclared,
      within_scope: comparison.withinScope,
    },
  }
}

const STRICTNESS: Readonly<Record<Decision['decision'], number>> = {
  PROMOTE: 0,
  CONFIRM: 1,
  BLOCK: 2,
}

/** Of a stricter decision the law that is new in it, of a milder one the law that is gone. */
function differing(
  from: Decision['decision'],
  to: Decision['decision'],
  before: readonly LawOutcome[],
  now: readonly LawOutcome[],
): string | null {
  if (from === to) return null
  const isStricter = STRICTNESS[to] > STRICTNESS[from]
  const [spoken, other] = isStricter ? [now, before] : [before, now]
  const weight = STRICTNESS[isStricter ? to : from]
  const isElsewhere = (one: LawOutcome): boolean =>
    other.some((each) => each.policy_id === one.policy_id && weightOf(each) === weightOf(one))
  const found = spoken.find((one) => weightOf(one) === weight && !isElsewhere(one))
  return found?.policy_id ?? null
}

/** Of more humans the law that wants them now, of fewer the one that wanted them then. */
function differingApprovals(
  { from, to }: { readonly from: number; readonly to: number },
  before: readonly LawOutcome[],
  now: readonly LawOutcome[],
): string | null {
  if (from === to) return null
  const [spoken, wanted] = to > from ? [now, to] : [before, from]
  return spoken.find(({ approvals }) => approvals === wanted)?.policy_id ?? null
}

/** How strict an outcome alone makes a decision. */
function weightOf({ overridden, tier, state, action }: LawOutcome): number {
  if (overridden && tier > 0) return 0
  if (state === 'error') return tier < 2 ? 2 : 1
  if (action === 'alert') return 0
  return action === 'block' && tier < 2 ? 2 : 1
}
