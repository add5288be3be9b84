/**
 * The shape of the graph: nodes that nothing leads to, nodes that lead nowhere, circles without a
 * Loop, ways back that do not lead back, joins that can never fill. Linear in nodes and edges.
 *
 * Circles of a graph: the edges that close one, and the strongly connected components. Iterative, so
 * that a long chain costs no stack.
 */
import { closingPlaces, showName } from '../../base/index.ts'
import { callNodesOf } from '../compile/calls.ts'
import { type Branches, exclusiveSources } from './branches.ts'
import {
  edgeAt,
  type Graph,
  isChoice,
  isReview,
  leadsBack,
  leadsOn,
  listAt,
  nodeAt,
  someAt,
} from './graph.ts'
import type { FlowProblems } from './problem.ts'
import type { Reach } from './reach.ts'

export function checkShape(
  graph: Graph,
  reach: Reach,
  branches: Branches,
  problems: FlowProblems,
): void {
  const component = componentsOf(graph, (edge) => edgeAt(graph, edge).class !== 'Meta')
  checkReached(graph, reach, problems)
  checkStarts(graph, reach, component, problems)
  checkEnds(graph, reach, problems)
  checkCircles(graph, problems)
  checkWaysBack(graph, component, problems)
  checkJoins(graph, reach, branches, problems)
}

function idAt(graph: Graph, node: number): string {
  return showName(nodeAt(graph, node).node_id)
}

function checkReached(graph: Graph, { reached }: Reach, problems: FlowProblems): void {
  for (let node = 0; node < graph.nodes.length; node++) {
    if (reached[node] === 1) continue
    const message = `no way leads from the beginning to ${idAt(graph, node)}`
    problems.refuse('flow.unreachable', `/nodes/${node}/node_id`, message)
  }
}

/**
 * Warns about a start node whose only incoming edges are Meta or back edges from elsewhere: the author
 * probably did not mean it to start immediately.
 */
function checkStarts(
  graph: Graph,
  { starts }: Reach,
  component: Int32Array,
  problems: FlowProblems,
): void {
  if (starts.length < 2) return
  for (const node of starts) {
    const isElsewhere = (edge: number): boolean => {
      const source = graph.source[edge] ?? 0
      if (edgeAt(graph, edge).class === 'Meta') return source !== node
      return component[source] !== component[node]
    }
    const unmeant = listAt(graph.incoming, node).find(isElsewhere)
    if (unmeant === undefined) continue
    const { class: kind } = edgeAt(graph, unmeant)
    const message = `only ${kind} edges lead to ${idAt(graph, node)}, so it begins at once`
    const hint = 'lead a Progress or Exception edge there'
    problems.warn('flow.unmeant_start', `/nodes/${node}/node_id`, message, hint)
  }
}

/** Reports nodes that are no GOAL and lead nowhere, in a flow that has a GOAL. */
function checkEnds(graph: Graph, { reached, unfailing }: Reach, problems: FlowProblems): void {
  if (!graph.nodes.some(({ kind }) => kind === 'GOAL')) return
  // Where a call ends, it returns to its caller.
  const returning = new Set(callNodesOf(graph, graph.indexOf).flatMap(({ region }) => region))
  for (let node = 0; node < graph.nodes.length; node++) {
    if (reached[node] === 0 || returning.has(node) || goesOn(graph, node)) continue
    const path = `/nodes/${node}/node_id`
    const message = `${idAt(graph, node)} is no GOAL and has no way on`
    if (unfailing[node] === 1) problems.refuse('flow.dead_end', path, message)
    else if (!returns(graph, node))
      problems.warn('flow.dead_end', path, `${message} after a failure`)
  }
}

/** Returns whether a back edge leaves the node; after a failure that is enough. */
function returns(graph: Graph, node: number): boolean {
  return someAt(graph.outgoing, node, (edge) => leadsBack(edgeAt(graph, edge)))
}

/** Returns whether the run can go on from a node, by its own edges or those of its CHECK nodes. */
function goesOn(graph: Graph, node: number): boolean {
  if (nodeAt(graph, node).kind === 'GOAL' || hasWayOn(graph, node)) return true
  // The run goes on from the work that this CHECK judges; a dead end is reported there.
  if (graph.judged[node] !== -1) return true
  return someAt(graph.checks, node, (check) => hasWayOn(graph, check))
}

