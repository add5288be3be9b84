/**
 * Nodes that several ways lead to: warns where the run enters such a node once, though all the ways
 * can be taken, and refuses calls that cannot be made.
 */
import { showName } from '../../base/index.ts'
import { areExclusive, type Branches } from './branches.ts'
import { edgeAt, type Graph, isChoice, isReview, leadsOn, listAt, nodeAt } from './graph.ts'
import type { FlowProblems } from './problem.ts'
import type { Reach } from './reach.ts'

export function checkCalls(
  graph: Graph,
  reach: Reach,
  branches: Branches,
  problems: FlowProblems,
): void {
  const ids = new Set(graph.nodes.map(({ node_id }) => node_id))
  for (let node = 0; node < graph.nodes.length; node++) {
    if (nodeAt(graph, node).call === true) checkCalled(graph, node, ids, problems)
    else checkOnce(graph, node, reach, branches, problems)
  }
}

function checkCalled(
  graph: Graph,
  node: number,
  ids: ReadonlySet<string>,
  problems: FlowProblems,
): void {
  const { node_id, target } = nodeAt(graph, node)
  const id = showName(node_id)
  if (target !== undefined) {
    const message = `${id} judges ${showName(target)} and is called: a CHECK that is called judges its caller`
    problems.refuse('flow.call', `/nodes/${node}/call`, message, 'leave out `target` or `call`')
  }
  for (const edge of listAt(graph.incoming, node)) {
    const { class: kind, join } = edgeAt(graph, edge)
    const late = lateCall(graph, node, edge, ids)
    if (late !== null) problems.refuse('flow.call', `/edges/${edge}/source`, ...late)
    if (kind !== 'Sync' && join !== 'AND') continue
    const message = `${id} is called for each edge, so it cannot wait for this ${kind} edge and others together`
    const hint = 'lead the joined edges to a node before it'
    problems.refuse(
      'flow.call',
      `/edges/${edge}/${kind === 'Sync' ? 'class' : 'join'}`,
      message,
      hint,
    )
  }
}

/**
 * Returns why a called CHECK could not judge what this edge brings before it is in place, and what to write
 * instead; null if it can, or if there is nothing to judge.
 */
function lateCall(
  graph: Graph,
  node: number,
  edge: number,
  ids: ReadonlySet<string>,
): readonly [string, string] | null {
  const { kind, target, node_id } = nodeAt(graph, node)
  const { class: sort } = edgeAt(graph, edge)
  const source = graph.source[edge] ?? -1
  if (kind !== 'CHECK' || target !== undefined || source === -1 || !leadsOn(edgeAt(graph, edge)))
    return null
  const caller = nodeAt(graph, source)
  const [id, from] = [showName(node_id), showName(caller.node_id)]
  if (caller.kind === 'CHECK' && caller.target !== undefined)
    return [
      `${from} is a CHECK: what it judged is in place before it calls ${id}, which would judge nothing`,
      `let the work call: \`source: ${caller.target}\`; ${id} judges it after ${from}, and before it is promoted`,
    ]
  if (ids.has(`${caller.node_id}/begin`))
    return [
      `${from} is a sub-flow: what its nodes made is in place before it calls ${id}, which would judge nothing`,
      `write a CHECK with a \`target\` in the sub-flow, or let a node after ${from} call ${id}`,
    ]
  if (sort === 'Decision' && caller.executor !== undefined)
    return [
      `nothing waits for a Decision: what ${from} made is in place before ${id} judges it`,
      `write \`class: Gate\`, or Progress with the same guard; else lead the Decision to a CHECK without \`call\` and with \`target: ${caller.node_id}\``,
    ]
  return null
}

/** So many ways to one node are compared with one another. */
const WAYS_MAX = 32
const NAMES_MAX = 5

function checkOnce(
  graph: Graph,
  node: number,
  { unfailing }: Reach,
  branches: Branches,
  problems: FlowProblems,
): void {
  const sources = new Set<number>()
  const ways = [...listAt(graph.incoming, node)].filter((edge) => {
    const source = graph.source[edge] ?? 0
    if (!isEntry(graph, edge) || unfailing[source] === 0 || sources.has(source)) return false
    sources.add(source)
    return true
  })
  if (ways.length < 2 || !areSomeTogether(graph, branches, ways.slice(0, WAYS_MAX))) return
  const names = ways.slice(0, NAMES_MAX).map((edge) => showName(edgeAt(graph, edge).edge_id))
  const more = ways.length > NAMES_MAX ? ` and ${ways.length - NAMES_MAX} more` : ''
  const id = showName(nodeAt(graph, node).node_id)
  const message = `${names.join(', ')}${more} can all fire, and ${id} is entered once, by the first of them`
  const hint =
    'write `call: true` at the node to enter it for each, `class: Sync` to wait for all, or `join: OR` on each edge if once is meant'
  problems.warn('flow.entered_once', `/nodes/${node}/node_id`, message, hint)
}

/** Returns whether an edge enters its target by itself, and does not say that any one is enough. */
function isEntry(graph: Graph, edge: number): boolean {
  const document = edgeAt(graph, edge)
  if (!leadsOn(document) || document.class === 'Sync' || document.join !== undefined) return false
  if (isChoice(document) || isReview(graph, edge)) return false
  return graph.source[edge] !== graph.target[edge]
}

function areSomeTogether(graph: Graph, branches: Branches, ways: readonly number[]): boolean {
  return ways.some((one, place) =>
    ways.slice(place + 1).some((other) => !areExclusive(graph, branches, one, other)),
  )
}
