/**
 * Checks the amounts of a flow: budgets below the least that the flow needs, and time floors in phases
 * without a participant. Also finds sub-phases, text policies and edges that contradict each other.
 */
import { showName } from '../../base/index.ts'
import {
  DEFAULT_TEXT_POLICIES,
  type Flow,
  type FlowEdge,
  type FlowNode,
} from '../../contracts/index.ts'
import { edgeAt, type Graph } from './graph.ts'
import type { FlowProblems } from './problem.ts'

export function checkAmounts(flow: Flow, graph: Graph, problems: FlowProblems): void {
  checkBudgets(flow, problems)
  checkFloors(flow.nodes, problems)
  checkSubphases(flow.nodes, problems)
  checkTextPolicies(flow, problems)
  checkEdgesTwice(graph, problems)
  checkBeforePhases(flow, problems)
}

/** Before a phase there is nothing to run again: such an invariant blocks. */
function checkBeforePhases({ invariants = [], edges }: Flow, problems: FlowProblems): void {
  const named = new Set(edges.flatMap(({ audit_invariant_refs: ids = [] }) => ids))
  for (const [index, invariant] of invariants.entries()) {
    const { invariant_id: id, check_timing: timing, fail_action: action } = invariant
    if (timing !== 'pre_phase' || action !== 'rerun' || named.has(id)) continue
    const message = `${showName(id)} is judged before a phase, where no node has run yet: \`rerun\` blocks there`
    const hint = 'write `fail_action: block`, or `check_timing: post_phase`'
    problems.warn('flow.guard_unused', `/invariants/${index}/fail_action`, message, hint)
  }
}

function isRun({ kind, executor, reviewer }: FlowNode): boolean {
  return (kind === 'WORK' && executor !== undefined) || (kind === 'CHECK' && reviewer !== undefined)
}

function checkBudgets({ budgets, nodes, edges }: Flow, problems: FlowProblems): void {
  if (budgets === undefined) return
  // With Decision or Exception edges some nodes may never run, so the least need is unknown.
  const parts = edges.some(({ class: kind }) => kind === 'Decision' || kind === 'Exception')
  const runs = nodes.filter(isRun).length
  if (budgets.attempts !== undefined && !parts && budgets.attempts < runs) {
    const message = `the flow has ${runs} nodes that a participant runs, and ${budgets.attempts} attempts for them`
    problems.warn('flow.budget_short', '/budgets/attempts', message)
  }
  const floor = nodes.reduce((sum, { minimum_duration }) => sum + (minimum_duration ?? 0), 0)
  if (budgets.seconds !== undefined && !parts && budgets.seconds < floor) {
    const message = `the phases take ${floor} seconds at least, and there are ${budgets.seconds}`
    problems.warn('flow.budget_short', '/budgets/seconds', message)
  }
  if (budgets.tokens === 0 && runs > 0) {
    problems.warn('flow.budget_short', '/budgets/tokens', 'there are no tokens to spend')
  }
}

/** Warns about a time floor in a phase without a participant: only attempts take time. */
function checkFloors(nodes: readonly FlowNode[], problems: FlowProblems): void {
  const spending = new Set(nodes.filter(isRun).map(({ phase_id }) => phase_id))
  for (const [index, { minimum_duration, phase_id }] of nodes.entries()) {
    if (minimum_duration === undefined || minimum_duration === 0 || spending.has(phase_id)) continue
    const message = `no participant runs in the phase ${showName(phase_id)}, so its time floor is never reached`
    problems.warn('flow.floor_unreachable', `/nodes/${index}/minimum_duration`, message)
  }
}

function checkSubphases(nodes: readonly FlowNode[], problems: FlowProblems): void {
  const phases = new Map<string, string>()
  for (const [index, { phase_id, subphase_id }] of nodes.entries()) {
    if (subphase_id === undefined) continue
    const first = phases.get(subphase_id) ?? phase_id
    phases.set(subphase_id, first)
    if (first === phase_id) continue
    const message = `the sub-phase ${showName(subphase_id)} lies in ${showName(first)} and in ${showName(phase_id)}`
    problems.warn('flow.subphase_split', `/nodes/${index}/subphase_id`, message)
  }
}

const DEFAULTS: ReadonlySet<string> = new Set(DEFAULT_TEXT_POLICIES)

/**
 * Refuses a default text policy that is restated with a weaker action. The default stays on and
 * rejects, so the weaker action would have no effect (F-9).
 */
function checkTextPolicies(flow: Flow, problems: FlowProblems): void {
  for (const [index, { policy_id, violation_action }] of (flow.text_policies ?? []).entries()) {
    if (!DEFAULTS.has(policy_id)) continue
    if (violation_action !== 'alert' && violation_action !== 'continue_with_workaround') continue
    const message = `${showName(policy_id)} is on in every flow and rejects, so ${showName(violation_action)} would weaken it`
    const hint = 'use `reject`, `rerun` or `block`, or another id'
    problems.refuse(
      'flow.text_policy_weaker',
      `/text_policies/${index}/violation_action`,
      message,
      hint,
    )
  }
}

/** Warns about two edges with the same ends, class, guard and group. */
function checkEdgesTwice(graph: Graph, problems: FlowProblems): void {
  const { edges, source, target, nodes } = graph
  const first = new Map<number, number>()
  const forms = new Map<number, Map<string, string>>()
  for (let index = 0; index < edges.length; index++) {
    const pair = (source[index] ?? -1) * nodes.length + (target[index] ?? -1)
    if (source[index] === -1 || target[index] === -1) continue
    const before = first.get(pair)
    if (before === undefined) {
      first.set(pair, index)
      continue
    }
    const known = forms.get(pair) ?? new Map([formOf(edgeAt(graph, before))])
    forms.set(pair, known)
    const [form, id] = formOf(edgeAt(graph, index))
    const same = known.get(form)
    if (same === undefined) known.set(form, id)
    else tellTwice(edgeAt(graph, index), same, index, problems)
  }
}

function formOf(edge: FlowEdge): readonly [form: string, id: string] {
  return [JSON.stringify([edge.class, edge.guard_expr, edge.group_id]), edge.edge_id]
}

function tellTwice(
  { source, target }: FlowEdge,
  same: string,
  index: number,
  problems: FlowProblems,
): void {
  const message = `${showName(same)} leads from ${showName(source)} to ${showName(target)} in the same way`
  problems.warn('flow.edge_twice', `/edges/${index}/edge_id`, message)
}
