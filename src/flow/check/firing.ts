/**
 * Edges that can never fire as the flow is written, each with what to write instead. Says nothing
 * where it depends on values: what it says is always so.
 */
import { showName } from '../../base/index.ts'
import type { Flow, FlowEdge } from '../../contracts/index.ts'
import {
  edgeAt,
  type Graph,
  isChoice,
  isReview,
  leadsBack,
  leadsOn,
  listAt,
  nodeAt,
} from './graph.ts'
import type { Guards } from './guards.ts'
import type { FlowProblems } from './problem.ts'
import type { Reach } from './reach.ts'
import { saysNo } from './says-no.ts'

export function checkFiring(
  flow: Flow,
  graph: Graph,
  reach: Reach,
  guards: Guards,
  problems: FlowProblems,
): void {
  const canStop = isStoppedByRules(flow)
  for (let edge = 0; edge < graph.edges.length; edge++) {
    const document = edgeAt(graph, edge)
    const source = graph.source[edge] ?? -1
    if (document.on !== undefined && document.class !== 'Exception') {
      const message = `\`on\` says what an Exception edge is the way out of; this is a ${document.class} edge`
      problems.warn('flow.guard_unused', `/edges/${edge}/on`, message)
    }
    tellIdleWait(graph, edge, problems)
    if (source === -1 || graph.target[edge] === -1 || document.class === 'Meta') continue
    const why =
      unenteredSource(graph, reach, source) ??
      (document.class === 'Exception' ? exceptionNever(graph, edge, canStop, guards) : null) ??
      (leadsBack(document) ? wayBackNever(graph, edge, guards) : null)
    if (why !== null)
      problems.warn(
        'flow.never_fires',
        `/edges/${edge}`,
        `${named(document)} never fires: ${why[0]}`,
        why[1],
      )
    else if (isRejectMeant(graph, edge)) tellReject(document, edge, problems)
  }
}

/** A review begins when there is something to judge, and a remark never fires: neither waits. */
function tellIdleWait(graph: Graph, edge: number, problems: FlowProblems): void {
  const document = edgeAt(graph, edge)
  if (document.class !== 'Meta' && !isReview(graph, edge)) return
  for (const field of ['after', 'signal'] as const) {
    if (document[field] === undefined) continue
    const message = `${named(document)} enters nothing that could wait, so \`${field}\` says nothing`
    problems.warn('flow.guard_unused', `/edges/${edge}/${field}`, message, 'write it at the node')
  }
}

/** Why an edge never fires, and what to write. */
type Reason = readonly [why: string, hint: string]

function named({ edge_id, source, target, class: kind }: FlowEdge): string {
  return `the ${kind} edge ${showName(edge_id)} from ${showName(source)} to ${showName(target)}`
}

/** Finds what lies behind a join that never fills; a node that nothing leads to has a problem of its own. */
function unenteredSource(graph: Graph, { reached, entered }: Reach, source: number): Reason | null {
  if (reached[source] === 0 || entered[source] === 1) return null
  const id = showName(nodeAt(graph, source).node_id)
  return [
    `the run never comes to ${id}, since a node on the way waits for what never comes`,
    'let the joins before it be filled, or join them by OR',
  ]
}

/** Policies, invariants and budgets may stop any node. */
function isStoppedByRules({ policies, invariants, budgets }: Flow): boolean {
  return (policies ?? []).length + (invariants ?? []).length > 0 || budgets !== undefined
}

function exceptionNever(
  graph: Graph,
  edge: number,
  canStop: boolean,
  guards: Guards,
): Reason | null {
  const document = edgeAt(graph, edge)
  const source = graph.source[edge] ?? 0
  const on = document.on ?? 'failure'
  const id = showName(document.source)
  const first = [...listAt(graph.outgoing, source)].find((other) => {
    const { class: kind, on: cause } = edgeAt(graph, other)
    const isSame = kind === 'Exception' && (cause ?? 'failure') === on
    const isTaken = guards.constant(other) === true && !namesControls(edgeAt(graph, other))
    return isSame && other < edge && isTaken
  })
  if (first !== undefined) {
    const name = showName(edgeAt(graph, first).edge_id)
    return [`${name} is always taken before it`, `give ${name} a guard_expr`]
  }
  const isJudged =
    nodeAt(graph, source).kind === 'CHECK' ||
    listAt(graph.checks, source).length > 0 ||
    callsCheck(graph, source)
  if (on === 'reject')
    return isJudged
      ? null
      : [
          `${id} is no CHECK and no CHECK judges it, so it is never rejected`,
          `write \`kind: CHECK\`, \`target\` and \`reviewer\` at ${id}`,
        ]
  return canStop || isJudged || canFail(graph, source)
    ? null
    : [
        `nothing runs at ${id} that could fail, and no way out of it can be closed`,
        `name an \`executor\` at ${id}; for the No of a check write \`kind: CHECK\` with a \`reviewer\` there and \`on: reject\` here`,
      ]
}

