/**
 * Why an act was decided as it was: every reason with its words, every law that was broken with the
 * values that broke it, who set it aside or silenced it, and what a human can do now. Put together
 * from the record and computed again where the record only names the outcome.
 */
import { CODES, isCode } from '../../base/index.ts'
import type {
  Confirmation,
  Decision,
  LawOutcome,
  NetworkConnection,
  Override,
} from '../../contracts/index.ts'
import {
  type Approvals,
  compareAgain,
  lawsSetAside,
  lawValues,
  type PastDecision,
  type Reason,
  reachedLaws,
  reasonsOf,
} from '../../gate/index.ts'
import { type OpenedFact, principalText } from '../../ledger/index.ts'
import {
  BUILT_IN_LAWS,
  type LawBreach as JudgedLaw,
  judgeLawsInFull,
  type Law,
  type LawJudgement,
  type LawSet,
} from '../../policy/index.ts'
import { refusalText } from '../exec/network-notices.ts'
import { shownApprovals } from '../history/promotion-replay.ts'

interface ExplainedReason {
  readonly code: string
  readonly says: string
  /** Ends it, asks a human, or only reports. */
  readonly weight: Reason['weight']
  readonly policy_id?: string
  readonly tier?: number
}

export interface ExplainedLaw {
  readonly policy_id: string
  readonly tier: number
  readonly action: string
  readonly state: 'broken' | 'error' | 'silenced'
  /** How many different humans it wants to say yes; absent where one is enough. */
  readonly approvals?: number
  /** What the law says for people; absent where it says nothing, or is no longer kept. */
  readonly text?: string
  /** The expression of the law; null when it is no longer kept. */
  readonly policy_expr: string | null
  readonly built_in: boolean
  /** What was read and made it so; null when it is no longer kept. */
  readonly deciding: readonly DecidingValue[] | null
  /** Why it could not be evaluated. */
  readonly errors: readonly string[]
  readonly overridden_by: ExplainedOverride | null
  readonly softened_by: string | null
  readonly silenced_by: string | null
}

export interface DecidingValue {
  readonly path: string
  readonly value: unknown
  readonly witness?: string
}

interface ExplainedOverride {
  readonly override_id: string
  readonly by: string
  readonly reason: string
  readonly given_at: string
  readonly expires_at: string | null
  readonly uses: number
}

interface ExplainedConflict {
  readonly winner: string
  readonly losers: readonly string[]
  readonly mode: string
}

export interface Explanation {
  readonly action_id: string
  readonly stream: string
  readonly decision: Decision['decision']
  readonly code: string
  readonly permanent: boolean
  readonly decided_at: string
  /** When a cooldown ends; absent without one. */
  readonly cooldown_until?: string
  readonly reasons: readonly ExplainedReason[]
  readonly laws: readonly ExplainedLaw[]
  readonly conflicts: readonly ExplainedConflict[]
  /** What is no longer kept, and so is missing here; null if everything is kept. */
  readonly missing: string | null
  /** Where several humans have to approve. */
  readonly approvals?: ReturnType<typeof shownApprovals>
  readonly answered: {
    readonly answer: Confirmation['answer']
    readonly by: string
    readonly assurance: string
    readonly at: string
  } | null
}

/** Everything about one decision that was found. */
export interface Found {
  readonly decision: Decision
  readonly stream: string
  readonly outcomes: readonly LawOutcome[]
  /** Null when something that it rests on is gone. */
  readonly record: PastDecision | null
  readonly laws: LawSet | null
  readonly missing: string | null
  readonly overrides: readonly { readonly override: Override; readonly fact: OpenedFact }[]
  readonly answer: OpenedFact | null
  /** Null if one human is enough, or no question was asked. */
  readonly approvals: Approvals | null
}

export function explain(found: Found): Explanation {
  const { decision, stream, missing } = found
  const judgements = judgedAgain(found)
  return {
    action_id: decision.action_id,
    stream,
    decision: decision.decision,
    code: decision.code,
    permanent: decision.permanent,
    decided_at: decision.decided_at,
    ...cooldownOf(found),
    reasons: explainReasons(found),
    laws: explainLaws(found, judgements),
    conflicts: conflictsOf(judgements),
    missing,
    ...(found.approvals === null ? {} : { approvals: shownApprovals(found.approvals) }),
    answered: answerOf(found.answer),
  }
}

function cooldownOf({ record }: Found): Pick<Explanation, 'cooldown_until'> {
  const untilMs = record?.evaluation.standing.cooldown_until_ms ?? null
  return untilMs === null ? {} : { cooldown_until: new Date(untilMs).toISOString() }
}

function explainReasons({ decision, record }: Found): readonly ExplainedReason[] {
  if (record === null) return decision.codes.map((code) => worded({ code, weight: 'note' }))
  const { proposal, evaluation, result, lists } = record
  const judgement = { proposal, evaluation, result, lists, decidedAt: decision.decided_at }
  const seen = new Set<string>()
  return reasonsOf(judgement)
    .filter(({ code, law = '' }) => {
      const key = `${code}\0${law}`
      if (seen.has(key)) return false
      seen.add(key)
      return true
    })
    .map((reason) => withHosts(worded(reason), result))
}

