/**
 * Judges a proposal by the laws (G-8). Before the rehearsal: laws of tiers 0 and 1 that read no
 * result. After it: those that do, and tier 2. Laws that hold are not listed.
 *
 * INVARIANT (an error is a breach): a law that cannot be evaluated counts as broken, `'error'`.
 * INVARIANT (every part is judged): a composite and each of its children stand before the laws; a
 * law about the operation is judged at the children, which have one.
 */
import { isSecretPlace } from '../base/index.ts'
import type {
  LawAction,
  LawTier,
  Proposal,
  LawOutcome as RecordedOutcome,
  RiskLevel,
  SandboxResult,
} from '../contracts/index.ts'
import {
  type ExpressionResult,
  evaluate,
  type HostCalls,
  type Read,
  type UndeterminedReason,
} from '../expression/index.ts'
import { type Conflict, settleConflicts } from './conflict.ts'
import { effectCalls, type LawChange } from './effects.ts'
import { type LawContext, shownResult } from './environments.ts'
import { isEarly, type Law, type LawSet } from './law.ts'
import { candidates } from './law-index.ts'
import { bareLaws } from './load-laws.ts'

export type LawPhase = 'before' | 'after'

export interface LawValues {
  readonly proposal: Proposal
  /** The level that counts, the higher of claim and floor: what laws read as `risk_level`. */
  readonly risk: RiskLevel
  /** Null before the rehearsal. */
  readonly result: SandboxResult | null
  /** Everything that the rehearsal changed, not the cut lists of the result; null before it. */
  readonly changes: readonly LawChange[] | null
  readonly context: LawContext
  /** Real path of the actor's home, for globs that begin with `~/`. */
  readonly home: string
}

export interface LawBreach {
  readonly policyId: string
  readonly tier: LawTier
  /** What is asked for: `alert` where a softer override left only that. */
  readonly action: LawAction
  readonly broken: true | 'error'
  readonly readsResult: boolean
  /** How many different humans have to say yes where it asks. */
  readonly approvals: number
  /** A human set the law aside for this proposal; never at tier 0. */
  readonly overridden: boolean
  /** What was read and made it so; long values are cut and secrets are not shown. */
  readonly deciding: readonly Read[]
  /** Why it could not be evaluated; empty when it could. */
  readonly reasons: readonly UndeterminedReason[]
  /** The part of a composite that breaks the law; the proposal itself otherwise. */
  readonly actionId: string
  /** The law that left this one as an alert; null when none did. */
  readonly softenedBy: string | null
  /** Laws that this one was in conflict with, and won. */
  readonly wins: readonly Conflict[]
}

/**
 * The laws that are broken, in the order of G-8: by tier, then by priority. `overrides` holds the
 * ids of the laws that a human set aside for this proposal at this time.
 */
export function judgeLaws(
  laws: Pick<LawSet, 'laws'>,
  phase: LawPhase,
  values: LawValues,
  overrides: ReadonlySet<string>,
): readonly LawBreach[] {
  return judgeLawsInFull(laws, phase, values, overrides).outcomes
}

/** A law that was broken, and that another one silenced. */
interface SilencedLaw {
  readonly policyId: string
  readonly by: string
  readonly deciding: readonly Read[]
}

export interface LawJudgement {
  readonly outcomes: readonly LawBreach[]
  readonly silenced: readonly SilencedLaw[]
}

/** Judges as `judgeLaws` does, and also returns the laws that others silenced. */
export function judgeLawsInFull(
  { laws }: Pick<LawSet, 'laws'>,
  phase: LawPhase,
  values: LawValues,
  overrides: ReadonlySet<string>,
): LawJudgement {
  const broken = brokenLaws(laws, phase, values)
  const settlement = settleConflicts(
    broken.map(({ law, evaluation }) => ({
      policy: law,
      // A law that a human set aside silences no other.
      isCertain: evaluation.value === true && !isSetAside(law, overrides),
    })),
  )
  const judged = broken.filter(({ law }) => isEarly(law) === (phase === 'before'))
  const outcomes = judged
    .filter(({ law }) => !settlement.silenced.has(law.policyId))
    .map(({ law, evaluation, actionId }) => {
      const softenedBy = settlement.softened.get(law.policyId) ?? null
      return {
        policyId: law.policyId,
        tier: law.tier,
        action: softenedBy === null ? law.action : ('alert' as const),
        broken: evaluation.value === true ? (true as const) : ('error' as const),
        readsResult: law.readsResult,
        approvals: law.approvals,
        overridden: isSetAside(law, overrides),
        deciding: evaluation.deciding.map(shortened),
        reasons: evaluation.reasons,
        actionId,
        softenedBy,
        wins: settlement.conflicts.filter(({ winner }) => winner === law.policyId),
      }
    })
    .sort(inOrder(laws))
  if (settlement.silenced.size === 0) return { outcomes, silenced: NONE }
  const silenced = judged.flatMap(({ law: { policyId }, evaluation }) => {
    const by = settlement.silenced.get(policyId)
    return by === undefined ? [] : [{ policyId, by, deciding: evaluation.deciding.map(shortened) }]
  })
  return { outcomes, silenced }
}