/** Returns whether a node calls a CHECK, which judges its caller. */
function callsCheck(graph: Graph, node: number): boolean {
  return [...listAt(graph.outgoing, node)].some((edge) => {
    const target = graph.target[edge] ?? -1
    if (target === -1 || !leadsOn(edgeAt(graph, edge))) return false
    const { kind, call } = nodeAt(graph, target)
    return kind === 'CHECK' && call === true
  })
}

/** Returns whether an edge names what may keep it closed. */
function namesControls(edge: FlowEdge): boolean {
  const { policy_refs = [], audit_invariant_refs = [], trust_requirement } = edge
  const isTrusting = trust_requirement !== 'independent_verification_required'
  return !isTrusting || policy_refs.length + audit_invariant_refs.length > 0
}

/** Returns whether a node runs a participant, calls, waits, or has a way that may be closed. */
function canFail(graph: Graph, node: number): boolean {
  const { kind, executor } = nodeAt(graph, node)
  if (kind === 'CHECK' || (kind === 'WORK' && executor !== undefined)) return true
  return [...listAt(graph.outgoing, node)].some((edge) => {
    const document = edgeAt(graph, edge)
    if (!leadsOn(document)) return false
    const isAsked = document.guard_expr !== undefined || document.trust_requirement !== undefined
    return isAsked || nodeAt(graph, graph.target[edge] ?? 0).call === true
  })
}

/** A way back without a guard goes only when no way on is open. */
function wayBackNever(graph: Graph, edge: number, guards: Guards): Reason | null {
  const document = edgeAt(graph, edge)
  const source = graph.source[edge] ?? 0
  const { kind, call } = nodeAt(graph, source)
  const isOfCheck = graph.judged[source] !== -1 || (kind === 'CHECK' && call === true)
  // The way back of a CHECK is taken on REJECT.
  if (document.guard_expr !== undefined || isOfCheck) return null
  const [judge] = listAt(graph.checks, source)
  if (judge !== undefined) {
    const id = showName(nodeAt(graph, judge).node_id)
    return [
      `it has no guard, and ${id} judges ${showName(document.source)}: what it approved would be taken back each time`,
      `lead the way back out of ${id}, which takes it on REJECT, or give it a guard_expr`,
    ]
  }
  const isEnd = ![...listAt(graph.outgoing, source)].some((other) => leadsOn(edgeAt(graph, other)))
  if (kind === 'GOAL' && isEnd)
    return [
      `it has no guard, and ${showName(document.source)} is a goal at the end of the flow: the run ends there, and would take back what it has reached each time`,
      'give it a guard_expr that says when, or leave it out',
    ]
  const before = [...listAt(graph.outgoing, source)].find((other) =>
    goesBefore(graph, edge, other, guards),
  )
  if (before === undefined) return null
  const { edge_id, class: sort } = edgeAt(graph, before)
  return [
    `it has no guard, and ${showName(edge_id)} (${sort}) is always open`,
    'give it a guard_expr, such as `state.score < 90`; a CHECK takes its way back on REJECT',
  ]
}

function goesBefore(graph: Graph, edge: number, other: number, guards: Guards): boolean {
  const document = edgeAt(graph, other)
  if (leadsBack(document))
    return other < edge && document.guard_expr === undefined && isSameSide(graph, edge, other)
  if (!leadsOn(document) || isChoice(document)) return false
  const isPlain = document.class !== 'Gate' && document.class !== 'Decision'
  const isCall = nodeAt(graph, graph.target[other] ?? 0).call === true
  return isPlain && !isCall && !namesControls(document) && guards.constant(other) === true
}

/** Of ways back without a guard, those within the phase are tried before those that lead out of it. */
function isSameSide(graph: Graph, one: number, other: number): boolean {
  const leaves = (edge: number): boolean =>
    nodeAt(graph, graph.source[edge] ?? 0).phase_id !==
    nodeAt(graph, graph.target[edge] ?? 0).phase_id
  return leaves(one) === leaves(other)
}

/** An Exception edge of a CHECK whose row or label says No, and that waits for a failure instead. */
function isRejectMeant(graph: Graph, edge: number): boolean {
  const document = edgeAt(graph, edge)
  if (document.class !== 'Exception' || document.on !== undefined) return false
  return nodeAt(graph, graph.source[edge] ?? 0).kind === 'CHECK' && saysNo(document)
}

function tellReject(document: FlowEdge, edge: number, problems: FlowProblems): void {
  const message = `${named(document)} fires when the reviewer itself fails, and not on REJECT`
  problems.warn(
    'flow.reject_meant',
    `/edges/${edge}`,
    message,
    'write `on: reject` if REJECT is meant',
  )
}
