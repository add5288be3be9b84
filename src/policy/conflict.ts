/**
 * Settles conflicts between policies that are triggered together (F-3): the higher priority wins, in
 * the winner's mode. Flows and the laws of the gate share this model.
 *
 * INVARIANT (only the certain override): a policy that is triggered because it could not be
 * evaluated silences no other, and neither does an overridden policy.
 */
import type { OVERRIDE_MODES, VIOLATION_ACTIONS } from '../contracts/index.ts'
import {
  type Expression,
  evaluate,
  type HostCalls,
  type Read,
  type UndeterminedReason,
} from '../expression/index.ts'

type OverrideMode = (typeof OVERRIDE_MODES)[number]

/** What conflicts are settled by. */
export interface Ranked {
  readonly policyId: string
  /** The higher wins. */
  readonly priority: number
  /** Named on one side is enough. */
  readonly conflictsWith: readonly string[]
  readonly overrideMode: OverrideMode
}

export interface Conflict {
  readonly winner: string
  readonly loser: string
  /** Of the winner: silenced, left as an alert, or both stand. */
  readonly mode: OverrideMode
}

interface Settlement {
  /** In the order of winning. */
  readonly conflicts: readonly Conflict[]
  /** By the id of the loser: who silenced it. */
  readonly silenced: ReadonlyMap<string, string>
  /** By the id of the loser: who left it as an alert. */
  readonly softened: ReadonlyMap<string, string>
}

/** A policy that is triggered; `isCertain` is false when it could not be evaluated. */
export interface Triggered<P extends Ranked> {
  readonly policy: P
  readonly isCertain: boolean
}

export function settleConflicts<P extends Ranked>(triggered: readonly Triggered<P>[]): Settlement {
  const ranked = [...triggered].sort((one, other) => byRank(one.policy, other.policy))
  const rivals = rivalsOf(ranked)
  const conflicts: Conflict[] = []
  const silenced = new Map<string, string>()
  const softened = new Map<string, string>()
  const isOverridden = (id: string): boolean => silenced.has(id) || softened.has(id)
  for (const { policy, isCertain } of ranked) {
    const { policyId: winner, overrideMode: mode } = policy
    if (!isCertain || isOverridden(winner)) continue
    for (const loser of rivals.get(winner) ?? []) {
      if (isOverridden(loser)) continue
      conflicts.push({ winner, loser, mode })
      if (mode === 'hard_override') silenced.set(loser, winner)
      if (mode === 'soft_override') softened.set(loser, winner)
    }
  }
  return { conflicts, silenced, softened }
}

/** Higher priority first; equal ones, which are in no conflict, by name. */
export function byRank(one: Ranked, other: Ranked): number {
  return other.priority - one.priority || (one.policyId < other.policyId ? -1 : 1)
}

/** For each policy the triggered ones that it would win against, in the order of rank. */
function rivalsOf<P extends Ranked>(
  ranked: readonly Triggered<P>[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const byId = new Map(ranked.map(({ policy }) => [policy.policyId, policy]))
  const rivals = new Map<string, Set<string>>()
  for (const { policy } of ranked) {
    for (const id of policy.conflictsWith) {
      const other = byId.get(id)
      if (other === undefined || other.priority === policy.priority) continue
      const [winner, loser] = other.priority > policy.priority ? [other, policy] : [policy, other]
      const losers = rivals.get(winner.policyId) ?? new Set()
      rivals.set(winner.policyId, losers.add(loser.policyId))
    }
  }
  return rivals
}

export type ViolationAction = (typeof VIOLATION_ACTIONS)[number]

/** From the strictest on; `continue_with_workaround` is the least. */
export const ACTIONS_BY_STRICTNESS = [
  'block',
  'reject',
  'rerun',
  'alert',
  'continue_with_workaround',
] as const satisfies readonly ViolationAction[]

export interface Policy extends Ranked {
  readonly expression: Expression
  readonly action: ViolationAction
}

interface AppliedPolicy {
  readonly policyId: string
  /** What is carried out: `alert` where a softer override left only that. */
  readonly action: ViolationAction
  /** True, or undetermined, which counts as triggered. */
  readonly triggered: true | 'undetermined'
  readonly deciding: readonly Read[]
  readonly reasons: readonly UndeterminedReason[]
}

interface PolicyJudgement {
  /** Strictest action first, then by priority. */
  readonly applied: readonly AppliedPolicy[]
  /** Ids of those that a hard override silenced. */
  readonly silenced: readonly string[]
  readonly conflicts: readonly Conflict[]
}

/**
 * Policies of a flow (F-3), judged together: which are triggered, which of them apply after their
 * conflicts are settled, strictest first, and who won over whom.
 */
export function judgePolicies(
  policies: readonly Policy[],
  values: Readonly<Record<string, unknown>>,
  calls?: HostCalls,
): PolicyJudgement {
  const broken = policies
    .map((policy) => ({ policy, evaluation: evaluate(policy.expression, values, calls) }))
    .filter(({ evaluation }) => evaluation.value !== false)
  const { conflicts, silenced, softened } = settleConflicts(
    broken.map(({ policy, evaluation }) => ({ policy, isCertain: evaluation.value === true })),
  )
  const applied = broken
    .filter(({ policy }) => !silenced.has(policy.policyId))
    .map(({ policy, evaluation }) => ({
      rank: policy.priority,
      policyId: policy.policyId,
      action: softened.has(policy.policyId) ? ('alert' as const) : policy.action,
      triggered: evaluation.value === true ? (true as const) : ('undetermined' as const),
      deciding: evaluation.deciding,
      reasons: evaluation.reasons,
    }))
    .sort(
      (one, other) =>
        strictness(one.action) - strictness(other.action) ||
        other.rank - one.rank ||
        (one.policyId < other.policyId ? -1 : 1),
    )
    .map(({ rank: _, ...policy }) => policy)
  return { applied, silenced: [...silenced.keys()].sort(), conflicts }
}

function strictness(action: ViolationAction): number {
  return ACTIONS_BY_STRICTNESS.indexOf(action)
}