function hasWayOn(graph: Graph, node: number): boolean {
  return someAt(
    graph.outgoing,
    node,
    (edge) => leadsOn(edgeAt(graph, edge)) && !isReview(graph, edge) && graph.target[edge] !== node,
  )
}

function checkCircles(graph: Graph, problems: FlowProblems): void {
  // Neither a GOAL that waits for one of its alternatives is a circle, nor a call that returns.
  const leads = (edge: number): boolean => {
    const document = edgeAt(graph, edge)
    const isCalled = nodeAt(graph, graph.target[edge] ?? 0).call === true
    return leadsOn(document) && !isChoice(document) && !isCalled
  }
  for (const edge of closingEdges(graph, leads)) {
    const { source, target, class: kind } = edgeAt(graph, edge)
    const message = `this ${kind} edge from ${showName(source)} to ${showName(target)} closes a circle`
    const hint = 'write `Loop`, which counts its attempts and ends'
    problems.refuse('flow.cycle', `/edges/${edge}`, message, hint)
  }
}

/** Returns a test for Loop and Rollback edges that lead to nothing that comes before them. */
export function isForwardBack(
  graph: Graph,
  component = componentsOf(graph, (edge) => edgeAt(graph, edge).class !== 'Meta'),
): (edge: number) => boolean {
  return (edge) => {
    const [source, target] = [graph.source[edge] ?? -1, graph.target[edge] ?? -1]
    if (!leadsBack(edgeAt(graph, edge)) || source === -1 || target === -1) return false
    return component[source] !== component[target]
  }
}

function checkWaysBack(graph: Graph, component: Int32Array, problems: FlowProblems): void {
  const isForward = isForwardBack(graph, component)
  for (let edge = 0; edge < graph.edges.length; edge++) {
    if (!isForward(edge)) continue
    const document = edgeAt(graph, edge)
    const message = `no way leads from ${showName(document.target)} to ${showName(document.source)}, so this ${document.class} leads nowhere back`
    const hint = 'write `Exception` for a way out of a failure or a REJECT, `Progress` for a way on'
    problems.refuse('flow.way_back', `/edges/${edge}/target`, message, hint)
  }
}

function checkJoins(graph: Graph, reach: Reach, branches: Branches, problems: FlowProblems): void {
  const exclusive = exclusiveSources(graph, branches)
  const canReturn = graph.edges.some(leadsBack)
  for (let node = 0; node < graph.nodes.length; node++) {
    const path = `/nodes/${node}/node_id`
    if (reach.reached[node] === 1 && reach.entered[node] === 0 && (reach.arrived[node] ?? 0) > 0) {
      const missing = listAt(graph.incoming, node).find((edge) => isLacking(graph, reach, edge))
      const source = missing === undefined ? '' : ` ${showName(edgeAt(graph, missing).source)}`
      const message = `${idAt(graph, node)} waits for a way from${source} that never comes`
      problems.refuse('flow.join_unfillable', path, message)
    }
    const pair = exclusive.get(node)
    if (pair === undefined) continue
    const [one, other] = pair.map((source) => idAt(graph, source))
    const message = `${idAt(graph, node)} waits for ${one} and ${other}, of which only one is ever taken`
    // With a way back, another round may take the other branch.
    const tell = canReturn ? problems.warn : problems.refuse
    tell.call(problems, 'flow.join_unfillable', path, message, 'join them by OR')
  }
  checkIdleJoins(graph, problems)
  for (let edge = 0; edge < graph.edges.length; edge++) checkWayAround(graph, edge, problems)
}

/** Warns of a way out of a failure that comes to a join which waits for the node that failed. */
function checkWayAround(graph: Graph, edge: number, problems: FlowProblems): void {
  const { class: kind, edge_id } = edgeAt(graph, edge)
  const failed = graph.source[edge] ?? -1
  const first = graph.target[edge] ?? -1
  if (kind !== 'Exception' || failed === -1 || first === -1) return
  const judged = graph.judged[failed] ?? -1
  const lost = new Set(judged === -1 ? [failed] : [failed, judged])
  const isWaited = (way: number): boolean =>
    edgeAt(graph, way).class === 'Sync' && edgeAt(graph, way).join !== 'OR'
  const waits = [...lost].flatMap((node) => [...listAt(graph.outgoing, node)].filter(isWaited))
  if (waits.length === 0) return
  const around = new Set([first])
  for (const node of around)
    for (const way of listAt(graph.outgoing, node)) {
      const next = graph.target[way] ?? -1
      // A way back may let the node try again.
      if (leadsBack(edgeAt(graph, way)) || lost.has(next)) return
      if (leadsOn(edgeAt(graph, way))) around.add(next)
    }
  for (const node of around) {
    const waited = waits.find((way) => graph.target[way] === node)
    if (waited === undefined) continue
    const name = showName(edgeAt(graph, waited).source)
    const message = `${showName(edge_id)} leads around ${name} to ${idAt(graph, node)}, which waits for ${name} and does not begin without it`
    const hint = `write \`join: OR\` on the Sync edges to ${idAt(graph, node)}, lead ${showName(edge_id)} to another node or goal, or lead back to ${name} by a Loop`
    problems.warn('flow.join_unfillable', `/edges/${edge}`, message, hint)
  }
}