/** Names the hosts of refused requests, and why each was refused. */
function withHosts(
  reason: ExplainedReason,
  result: { readonly side_effects: { readonly network: readonly NetworkConnection[] } } | null,
): ExplainedReason {
  if (reason.code !== 'effect.irreversible' && reason.code !== 'effect.undeclared') return reason
  const refused = (result?.side_effects.network ?? []).filter(
    ({ outcome }) => outcome === 'refused',
  )
  const texts = [...new Set(refused.map((connection) => refusalText(connection)))]
  return texts.length === 0 ? reason : { ...reason, says: `${reason.says}: ${texts.join('; ')}` }
}

function worded({ code, weight, tier, law }: Reason): ExplainedReason {
  const says = isCode(code)
    ? CODES[code].says
    : law === undefined
      ? 'a law spoke'
      : weight === 'note'
        ? 'this law is broken'
        : 'this law is broken, and forbids it'
  return {
    code,
    says,
    weight,
    ...(law === undefined ? {} : { policy_id: law }),
    ...(tier === undefined ? {} : { tier }),
  }
}

/** Laws asked once more, with the values of then; empty when they were not asked, or cannot be. */
function judgedAgain({ record, laws }: Found): readonly LawJudgement[] {
  if (record === null || laws === null || record.proposal === null) return []
  const { proposal, evaluation, result } = record
  const { basis } = evaluation
  if (basis === undefined || !reachedLaws(record)) return []
  const setAside = lawsSetAside(evaluation)
  const before = lawValues(proposal, evaluation, basis, null)
  const judged = [judgeLawsInFull(laws, 'before', before, setAside)]
  const comparison = result === null ? null : compareAgain(record)
  if (result === null || comparison === null) return judged
  const after = lawValues(proposal, evaluation, basis, { result, changes: comparison })
  return [...judged, judgeLawsInFull(laws, 'after', after, setAside)]
}

function explainLaws(found: Found, judgements: readonly LawJudgement[]): readonly ExplainedLaw[] {
  const judged = new Map(
    judgements.flatMap(({ outcomes }) => outcomes.map((one) => [one.policyId, one] as const)),
  )
  const broken = found.outcomes.map((outcome) =>
    explainLaw(found, outcome, judged.get(outcome.policy_id) ?? null),
  )
  const silenced = judgements.flatMap((judgement) =>
    judgement.silenced.map(({ policyId, by, deciding }): ExplainedLaw => {
      const law = found.laws?.laws.find((one) => one.policyId === policyId)
      return {
        policy_id: policyId,
        tier: law?.tier ?? 0,
        action: law?.action ?? 'block',
        state: 'silenced',
        ...textOf(law),
        policy_expr: law?.expression.source ?? null,
        built_in: law?.isBuiltIn ?? false,
        deciding,
        errors: [],
        overridden_by: null,
        softened_by: null,
        silenced_by: by,
      }
    }),
  )
  return [...broken, ...silenced]
}

function textOf(law: Law | undefined): Pick<ExplainedLaw, 'text'> {
  const text = law?.text ?? null
  return text === null ? {} : { text }
}

const BUILT_IN: ReadonlySet<string> = new Set(BUILT_IN_LAWS.map(({ policy_id }) => policy_id))

function explainLaw(found: Found, outcome: LawOutcome, judged: JudgedLaw | null): ExplainedLaw {
  const { policy_id, tier, action, state, overridden, approvals } = outcome
  const law = found.laws?.laws.find((one) => one.policyId === policy_id)
  return {
    policy_id,
    tier,
    action,
    state,
    ...(approvals === undefined ? {} : { approvals }),
    ...textOf(law),
    policy_expr: law?.expression.source ?? null,
    built_in: law?.isBuiltIn ?? BUILT_IN.has(policy_id),
    deciding: judged?.deciding ?? null,
    errors: judged?.reasons.map(({ message }) => message) ?? [],
    overridden_by: overridden ? overrideOf(found, policy_id) : null,
    softened_by: judged?.softenedBy ?? null,
    silenced_by: null,
  }
}

/** The first in force is the one that is used. */
function overrideOf({ overrides }: Found, policyId: string): ExplainedOverride | null {
  const used = overrides.find(({ override }) => override.policy_id === policyId)
  if (used === undefined) return null
  const { override, fact } = used
  return {
    override_id: override.override_id,
    by: principalText(fact.principal),
    reason: override.reason,
    given_at: override.given_at,
    expires_at: override.expires_at ?? null,
    uses: override.uses,
  }
}

function conflictsOf(judgements: readonly LawJudgement[]): readonly ExplainedConflict[] {
  const found = new Map<string, { winner: string; losers: string[]; mode: string }>()
  for (const { outcomes } of judgements) {
    for (const { winner, loser, mode } of outcomes.flatMap(({ wins }) => wins)) {
      const known = found.get(winner) ?? { winner, losers: [], mode }
      if (!known.losers.includes(loser)) known.losers.push(loser)
      found.set(winner, known)
    }
  }
  return [...found.values()]
}

function answerOf(fact: OpenedFact | null): Explanation['answered'] {
  if (fact === null) return null
  // `explainAction` hands a confirmation over.
  const { answer, assurance, answered_at: at } = fact.payload as Confirmation
  return { answer, by: principalText(fact.principal), assurance, at }
}
