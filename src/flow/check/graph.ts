/**
 * The graph of a flow for the checks: indexes instead of names, and edges by source and by target in
 * flat arrays. The lists leave out an edge with an end that does not exist; the contract refuses it.
 */
import type { EdgeClass, Flow, FlowEdge, FlowNode } from '../../contracts/index.ts'

export interface Graph {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
  /** By edge: the index of its ends; -1 when an end does not exist. */
  readonly source: Int32Array
  readonly target: Int32Array
  readonly outgoing: Lists
  readonly incoming: Lists
  /** By node: the CHECK nodes that judge it. */
  readonly checks: Lists
  /** By node: the node that a CHECK judges; -1 otherwise. */
  readonly judged: Int32Array
  readonly indexOf: ReadonlyMap<string, number>
}

/** Many short lists of numbers in one array. */
interface Lists {
  readonly starts: Int32Array
  readonly items: Int32Array
}

export function graphOf({ nodes, edges }: Pick<Flow, 'nodes' | 'edges'>): Graph {
  const indexOf = new Map<string, number>()
  for (const [index, { node_id }] of nodes.entries()) {
    if (!indexOf.has(node_id)) indexOf.set(node_id, index)
  }
  const source = Int32Array.from(edges, (edge) => indexOf.get(edge.source) ?? -1)
  const target = Int32Array.from(edges, (edge) => indexOf.get(edge.target) ?? -1)
  const isWhole = (edge: number): boolean => source[edge] !== -1 && target[edge] !== -1
  const judged = Int32Array.from(nodes, ({ kind, target: name }) =>
    kind === 'CHECK' && name !== undefined ? (indexOf.get(name) ?? -1) : -1,
  )
  return {
    nodes,
    edges,
    source,
    target,
    outgoing: listsOf(nodes.length, edges.length, (edge) => (isWhole(edge) ? source[edge] : -1)),
    incoming: listsOf(nodes.length, edges.length, (edge) => (isWhole(edge) ? target[edge] : -1)),
    checks: listsOf(nodes.length, nodes.length, (node) => judged[node]),
    judged,
    indexOf,
  }
}

/** Items by their owner, in their own order; an item without an owner (-1) is in no list. */
function listsOf(
  owners: number,
  items: number,
  ownerOf: (item: number) => number | undefined,
): Lists {
  const starts = new Int32Array(owners + 1)
  for (let item = 0; item < items; item++) {
    const owner = ownerOf(item) ?? -1
    if (owner !== -1) starts[owner + 1] = (starts[owner + 1] ?? 0) + 1
  }
  for (let owner = 0; owner < owners; owner++) {
    starts[owner + 1] = (starts[owner + 1] ?? 0) + (starts[owner] ?? 0)
  }
  const next = starts.slice(0, owners)
  const list = new Int32Array(starts[owners] ?? 0)
  for (let item = 0; item < items; item++) {
    const owner = ownerOf(item) ?? -1
    if (owner === -1) continue
    list[next[owner] ?? 0] = item
    next[owner] = (next[owner] ?? 0) + 1
  }
  return { starts, items: list }
}

export function listAt({ starts, items }: Lists, owner: number): Int32Array {
  return items.subarray(starts[owner] ?? 0, starts[owner + 1] ?? 0)
}

/** Calls `visit` for each item of a list without creating a view, for loops over the whole graph. */
export function eachAt(
  { starts, items }: Lists,
  owner: number,
  visit: (item: number) => void,
): void {
  const end = starts[owner + 1] ?? 0
  for (let place = starts[owner] ?? 0; place < end; place++) visit(items[place] ?? 0)
}

/** Returns whether some item of a list passes the test. */
export function someAt(
  { starts, items }: Lists,
  owner: number,
  test: (item: number) => boolean,
): boolean {
  const end = starts[owner + 1] ?? 0
  for (let place = starts[owner] ?? 0; place < end; place++) {
    if (test(items[place] ?? 0)) return true
  }
  return false
}

const FORWARD: ReadonlySet<EdgeClass> = new Set<EdgeClass>(['Progress', 'Gate', 'Decision', 'Sync'])

/** Returns whether an edge leads forward: not a Loop, Rollback, Exception or Meta edge. */
export function leadsOn(edge: FlowEdge): boolean {
  return FORWARD.has(edge.class)
}

export function leadsBack(edge: FlowEdge): boolean {
  return edge.class === 'Loop' || edge.class === 'Rollback'
}

/** Returns whether an edge leads to one of several alternatives. */
export function isChoice(edge: FlowEdge): boolean {
  return edge.class === 'Decision' && edge.group_id !== undefined
}

/** Returns whether an edge leads from a node to a CHECK that judges it. */
export function isReview({ source, target, judged }: Graph, edge: number): boolean {
  return judged[target[edge] ?? -1] === source[edge] && source[edge] !== -1
}

/** Returns the edge at an index of this graph; every such index is below `edges.length`. */
export function edgeAt({ edges }: Graph, edge: number): FlowEdge {
  return edges[edge] as FlowEdge
}

/** Returns the node at an index of this graph; every such index is below `nodes.length`. */
export function nodeAt({ nodes }: Graph, node: number): FlowNode {
  return nodes[node] as FlowNode
}
