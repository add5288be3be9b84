/**
 * Guards, policies and invariants, each evaluation a fact with the values that it read (F-2, F-3,
 * F-4). What could not be evaluated counts as: guard false, policy triggered, invariant violated.
 */

import { type ExpressionResult, evaluate } from '../../expression/index.ts'
import { judgePolicies, type Policy, type ViolationAction } from '../../policy/index.ts'
import type { CompiledEdge, CompiledInvariant } from '../compile/compiled-flow.ts'
import type { FindingAction, TruthWord, Values } from '../state/fact.ts'
import { isEvidenceSound } from './evidence.ts'
import { guardScene, type Occasion, sceneOf, subjectOf, TRANSITION } from './scene.ts'
import type { Turn } from './turn.ts'

const NO_REASONS: readonly string[] = Object.freeze([])

function answerOf(value: ExpressionResult['value']): TruthWord {
  return value === true ? 'true' : value === false ? 'false' : 'undetermined'
}

function valuesOf({ deciding }: ExpressionResult): Values {
  // Built by assignment: paths are the expression's own, such as `state.score`.
  const values: Record<string, unknown> = {}
  for (const { path, value } of deciding) values[path] = value ?? null
  return values
}

/** Whether an edge may fire as far as guard, gate and evidence are concerned. */
export function isGuardOpen(turn: Turn, edge: CompiledEdge): boolean {
  if (edge.isFree) return true
  const { document, source, guard } = edge
  if (guard === null) {
    if (document.class !== 'Gate') return true
    const isPassed = turn.node(subjectOf(turn, source)).work.gatePassed
    recordGuard(turn, edge, isPassed ? 'true' : 'false', { 'state.gate_passed': isPassed }, [])
    return isPassed
  }
  const scene = guardScene(turn, edge)
  const evaluation = evaluate(guard, scene)
  const isTrusted = isEvidenceSound(turn, edge, scene)
  const result = isTrusted ? answerOf(evaluation.value) : 'false'
  const reasons =
    evaluation.reasons.length === 0 ? NO_REASONS : evaluation.reasons.map(({ message }) => message)
  recordGuard(turn, edge, result, valuesOf(evaluation), reasons)
  return result === 'true'
}

function recordGuard(
  turn: Turn,
  { document }: CompiledEdge,
  result: TruthWord,
  values: Values,
  reasons: readonly string[],
): void {
  const scope = document.guard_scope ?? 'node'
  turn.recordGuard(document.edge_id, result, scope, values, reasons)
}

/** What the guard of an edge read when it was last judged in this step, and why it has no answer. */
export function guardValues({ draft, facts }: Turn, edgeId: string): Values {
  if (draft.run.rules === 1) return {}
  const last = facts.findLast(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'guard' && payload.edge_id === edgeId,
  )
  if (last?.type !== 'flow_event_v1' || last.payload.kind !== 'guard') return {}
  const { values, result, reasons } = last.payload
  return { ...values, ...(result === 'undetermined' ? { reasons } : {}) }
}

/**
 * The strictest thing that policies ask for at an edge; null when none is triggered. `isOnlyClosed`: what
 * they ask for is no more than that the edge stays closed.
 */
export function judgeEdgePolicies(
  turn: Turn,
  edge: CompiledEdge,
  policies: readonly Policy[],
  isOnlyClosed: boolean,
): ViolationAction | null {
  if (policies.length === 0) return null
  const { document, source } = edge
  const scene = sceneOf(turn, source, edge, TRANSITION, document.guard_scope ?? null)
  const judgement = judgePolicies(policies, scene)
  if (judgement.applied.length === 0 && judgement.conflicts.length === 0) return null
  const place = { node_id: turn.idOf(source), edge_id: document.edge_id }
  const applied = judgement.applied.map((policy) => ({
    policy_id: policy.policyId,
    action: isOnlyClosed && CLOSING.has(policy.action) ? ('block' as const) : policy.action,
    triggered: policy.triggered === true ? ('true' as const) : ('undetermined' as const),
    values: valuesOf({ value: true, deciding: policy.deciding, reasons: [] }),
  }))
  turn.record({
    kind: 'policies',
    edge_id: document.edge_id,
    applied,
    silenced: judgement.silenced,
    conflicts: judgement.conflicts,
  })
  for (const { winner, loser, mode } of judgement.conflicts) {
    const values = { winner, loser, mode }
    const action = applied.find(({ policy_id }) => policy_id === winner)?.action ?? 'alert'
    turn.find({ code: 'flow.policy_conflict', ...place, policy_id: winner, action, values })
  }
  for (const { policy_id, action, values } of applied)
    turn.find({ code: 'flow.policy_triggered', ...place, policy_id, action, values })
  return applied[0]?.action ?? null
}

const CLOSING: ReadonlySet<ViolationAction> = new Set(['reject', 'rerun', 'block'])

/** Judges an invariant for a node and tells whether it holds. */
export function isInvariantKept(
  turn: Turn,
  { document, expression }: CompiledInvariant,
  node: number,
  edge: CompiledEdge | null,
  occasion: Occasion,
  action: FindingAction = document.fail_action,
): boolean {
  const scope = edge?.document.guard_scope ?? null
  const evaluation = evaluate(expression, sceneOf(turn, node, edge, occasion, scope))
  const values = valuesOf(evaluation)
  const place = {
    node_id: turn.idOf(node),
    ...(edge === null ? {} : { edge_id: edge.document.edge_id }),
  }
  const { invariant_id, severity } = document
  const result = answerOf(evaluation.value)
  turn.record({ kind: 'invariant', invariant_id, ...place, result, values })
  if (evaluation.value === true) return true
  turn.find({
    code: 'flow.invariant_violated',
    ...place,
    invariant_id,
    action,
    values: { ...values, severity },
  })
  return false
}
