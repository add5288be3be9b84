/**
 * START … END chains of planners that draw a flow instead of a tree (seed 001 §3). START and END are
 * no tasks: their nodes go, edges into END are dropped, an edge from START says that the root is
 * decomposed into what follows. What remains of the chain is remembered, so that `plan-root.ts` can
 * see to it that the root cannot be done without any member of it.
 */
import type { ObjectDraft } from './draft.ts'
import type { Items } from './items.ts'
import { edgeTypeOf, isAnd, makeDecompose } from './plan-edges.ts'
import { type Ids, idText } from './plan-ids.ts'

const STARTS: ReadonlySet<string> = new Set(['START', 'BEGIN'])
const ENDS: ReadonlySet<string> = new Set(['END', 'FINISH', 'STOP'])

/** Where a chain entered and left the plan, as ids of tasks; both empty when there was none. */
export interface PlanChain {
  /** The edges that ran from START, and now run from the root. */
  readonly rewritten: ReadonlySet<ObjectDraft>
  readonly entries: ReadonlySet<string>
  readonly exits: ReadonlySet<string>
}

export function isMark(id: unknown): boolean {
  return isIn(STARTS, id) || isIn(ENDS, id)
}

function isIn(words: ReadonlySet<string>, id: unknown): boolean {
  const text = idText(id)
  return text !== null && words.has(text.toUpperCase())
}

export function dropMarks(nodes: Items): void {
  nodes.filter((node) => !isMark(node.get('task_id')), 'plan.chain_node')
}

export function cutChain(edges: Items, rootId: string, ids: Ids): PlanChain {
  const entries = new Set<string>()
  const exits = new Set<string>()
  const rewritten = new Set<ObjectDraft>()
  const children = partsOfRoot(edges.drafts, rootId, ids)
  edges.filter((edge) => {
    const [from, to] = [edge.get('from_task_id'), edge.get('to_task_id')]
    if (isIn(ENDS, to) && !isMark(from)) addId(exits, ids.resolve(from))
    if (isMark(to) || isIn(ENDS, from)) return false
    if (!isIn(STARTS, from)) return true
    // An end that names nothing gets its id here, so that it can be remembered.
    const target = ids.require(to)
    edge.set('to_task_id', target, 'plan.id')
    entries.add(target)
    if (target === rootId || children.has(target)) return false
    children.add(target)
    makeDecompose(edge, rootId, 'plan.chain_entry')
    rewritten.add(edge)
    return true
  }, 'plan.chain_edge')
  return { rewritten, entries, exits }
}

function addId(ids: Set<string>, id: string | null): void {
  if (id !== null) ids.add(id)
}

/** What the root is decomposed into already, by AND: saying it twice would add nothing. */
function partsOfRoot(edges: readonly ObjectDraft[], rootId: string, ids: Ids): Set<string> {
  const parts = new Set<string>()
  for (const edge of edges) {
    if (edgeTypeOf(edge) !== 'DECOMPOSE' || !isAnd(edge)) continue
    if (ids.resolve(edge.get('from_task_id')) === rootId) {
      addId(parts, ids.resolve(edge.get('to_task_id')))
    }
  }
  return parts
}
