/**
 * What the root of a plan under repair is decomposed into (seed 001, 3), so that it is done when its
 * tasks are done, and not before.
 *
 * INVARIANT (no repair closes a cycle): no edge is added from the root to a task from which the root
 * can be reached. A DEPENDS_ON edge into the root says what DECOMPOSE says, and gives way to it.
 */
import type { Draft } from './draft.ts'
import { type Arc, reachable, reversed } from './graph.ts'
import type { Items } from './items.ts'
import type { Chain } from './plan-chain.ts'
import { decomposeEdge, isAnd } from './plan-edges.ts'
import type { Head } from './plan-head.ts'
import type { Ids } from './plan-ids.ts'

interface TypedArc extends Arc {
  readonly type: unknown
  readonly isAnd: boolean
}

/** Ids and edges are repaired by now: every end is a string, every type one of the three. */
export function attachRoot(nodes: Items, edges: Items, chain: Chain, head: Head, ids: Ids): void {
  const isParent = edges.drafts.some((edge) => isDecomposeOf(edge, head.rootId))
  const hasChain = chain.entries.size + chain.exits.size > 0
  if (isParent ? !hasChain : nodes.drafts.length < 2) return
  const others = edges.drafts.map(arcOf).filter((arc) => !isRootDependency(arc, head.rootId))
  const above = reachable(reversed(others), [head.rootId])
  const prerequisites = new Set<string>()
  edges.filter((edge) => {
    const arc = arcOf(edge)
    // What is above the root by another way too cannot become a part of it: then the edge stays.
    if (!isRootDependency(arc, head.rootId) || above.has(arc.from)) return true
    prerequisites.add(arc.from)
    return false
  }, 'plan.root_dependency')
  const wanted = isParent
    ? missingMembers(nodeIds(nodes), others, [chain, prerequisites], head.rootId)
    : nodeIds(nodes)
  for (const id of wanted) {
    // The root is above itself, and so never its own child.
    if (above.has(id)) continue
    edges.append(decomposeEdge(ids.fresh(), head.planId, head.rootId, id), 'plan.root_child')
  }
}

function isDecomposeOf(edge: Draft, parentId: string): boolean {
  return edge.get('edge_type') === 'DECOMPOSE' && edge.get('from_task_id') === parentId
}

function arcOf(edge: Draft): TypedArc {
  const type = edge.get('edge_type')
  // `assignEdgeIds` has made both ends strings.
  const [from, to] = [edge.get('from_task_id') as string, edge.get('to_task_id') as string]
  return { from, to, type, isAnd: type === 'DECOMPOSE' && isAnd(edge) }
}

/** Each id once, in the order of the nodes. */
function nodeIds(nodes: Items): ReadonlySet<string> {
  return new Set(nodes.drafts.map((node) => node.get('task_id') as string))
}

function isRootDependency({ from, to, type }: TypedArc, rootId: string): boolean {
  return type === 'DEPENDS_ON' && to === rootId && from !== rootId
}

/**
 * The members of a chain that the root could be done without, in the order of the nodes. A member
 * is what follows START or precedes END along DEPENDS_ON and DECOMPOSE; ALTERNATIVE leads to what
 * may be done instead, which is no member by that alone.
 */
function missingMembers(
  order: ReadonlySet<string>,
  arcs: readonly TypedArc[],
  [chain, prerequisites]: readonly [Chain, ReadonlySet<string>],
  rootId: string,
): readonly string[] {
  const flow = arcs.filter(({ type }) => type !== 'ALTERNATIVE')
  const after = reachable(flow, chain.entries)
  const before = reachable(reversed(flow), chain.exits)
  // A planner that decomposes the root by OR has said that it can be done without some of its parts.
  const isOr = arcs.some(
    ({ from, type, isAnd: isBoth }) => from === rootId && type === 'DECOMPOSE' && !isBoth,
  )
  const parts = arcs.filter(({ type, isAnd: isBoth }) => (isOr ? type === 'DECOMPOSE' : isBoth))
  const covered = reachable(parts, [rootId])
  const missing = [...order].filter(
    (id) => !covered.has(id) && (after.has(id) || before.has(id) || prerequisites.has(id)),
  )
  return withoutDescendants(missing, parts)
}

/** Leaves out what another of the ids is decomposed into: the root reaches it through that one. */
function withoutDescendants(ids: readonly string[], parts: readonly Arc[]): readonly string[] {
  const among = new Set(ids)
  const children = new Set<string>()
  for (const { from, to } of parts) if (among.has(from) && from !== to) children.add(to)
  const tops = ids.filter((id) => !children.has(id))
  const covered = reachable(parts, tops)
  // What no top reaches is a ring of its own; each of its ids is taken.
  return ids.filter((id) => !children.has(id) || !covered.has(id))
}
