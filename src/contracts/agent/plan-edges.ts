/**
 * Edges of a plan under repair (seed 001 §3): aliases, types, metadata. CHILD_OF is a DECOMPOSE
 * seen from the child, so its ends are swapped; where the ends were given as `parent_id` and
 * `child_id` they say themselves which is which.
 */
import { field, isObject, type JsonObject } from '../kernel/contract.ts'
import { type Items, ObjectDraft } from './draft.ts'
import { isBlank, readWord } from './loose-values.ts'
import { EDGE_TYPES } from './plan.ts'
import { type Ids, idText, type PlanTop } from './plan-head.ts'

const FROM_ALIASES = ['from', 'from_id', 'source', 'src', 'parent_id'] as const
const TO_ALIASES = ['to', 'to_id', 'target', 'tgt', 'child_id'] as const

const TYPE_WORDS: ReadonlyMap<string | null, string> = new Map([
  ...EDGE_TYPES.map((name) => [name, name] as const),
  ...[
    'DEPEND',
    'DEPENDS',
    'DEPEND_ON',
    'DEPENDS-ON',
    'DEPENDS ON',
    'REQUIRES',
    'PREREQ',
    'PREREQUISITE',
  ].map((word) => [word, 'DEPENDS_ON'] as const),
  ...['DECOMPOSITION', 'BREAKDOWN', 'CHILD_OF'].map((word) => [word, 'DECOMPOSE'] as const),
  ...['ALT', 'ALTERNATE'].map((word) => [word, 'ALTERNATIVE'] as const),
])

const AUTO_GROUP = 'AUTO_GROUP_1'

export function readEdgeAliases(edge: ObjectDraft): void {
  edge.rename('edge_id', ['id'], 'plan.edge_alias')
  const from = edge.rename('from_task_id', FROM_ALIASES, 'plan.edge_alias')
  const to = edge.rename('to_task_id', TO_ALIASES, 'plan.edge_alias')
  edge.rename('edge_type', ['type', 'relation', 'relation_type', 'kind'], 'plan.edge_alias')
  edge.rename('metadata', ['meta'], 'plan.edge_alias')
  if (readWord(edge.get('edge_type')) !== 'CHILD_OF') return
  edge.set('edge_type', 'DECOMPOSE', 'plan.edge_type')
  if (from === 'parent_id' && to === 'child_id') return
  const [child, parent] = [edge.get('from_task_id') ?? null, edge.get('to_task_id') ?? null]
  edge.set('from_task_id', parent, 'plan.child_of')
  edge.set('to_task_id', child, 'plan.child_of')
}

/** The type that the edge has, or is going to have. */
function edgeTypeOf(edge: ObjectDraft): string {
  return TYPE_WORDS.get(readWord(edge.get('edge_type'))) ?? 'DEPENDS_ON'
}

/** `edgeIds` are apart from the ids of tasks: an edge and a task may be called alike. */
export function assignEdgeIds(
  edge: ObjectDraft,
  { planId }: PlanTop,
  ids: Ids,
  edgeIds: Ids,
): void {
  edge.set('edge_id', edgeIds.require(edge.get('edge_id')), 'plan.id')
  edge.set('plan_id', planId, 'plan.plan_id')
  edge.set('from_task_id', ids.require(edge.get('from_task_id')), 'plan.id')
  edge.set('to_task_id', ids.require(edge.get('to_task_id')), 'plan.id')
}

export function repairEdge(edge: ObjectDraft): void {
  const type = edgeTypeOf(edge)
  edge.set('edge_type', type, 'plan.edge_type')
  if (!isObject(edge.get('metadata'))) edge.set('metadata', {}, 'plan.metadata')
  if (type === 'DECOMPOSE') {
    const word = readWord(field(edge.get('metadata'), 'and_or'))
    setMetadata(edge, 'and_or', word === 'OR' ? 'OR' : 'AND', 'plan.and_or')
  }
  if (type === 'ALTERNATIVE' && isBlank(field(edge.get('metadata'), 'group_id'))) {
    setMetadata(edge, 'group_id', AUTO_GROUP, 'plan.group_id')
  }
}

/** Whether the edge says AND, or nothing that will be read as anything else. */
export function isAnd(edge: ObjectDraft): boolean {
  return readWord(field(edge.get('metadata'), 'and_or')) !== 'OR'
}

/** Makes of an edge the statement that its parent cannot be done without its child. */
function makeDecompose(edge: ObjectDraft, parentId: string, rule: string): void {
  edge.set('from_task_id', parentId, rule)
  edge.set('edge_type', 'DECOMPOSE', rule)
  if (!isObject(edge.get('metadata'))) edge.set('metadata', {}, rule)
  setMetadata(edge, 'and_or', 'AND', rule)
}

export function decomposeEdge(
  edgeId: string,
  planId: string,
  parentId: string,
  childId: string,
): JsonObject {
  return {
    edge_id: edgeId,
    plan_id: planId,
    from_task_id: parentId,
    to_task_id: childId,
    edge_type: 'DECOMPOSE',
    metadata: { and_or: 'AND' },
  }
}

function metadataOf(edge: ObjectDraft): JsonObject {
  const metadata = edge.get('metadata')
  return isObject(metadata) ? metadata : {}
}

function setMetadata(edge: ObjectDraft, name: string, value: string, rule: string): void {
  const inner = new ObjectDraft(metadataOf(edge), `${edge.path}/metadata`, edge.repairs)
  inner.set(name, value, rule)
  edge.replace('metadata', inner.object)
}

const STARTS: ReadonlySet<string> = new Set(['START', 'BEGIN'])
const ENDS: ReadonlySet<string> = new Set(['END', 'FINISH', 'STOP'])

/** Where a chain entered and left the plan, as ids of tasks; both empty when there was none. */
export interface PlanChain {
  /** The edges that ran from START, and now run from the root. */
  readonly rewritten: ReadonlySet<ObjectDraft>
  readonly entries: ReadonlySet<string>
  readonly exits: ReadonlySet<string>
}

/**
 * START … END chains of planners that draw a flow instead of a tree (seed 001 §3). START and END are
 * no tasks: their nodes go, edges into END are dropped, an edge from START says that the root is
 * decomposed into what follows. What remains of the chain is remembered, so that `plan-root.ts` can
 * see to it that the root cannot be done without any member of it.
 */
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
