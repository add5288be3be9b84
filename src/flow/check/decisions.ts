/**
 * Checks decisions: exactly one Decision edge of a node must be open. Refuses a second edge next to one
 * that is always open, and two edges with the same guard. Warns where two guards overlap, or where a
 * value leaves all of them closed. Refuses an alternative that another edge leads to as well.
 */
import { showName } from '../../base/index.ts'
import { VALIDATOR_VERDICTS } from '../../contracts/index.ts'
import { type Domain, gapOf, overlapOf } from './domain.ts'
import { edgeAt, type Graph, isChoice, isReview, leadsOn, listAt, nodeAt } from './graph.ts'
import type { Guards } from './guards.ts'
import type { FlowProblems } from './problem.ts'

export function checkDecisions(graph: Graph, guards: Guards, problems: FlowProblems): void {
  for (let node = 0; node < graph.nodes.length; node++) {
    const decisions: number[] = []
    const groups = new Map<string, number[]>()
    for (const edge of listAt(graph.outgoing, node)) {
      const document = edgeAt(graph, edge)
      if (document.class !== 'Decision') continue
      if (!isChoice(document)) decisions.push(edge)
      else pushTo(groups, document.group_id ?? '', edge)
    }
    if (decisions.length > 0) checkDecision(graph, decisions, guards, problems)
    for (const [group, edges] of groups) checkGroup(group, edges, problems)
    checkCandidate(graph, node, problems)
  }
}

/**
 * Refuses edges that lead to an alternative without choosing it. It begins when it is chosen, so a join there is
 * never waited for; and once another alternative has won, it is not entered any more.
 */
function checkCandidate(graph: Graph, node: number, problems: FlowProblems): void {
  const incoming = listAt(graph.incoming, node)
  const choice = incoming.find((edge) => isChoice(edgeAt(graph, edge)))
  if (choice === undefined) return
  const id = showName(nodeAt(graph, node).node_id)
  const group = showName(edgeAt(graph, choice).group_id ?? '')
  for (const edge of incoming) {
    const document = edgeAt(graph, edge)
    if (isChoice(document) || isReview(graph, edge) || !leadsThere(graph, node, edge)) continue
    const message = `${id} is an alternative of the group ${group}, and begins when it is chosen: this ${document.class} edge leads to it too`
    const hint = `to have the choice wait for ${showName(document.source)}, lead this edge to ${showName(edgeAt(graph, choice).source)}; to go on after it, lead it to another node, behind the alternatives`
    problems.refuse('flow.alternative_entered', `/edges/${edge}/target`, message, hint)
  }
}

/** Returns whether an edge leads to a node on, or out of a failure elsewhere: not back to it. */
function leadsThere(graph: Graph, node: number, edge: number): boolean {
  const document = edgeAt(graph, edge)
  if (document.class !== 'Exception') return leadsOn(document)
  const after = new Set([node])
  for (const one of after)
    for (const next of listAt(graph.outgoing, one)) after.add(graph.target[next] ?? -1)
  return !after.has(graph.source[edge] ?? -1)
}

function pushTo(groups: Map<string, number[]>, name: string, edge: number): void {
  const list = groups.get(name)
  if (list === undefined) groups.set(name, [edge])
  else list.push(edge)
}

function checkGroup(group: string, edges: readonly number[], problems: FlowProblems): void {
  if (edges.length !== 1) return
  const message = `the group ${showName(group)} has one candidate, so there is nothing to choose`
  problems.warn('flow.alternative_single', `/edges/${edges[0]}/group_id`, message)
}

function checkDecision(
  graph: Graph,
  edges: readonly number[],
  guards: Guards,
  problems: FlowProblems,
): void {
  const isAmbiguous = checkAlwaysOpen(graph, edges, guards, problems)
  const isRepeated = checkEqual(graph, edges, guards, problems)
  const domains = edges.map((edge) => guards.domain(edge))
  if (!isAmbiguous && !isRepeated) checkOverlaps(graph, edges, domains, problems)
  checkGaps(graph, edges, guards, domains, problems)
}

/** Refuses every other edge that can open when one edge of the decision is always open. */
function checkAlwaysOpen(
  graph: Graph,
  edges: readonly number[],
  guards: Guards,
  problems: FlowProblems,
): boolean {
  const open = edges.find((edge) => guards.constant(edge) === true)
  if (open === undefined || edges.length === 1) return false
  const first = edgeAt(graph, open).edge_id
  let isTold = false
  for (const edge of edges) {
    if (edge === open || guards.constant(edge) === false) continue
    const message = `${showName(first)} is always open, so this way of the decision is never the only open one`
    const hint = 'give every Decision edge of the node a guard, and let one of them be true'
    problems.refuse('flow.decision_ambiguous', `/edges/${edge}`, message, hint)
    isTold = true
  }
  return isTold
}

function checkEqual(
  graph: Graph,
  edges: readonly number[],
  guards: Guards,
  problems: FlowProblems,
): boolean {
  const seen = new Map<string, number>()
  let isTold = false
  for (const edge of edges) {
    const form = guards.form(edge)
    if (form === null || guards.constant(edge) !== null) continue
    const first = seen.get(form)
    if (first === undefined) {
      seen.set(form, edge)
      continue
    }
    const message = `the guard is the one of ${showName(edgeAt(graph, first).edge_id)}, so both ways are open together`
    problems.refuse('flow.decision_ambiguous', `/edges/${edge}/guard_expr`, message)
    isTold = true
  }
  return isTold
}

/** So many edges of one decision are compared with one another. */
const PAIRS_MAX = 24

function checkOverlaps(
  graph: Graph,
  edges: readonly number[],
  domains: readonly (Domain | null)[],
  problems: FlowProblems,
): void {
  for (let one = 0; one < Math.min(edges.length, PAIRS_MAX); one++) {
    for (let other = one + 1; other < Math.min(edges.length, PAIRS_MAX); other++) {
      const [left, right] = [domains[one] ?? null, domains[other] ?? null]
      const example = left === null || right === null ? null : overlapOf(left, right)
      if (example === null) continue
      const name = showName(edgeAt(graph, edges[one] ?? 0).edge_id)
      const message = `this way and ${name} are both open when ${example}`
      problems.warn('flow.decision_overlap', `/edges/${edges[other]}/guard_expr`, message)
    }
  }
}

function checkGaps(
  graph: Graph,
  edges: readonly number[],
  guards: Guards,
  domains: readonly (Domain | null)[],
  problems: FlowProblems,
): void {
  if (edges.some((edge) => guards.constant(edge) === true)) return
  const [first] = edges
  const whole = domains.filter((domain) => domain !== null)
  const gap =
    whole.length === domains.length
      ? gapOf(whole, whole[0]?.has('state.validator_verdict') ? VALIDATOR_VERDICTS : null)
      : null
  if (first === undefined || (gap === null && edges.length > 1)) return
  const { source } = edgeAt(graph, first)
  const when = gap === null ? 'when its guard is not true' : `when ${gap}`
  const message = `no way of the decision at ${showName(source)} is open ${when}`
  problems.warn('flow.decision_none', `/edges/${first}/guard_expr`, message)
}