function isLacking(graph: Graph, { entered }: Reach, edge: number): boolean {
  const document = edgeAt(graph, edge)
  return leadsOn(document) && entered[graph.source[edge] ?? 0] === 0
}

/** Only a Sync edge, and a way on that is joined by AND, is waited for. */
function checkIdleJoins(graph: Graph, problems: FlowProblems): void {
  for (let edge = 0; edge < graph.edges.length; edge++) {
    const { join, class: kind } = edgeAt(graph, edge)
    if (join === undefined || kind === 'Sync') continue
    if (join === 'OR' && kind !== 'Loop' && kind !== 'Rollback' && kind !== 'Meta') continue
    if (join === 'AND' && leadsOn(edgeAt(graph, edge))) continue
    const message = `nothing waits for a ${kind} edge, so its join says nothing`
    problems.warn('flow.join_unused', `/edges/${edge}/join`, message)
  }
}

/** Returns the edges that close a circle in a depth-first walk, in the order of the document. */
function closingEdges(graph: Graph, leads: (edge: number) => boolean): readonly number[] {
  const { starts, items } = graph.outgoing
  const closing = closingPlaces(starts, (place) => {
    const edge = items[place] ?? 0
    return leads(edge) ? (graph.target[edge] ?? 0) : -1
  })
  return closing.map((place) => items[place] ?? 0).sort((one, other) => one - other)
}

/** Numbers the strongly connected component of each node (Tarjan). */
function componentsOf(graph: Graph, leads: (edge: number) => boolean): Int32Array {
  const count = graph.nodes.length
  const component = new Int32Array(count).fill(-1)
  const order = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const place = new Int32Array(count)
  const held: number[] = []
  const way: number[] = []
  let visits = 0
  let components = 0
  const visit = (node: number): void => {
    order[node] = visits
    low[node] = visits++
    held.push(node)
    way.push(node)
  }
  for (let root = 0; root < count; root++) {
    if (order[root] !== -1) continue
    visit(root)
    for (let node = way.at(-1); node !== undefined; node = way.at(-1)) {
      const next = nextOf(graph, node, place, leads)
      if (next !== null) {
        if (order[next] === -1) visit(next)
        else if (component[next] === -1) lower(low, node, order[next] ?? 0)
        continue
      }
      way.pop()
      const before = way[way.length - 1]
      if (before !== undefined) lower(low, before, low[node] ?? 0)
      if (low[node] !== order[node]) continue
      for (let one = held.pop(); one !== undefined; one = held.pop()) {
        component[one] = components
        if (one === node) break
      }
      components++
    }
  }
  return component
}

function lower(low: Int32Array, node: number, value: number): void {
  if (value < (low[node] ?? 0)) low[node] = value
}

/** The next node in line: by an edge, or from work to a CHECK that judges it. */
function nextOf(
  graph: Graph,
  node: number,
  place: Int32Array,
  leads: (edge: number) => boolean,
): number | null {
  const { outgoing, checks } = graph
  const first = outgoing.starts[node] ?? 0
  const count = (outgoing.starts[node + 1] ?? 0) - first
  const firstCheck = checks.starts[node] ?? 0
  const all = count + (checks.starts[node + 1] ?? 0) - firstCheck
  for (;;) {
    const index = place[node] ?? 0
    place[node] = index + 1
    if (index >= all) return null
    if (index >= count) return checks.items[firstCheck + index - count] ?? 0
    const edge = outgoing.items[first + index] ?? 0
    if (leads(edge)) return graph.target[edge] ?? 0
  }
}
