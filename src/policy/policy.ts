/**
 * Policies of a flow (F-3), judged together: which are triggered, which of them apply after their
 * conflicts are settled, strictest first, and who won over whom.
 */
import type { VIOLATION_ACTIONS } from '../contracts/index.ts'
import {
  type Expression,
  evaluate,
  type HostCalls,
  type Read,
  type UndeterminedReason,
} from '../expression/index.ts'
import { type Conflict, type Ranked, settleConflicts } from './conflict.ts'

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

export interface AppliedPolicy {
  readonly policyId: string
  /** What is carried out: `alert` where a softer override left only that. */
  readonly action: ViolationAction
  /** True, or undetermined, which counts as triggered. */
  readonly triggered: true | 'undetermined'
  readonly deciding: readonly Read[]
  readonly reasons: readonly UndeterminedReason[]
}

export interface PolicyJudgement {
  /** Strictest action first, then by priority. */
  readonly applied: readonly AppliedPolicy[]
  /** Ids of those that a hard override silenced. */
  readonly silenced: readonly string[]
  readonly conflicts: readonly Conflict[]
}

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
