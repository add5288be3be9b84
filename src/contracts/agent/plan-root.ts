/**
 * What the root of a plan under repair is decomposed into (seed 001 §3), so that it is done when its
 * tasks are done, and not before.
 *
 * INVARIANT (no repair closes a cycle): no edge is added from the root to a task from which the root
 * can be reached. A DEPENDS_ON edge into the root says what DECOMPOSE says, and gives way to it.
 */
import type { Items, ObjectDraft } from './draft.ts'
import { type Arc, reachable, reversed } from './graph.ts'
import { decomposeEdge, isAnd, type PlanChain } from './plan-edges.ts'
import type { Ids, PlanTop } from './plan-head.ts'

interface TypedArc extends Arc {
  readonly type: unknown
  readonly isAnd: boolean
}

/** Ids and edges are repaired by now: every end is a string, every type one of the three. */
export function attachRoot(
  nodes: Items,
  edges: Items,
  chain: PlanChain,
  head: PlanTop,
  ids: Ids,
): void {
  const { rootId, planId } = head
  const isParent = () => edges.drafts.some((edge) => isDecomposeOf(edge, rootId))
  const hasChain = chain.entries.size + chain.exits.size > 0
  if (!hasChain && isParent()) return
  const arcs = edges.drafts.map(arcOf)
  const above = reachable(reversed(arcs.filter((arc) => !isRootDependency(arc, rootId))), [rootId])
  const members = membersOf(chain, arcs)
  for (const id of dropUpward(edges, chain, above, rootId)) members.add(id)
  // The root is above itself, and so never its own child.
  const below = nodeIds(nodes).filter((id) => !above.has(id))
  const wanted = isParent()
    ? dispensable(
        below.filter((id) => members.has(id)),
        edges.drafts.map(arcOf),
        rootId,
      )
    : below
  for (const id of wanted) {
    edges.append(decomposeEdge(ids.fresh(), planId, rootId, id), 'plan.root_child')
  }
}

/**
 * What follows START or precedes END along DEPENDS_ON and DECOMPOSE. ALTERNATIVE leads to what may
 * be done instead, which is no member by that alone.
 */
function membersOf(chain: PlanChain, arcs: readonly TypedArc[]): Set<string> {
  const flow = arcs.filter(({ type }) => type !== 'ALTERNATIVE')
  const members = new Set(reachable(flow, chain.entries))
  for (const id of reachable(reversed(flow), chain.exits)) members.add(id)
  return members
}

/**
 * Drops what would close a cycle with the root's children: dependencies of the root, whose other
 * ends are handed back to become its children, and edges from START to what is above the root. What
 * is above the root by another way too cannot become a part of it, and so its dependency stays.
 */
function dropUpward(
  edges: Items,
  chain: PlanChain,
  above: ReadonlySet<string>,
  rootId: string,
): ReadonlySet<string> {
  const prerequisites = new Set<string>()
  edges.filter((edge) => {
    const arc = arcOf(edge)
    if (!isRootDependency(arc, rootId) || above.has(arc.from)) return true
    prerequisites.add(arc.from)
    return false
  }, 'plan.root_dependency')
  edges.filter(
    (edge) => !chain.rewritten.has(edge) || !above.has(arcOf(edge).to),
    'plan.chain_edge',
  )
  return prerequisites
}

function isDecomposeOf(edge: ObjectDraft, parentId: string): boolean {
  return edge.get('edge_type') === 'DECOMPOSE' && edge.get('from_task_id') === parentId
}

function arcOf(edge: ObjectDraft): TypedArc {
  const type = edge.get('edge_type')
  // `assignEdgeIds` has made both ends strings.
  const [from, to] = [edge.get('from_task_id') as string, edge.get('to_task_id') as string]
  return { from, to, type, isAnd: type === 'DECOMPOSE' && isAnd(edge) }
}

/** Each id once, in the order of the nodes. */
function nodeIds(nodes: Items): readonly string[] {
  return [...new Set(nodes.drafts.map((node) => node.get('task_id') as string))]
}

function isRootDependency({ from, to, type }: TypedArc, rootId: string): boolean {
  return type === 'DEPENDS_ON' && to === rootId && from !== rootId
}

/** Those of `ids` that the root could be done without. */
function dispensable(
  ids: readonly string[],
  arcs: readonly TypedArc[],
  rootId: string,
): readonly string[] {
  // A planner that decomposes the root by OR has said that it can be done without some of its parts.
  const isOr = arcs.some(
    ({ from, type, isAnd: isBoth }) => from === rootId && type === 'DECOMPOSE' && !isBoth,
  )
  const parts = arcs.filter(({ type, isAnd: isBoth }) => (isOr ? type === 'DECOMPOSE' : isBoth))
  const covered = reachable(parts, [rootId])
  return withoutDescendants(
    ids.filter((id) => !covered.has(id)),
    parts,
  )
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
