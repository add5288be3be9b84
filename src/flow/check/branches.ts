/**
 * Which branches of which decisions lead to a node: of all ways to it, what they have in common. Two
 * nodes that different branches of one decision lead to are never both reached in one round, so nothing
 * can wait for both, and nothing is led to by both.
 */
import { edgeAt, type Graph, isChoice, leadsBack, leadsOn, listAt } from './graph.ts'

/** By decision (a node, and the group for alternatives): the edges of which one was taken. */
type TakenEdges = ReadonlyMap<string, ReadonlySet<number>>

/** By node: what was decided when it is reached, whichever way leads there. */
export type Branches = readonly TakenEdges[]

const NOTHING: TakenEdges = new Map()

/** Decisions beyond so many on one way are not told about. */
const DECISIONS_MAX = 64

/** Ways by more edges of one decision than these are not told apart any more where they meet. */
const EDGES_MAX = 64

/** So many sources of one node are compared with one another. */
const SOURCES_MAX = 32

/** By node: two of its sources, joined by AND, that exclude one another. */
export function exclusiveSources(
  graph: Graph,
  branches: Branches,
): ReadonlyMap<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>()
  for (let node = 0; node < graph.nodes.length; node++) {
    const sources = [...listAt(graph.incoming, node)]
      .filter((edge) => isJoined(graph, edge))
      .map((edge) => graph.source[edge] ?? 0)
    const pair = sources.slice(0, SOURCES_MAX).flatMap((one, place) => {
      const other = sources
        .slice(0, place)
        .find((before) => excludes(branches[before] ?? NOTHING, branches[one] ?? NOTHING))
      return other === undefined ? [] : [[other, one] as const]
    })[0]
    if (pair !== undefined) found.set(node, pair)
  }
  return found
}

function isJoined(graph: Graph, edge: number): boolean {
  const document = edgeAt(graph, edge)
  if (document.class === 'Sync') return document.join !== 'OR'
  return leadsOn(document) && document.join === 'AND'
}

/** Returns whether at most one of two edges is taken in a round, as far as decisions tell. */
export function areExclusive(
  graph: Graph,
  branches: Branches,
  one: number,
  other: number,
): boolean {
  return excludes(behind(graph, branches, one), behind(graph, branches, other))
}

/** Returns whether a decision was taken otherwise for the one than for the other. */
function excludes(one: TakenEdges, other: TakenEdges): boolean {
  for (const [decision, edges] of one) {
    const others = other.get(decision)
    if (others !== undefined && ![...edges].some((edge) => others.has(edge))) return true
  }
  return false
}

/** Walks the nodes in an order in which each comes after its sources; circles are on no branch. */
export function branchesOf(graph: Graph): Branches {
  const count = graph.nodes.length
  const branches: TakenEdges[] = new Array(count).fill(NOTHING)
  const [waits, isReached] = [new Int32Array(count), new Uint8Array(count)]
  const leads = (edge: number): boolean => {
    const document = edgeAt(graph, edge)
    if (document.class === 'Meta' || leadsBack(document)) return false
    return !isOpening(graph, edge)
  }
  for (let node = 0; node < count; node++) {
    waits[node] = listAt(graph.incoming, node).filter(leads).length
    if (graph.judged[node] !== -1) waits[node] = (waits[node] ?? 0) + 1
  }
  const sizes = decisionSizes(graph)
  const open: number[] = []
  const arrive = (node: number, taken: TakenEdges): void => {
    branches[node] = isReached[node] === 0 ? taken : either(branches[node] ?? NOTHING, taken, sizes)
    isReached[node] = 1
    waits[node] = (waits[node] ?? 0) - 1
    if (waits[node] === 0) open.push(node)
  }
  for (let edge = 0; edge < graph.edges.length; edge++) {
    const target = graph.target[edge] ?? -1
    if (target === -1 || !isOpening(graph, edge)) continue
    waits[target] = (waits[target] ?? 0) + 1
    arrive(target, behind(graph, branches, edge))
  }
  for (let node = 0; node < count; node++)
    if (waits[node] === 0 && isReached[node] === 0) open.push(node)
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const check of listAt(graph.checks, node)) arrive(check, branches[node] ?? NOTHING)
    for (const edge of listAt(graph.outgoing, node))
      if (leads(edge)) arrive(graph.target[edge] ?? 0, behind(graph, branches, edge))
  }
  for (let node = 0; node < count; node++) if ((waits[node] ?? 0) > 0) branches[node] = NOTHING
  return branches
}

/** A GOAL opens its alternatives before it is reached itself. */
function isOpening(graph: Graph, edge: number): boolean {
  const source = graph.source[edge] ?? -1
  return source !== -1 && isChoice(edgeAt(graph, edge)) && graph.nodes[source]?.kind === 'GOAL'
}

/** Returns what was decided when an edge is taken. */
function behind(graph: Graph, branches: Branches, edge: number): TakenEdges {
  const source = graph.source[edge] ?? 0
  const before = branches[source] ?? NOTHING
  const document = edgeAt(graph, edge)
  if (document.class !== 'Decision' || before.size >= DECISIONS_MAX) return before
  return new Map(before).set(decisionOf(graph, edge), new Set([edge]))
}

function decisionOf(graph: Graph, edge: number): string {
  const document = edgeAt(graph, edge)
  return `${graph.source[edge] ?? 0} ${isChoice(document) ? document.group_id : ''}`
}

/** By decision: how many edges it has. */
function decisionSizes(graph: Graph): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  for (const [edge, { class: kind }] of graph.edges.entries()) {
    if (kind !== 'Decision') continue
    const decision = decisionOf(graph, edge)
    sizes.set(decision, (sizes.get(decision) ?? 0) + 1)
  }
  return sizes
}

/** What is known where two ways meet: decisions that lie on both, and not all branches of them. */
function either(
  one: TakenEdges,
  other: TakenEdges,
  sizes: ReadonlyMap<string, number>,
): TakenEdges {
  if (one === other) return one
  const both = new Map<string, ReadonlySet<number>>()
  for (const [decision, edges] of one) {
    const others = other.get(decision)
    if (others === undefined) continue
    if (edges.size + others.size > EDGES_MAX) continue
    const together = new Set([...edges, ...others])
    if (together.size < (sizes.get(decision) ?? 0)) both.set(decision, together)
  }
  return both
}
