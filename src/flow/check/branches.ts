/**
 * Which branch of which decision a node lies on, as far as that is plain: along nodes that have one
 * way to them. Two nodes on different branches of one decision are never both taken in one round, so
 * nothing can wait for both.
 *
 * Deliberately absent: branches that meet again. Behind such a node nothing is said, so that what is
 * told is always so.
 */
import { edgeAt, type Graph, isChoice, leadsBack, leadsOn, listAt } from './graph.ts'

/** A branch, and the branch that its decision lies on. */
interface Branch {
  /** One decision: a node, and the group for alternatives. */
  readonly decision: string
  readonly edge: number
  readonly outer: Branch | null
}

/** How far up branches are compared; deeper nesting is not told about. */
const DEPTH_MAX = 64

/** By node: two of its sources, joined by AND, that exclude one another. */
export function exclusiveSources(graph: Graph): ReadonlyMap<number, readonly [number, number]> {
  const found = new Map<number, readonly [number, number]>()
  const branches = branchesOf(graph)
  for (let node = 0; node < graph.nodes.length; node++) {
    const taken = new Map<string, { readonly edge: number; readonly source: number }>()
    for (const edge of listAt(graph.incoming, node)) {
      if (!isJoined(graph, edge)) continue
      const source = graph.source[edge] ?? 0
      for (const branch of upwards(branches[source] ?? null)) {
        const known = taken.get(branch.decision)
        if (known === undefined) taken.set(branch.decision, { edge: branch.edge, source })
        else if (known.edge !== branch.edge && !found.has(node))
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

function* upwards(branch: Branch | null): Iterable<Branch> {
  let left = DEPTH_MAX
  for (let one = branch; one !== null && left-- > 0; one = one.outer) yield one
}

/** Each node's branch; null for one on none, and for one that several ways lead to. */
function branchesOf(graph: Graph): readonly (Branch | null)[] {
  const branches: (Branch | null)[] = new Array(graph.nodes.length).fill(null)
  const isDone = new Uint8Array(graph.nodes.length)
  for (let node = 0; node < graph.nodes.length; node++) settle(graph, node, branches, isDone)
  return branches
}

/** Walks up to a node that is settled, and then down again. */
function settle(graph: Graph, from: number, branches: (Branch | null)[], isDone: Uint8Array): void {
  const way: { readonly node: number; readonly edge: number }[] = []
  let node = from
  while (isDone[node] === 0) {
    isDone[node] = 1
    const edge = onlyWayTo(graph, node)
    if (edge === null) break
    way.push({ node, edge })
    node = graph.source[edge] ?? 0
  }
  for (const { node: below, edge } of way.reverse()) {
    const outer = branches[graph.source[edge] ?? 0] ?? null
    const document = edgeAt(graph, edge)
    branches[below] =
      document.class !== 'Decision'
        ? outer
        : {
            decision: `${graph.source[edge]} ${isChoice(document) ? document.group_id : ''}`,
            edge,
            outer,
          }
  }
}

function onlyWayTo(graph: Graph, node: number): number | null {
  let only: number | null = null
  for (const edge of listAt(graph.incoming, node)) {
    const document = edgeAt(graph, edge)
    if (document.class === 'Meta' || leadsBack(document)) continue
    if (only !== null) return null
    only = edge
  }
  return only
}