const NONE: readonly never[] = []

function isSetAside({ tier, policyId }: Law, overrides: ReadonlySet<string>): boolean {
  return tier === 1 && overrides.has(policyId)
}

interface BrokenLaw {
  readonly law: Law
  readonly evaluation: ExpressionResult
  readonly actionId: string
}

/** After the rehearsal the early laws are looked at again: they may override later ones. */
function brokenLaws(
  laws: readonly Law[],
  phase: LawPhase,
  values: LawValues,
): readonly BrokenLaw[] {
  const calls = callsOf(values)
  const result = values.result === null ? {} : { result: shownResult(values.result) }
  const found = new Map<Law, BrokenLaw>()
  for (const { descriptor, operation } of partsOf(values.proposal)) {
    const judgedAs = { ...descriptor, risk_level: values.risk }
    const environment = { descriptor: judgedAs, context: values.context, ...result }
    const seen = operation === undefined ? environment : { ...environment, operation }
    for (const law of candidates(laws, phase === 'before', seen)) {
      if (found.has(law) && found.get(law)?.evaluation.value === true) continue
      if (operation === undefined && law.expression.names.has('operation')) continue
      const evaluation = evaluate(law.expression, seen, calls)
      if (evaluation.value === false) continue
      // A part that certainly breaks the law tells more than one that cannot be evaluated.
      if (found.has(law) && evaluation.value !== true) continue
      found.set(law, { law, evaluation, actionId: descriptor.action_id })
    }
  }
  return [...found.values()]
}

function callsOf({ changes, home, context }: LawValues): HostCalls {
  return changes === null ? {} : effectCalls(changes, { home, workspace: context.workspace })
}

/** The proposal and everything below it; how deep children nest, the contract bounds. */
function partsOf(proposal: Proposal): readonly Proposal[] {
  return [proposal, ...(proposal.children ?? []).flatMap(partsOf)]
}

function inOrder(laws: readonly Law[]): (one: LawBreach, other: LawBreach) => number {
  const priorities = new Map(laws.map(({ policyId, priority }) => [policyId, priority]))
  const rank = ({ policyId }: LawBreach): number => priorities.get(policyId) ?? 0
  return (one, other) =>
    one.tier - other.tier || rank(other) - rank(one) || (one.policyId < other.policyId ? -1 : 1)
}

/** The outcome as `evaluation_v1` records it. */
function recordOutcome(outcome: LawBreach): RecordedOutcome {
  return {
    policy_id: outcome.policyId,
    tier: outcome.tier,
    action: outcome.action,
    state: outcome.broken === true ? 'broken' : 'error',
    reads_result: outcome.readsResult,
    overridden: outcome.overridden,
    ...(outcome.approvals > 1 ? { approvals: outcome.approvals } : {}),
  }
}

/** The file was accepted and still cannot be judged by: everything is refused until it is mended. */
const UNREADABLE: RecordedOutcome = {
  policy_id: 'LAWS_FILE',
  tier: 0,
  action: 'block',
  state: 'error',
  reads_result: false,
  overridden: false,
}

/** What is recorded of a judgement; null for the laws of a file that cannot be read. */
export function judgeRecorded(
  laws: LawSet | null,
  phase: LawPhase,
  values: LawValues,
  overrides: ReadonlySet<string>,
): readonly RecordedOutcome[] {
  if (laws === null && phase === 'before') return [UNREADABLE]
  return judgeLaws(laws ?? bareLaws(), phase, values, overrides).map(recordOutcome)
}

const SHOWN_TEXT_MAX = 200

/** Deciding values go to people and to the ledger: lists by their size, texts cut, no secrets. */
function shortened(read: Read): Read {
  const { path, value } = read
  if (isSecretRead(path)) return { ...read, value: 'not shown' }
  if (typeof value === 'string') {
    return { ...read, value: value.slice(0, SHOWN_TEXT_MAX).toWellFormed() }
  }
  if (typeof value === 'bigint') return { ...read, value: String(value) }
  if (typeof value !== 'object' || value === null) return read
  const size = Array.isArray(value) ? value.length : Object.keys(value).length
  return { ...read, value: `${size} ${Array.isArray(value) ? 'items' : 'fields'}` }
}

/** Operations hold environments, headers and contents; nothing else that a law reads does. */
function isSecretRead(path: string): boolean {
  return path.startsWith('operation.') && isSecretPlace(`/${path.replaceAll(/[.[\]]+/g, '/')}`)
}
