/**
 * Which branch of which decision a node lies on: of all ways that lead to it, what they have in
 * common. Two nodes on different branches of one decision are never both taken in one round, so
 * nothing can wait for both, and nothing is led to by both.
 */
import { edgeAt, type Graph, isChoice, leadsBack, leadsOn, listAt } from './graph.ts'

/** A branch, and the branch that its decision lies on. */
interface Branch {
  /** One decision: a node, and the group for alternatives. */
  readonly decision: string
  readonly edge: number
  readonly outer: Branch | null
  readonly depth: number
}

/** By node: its branch; null for one on none. */
export type Branches = readonly (Branch | null)[]

/** Decisions that are nested deeper are not told about. */
const DEPTH_MAX = 64

/** By node: two of its sources, joined by AND, that exclude one another. */
export function exclusiveSources(
  graph: Graph,
  branches: Branches,
): ReadonlyMap<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>()
  for (let node = 0; node < graph.nodes.length; node++) {
    const taken = new Map<string, { readonly edge: number; readonly source: number }>()
    for (const edge of listAt(graph.incoming, node)) {
      if (!isJoined(graph, edge)) continue
      const source = graph.source[edge] ?? 0
      for (let one = branches[source] ?? null; one !== null; one = one.outer) {
        const known = taken.get(one.decision)
        if (known === undefined) taken.set(one.decision, { edge: one.edge, source })
        else if (known.edge !== one.edge && !found.has(node))
          found.set(node, [known.source, source])
      }
    }
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
  const taken = new Map<string, number>()
  const [first, second] = [behind(graph, branches, one), behind(graph, branches, other)]
  for (let at = first; at !== null; at = at.outer) taken.set(at.decision, at.edge)
  for (let at = second; at !== null; at = at.outer) {
    const known = taken.get(at.decision)
    if (known !== undefined && known !== at.edge) return true
  }
  return false
}

/** Walks the nodes in an order in which each comes after its sources; circles are on no branch. */
export function branchesOf(graph: Graph): Branches {
  const count = graph.nodes.length
  const branches: (Branch | null)[] = new Array(count).fill(null)
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
  const open: number[] = []
  const arrive = (node: number, branch: Branch | null): void => {
    branches[node] = isReached[node] === 0 ? branch : common(branches[node] ?? null, branch)
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
    for (const check of listAt(graph.checks, node)) arrive(check, branches[node] ?? null)
    for (const edge of listAt(graph.outgoing, node))
      if (leads(edge)) arrive(graph.target[edge] ?? 0, behind(graph, branches, edge))
  }
  for (let node = 0; node < count; node++) if ((waits[node] ?? 0) > 0) branches[node] = null
  return branches
}

/** A GOAL opens its alternatives before it is reached itself. */
function isOpening(graph: Graph, edge: number): boolean {
  const source = graph.source[edge] ?? -1
  return source !== -1 && isChoice(edgeAt(graph, edge)) && graph.nodes[source]?.kind === 'GOAL'
}

/** Returns the branch that an edge leads on to. */
function behind(graph: Graph, branches: Branches, edge: number): Branch | null {
  const source = graph.source[edge] ?? 0
  const outer = branches[source] ?? null
  const document = edgeAt(graph, edge)
  const depth = (outer?.depth ?? 0) + 1
  if (document.class !== 'Decision' || depth > DEPTH_MAX) return outer
  const decision = `${source} ${isChoice(document) ? document.group_id : ''}`
  return { decision, edge, outer, depth }
}

function common(one: Branch | null, other: Branch | null): Branch | null {
  let [left, right] = [one, other]
  while (left !== null && right !== null) {
    if (left.decision === right.decision && left.edge === right.edge) return left
    if (left.depth >= right.depth) left = left.outer
    else right = right.outer
  }
  return null
}
