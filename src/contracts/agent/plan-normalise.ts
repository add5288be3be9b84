/**
 * Normalisation of plans (seed 001 §3). Later steps rely on earlier ones: head, lists, aliases,
 * START … END, ids, missing nodes, fields, the root's children. It repairs every mistake that it can
 * repair without guessing. Duplicate ids, tasks that wait for themselves, and parents that say both
 * AND and OR are left for validation to refuse.
 */
import { at, GRAPH_LIMITS } from '../../base/index.ts'
import type { Normalise, Sources } from '../kernel/contract.ts'
import { elements, isObject } from '../kernel/contract.ts'
import { Items, ObjectDraft, Repairs } from './draft.ts'
import { assignEdgeIds, cutChain, dropMarks, readEdgeAliases, repairEdge } from './plan-edges.ts'
import { Ids, type PlanTop, readHead } from './plan-head.ts'
import {
  addMissingNodes,
  assignNodeIds,
  assignRequirementTask,
  readNodeAliases,
  repairNode,
  repairRequirement,
} from './plan-nodes.ts'
import { attachRoot } from './plan-root.ts'

/** The names that each list may have; the first is its own. */
const LISTS = {
  nodes: ['nodes', 'tasks', 'task_nodes', 'items'],
  edges: ['edges', 'links', 'deps', 'dependencies', 'task_edges'],
  requirements: ['requirements', 'inputs', 'input_requirements', 'requirements_list'],
} as const

/** How many values a complete node and a complete edge have at least. */
const NODE_VALUES = 8
const EDGE_VALUES = 7

interface Graph {
  readonly nodes: Items
  readonly edges: Items
  readonly requirements: Items
}

export const normalisePlan: Normalise = (raw, context, sources) => {
  const repairs = new Repairs()
  if (!isObject(raw)) return { document: null, repairs: repairs.list }
  const document = new ObjectDraft(raw, '', repairs)
  // Made whole, such a plan would be over the limits of its contract, and is refused as it is.
  const untouched = { document: raw, repairs: [], isOutgrown: true } as const
  if (!mayFit(countOf(document, 'nodes'), countOf(document, 'edges'))) return untouched
  const ids = new Ids(sources, 'task')
  const head = readHead(document, context, sources, ids)
  const graph: Graph = {
    nodes: openList(document, 'nodes'),
    edges: openList(document, 'edges'),
    requirements: openList(document, 'requirements'),
  }
  if (!repairGraph(graph, head, ids, sources)) return untouched
  for (const items of Object.values(graph)) items.close()
  return { document: document.object, repairs: repairs.list }
}

function mayFit(nodes: number, edges: number): boolean {
  return nodes * NODE_VALUES + edges * EDGE_VALUES <= GRAPH_LIMITS.valuesMax
}

function countOf(document: ObjectDraft, name: keyof typeof LISTS): number {
  const key = keyOf(document, name)
  return key === null ? 0 : elements(document.get(key)).filter(isObject).length
}

/** The name under which the document has the list: the first that holds a list at all. */
function keyOf(document: ObjectDraft, name: keyof typeof LISTS): string | null {
  return LISTS[name].find((key) => Array.isArray(document.get(key))) ?? null
}

function openList(document: ObjectDraft, name: keyof typeof LISTS): Items {
  const key = keyOf(document, name)
  if (key !== null && key !== name) {
    const given = document.get(name)
    if (given !== undefined) {
      document.repairs.add('plan.container_dropped', at('', name), given, null)
    }
    document.move(key, name, 'plan.container')
  }
  // Requirements are optional: their absence is no gap.
  if (key === null && (name !== 'requirements' || document.has(name))) {
    document.set(name, [], 'plan.container')
  }
  return new Items(document, name, elements(document.get(name)))
}

/** False when the plan turns out to be too large with the nodes that it speaks of and lacks. */
function repairGraph(graph: Graph, head: PlanTop, ids: Ids, sources: Sources): boolean {
  const { nodes, edges, requirements } = graph
  for (const node of nodes.drafts) readNodeAliases(node)
  for (const edge of edges.drafts) readEdgeAliases(edge)
  dropMarks(nodes)
  for (const node of nodes.drafts) assignNodeIds(node, head, ids)
  const chain = cutChain(edges, head.rootId, ids)
  const edgeIds = new Ids(sources, 'edge')
  for (const edge of edges.drafts) assignEdgeIds(edge, head, ids, edgeIds)
  for (const requirement of requirements.drafts) assignRequirementTask(requirement, head, ids)
  const referred = new Set(referredIds(graph))
  if (!mayFit(referred.size, edges.drafts.length)) return false
  addMissingNodes(nodes, referred, head)
  for (const [index, node] of nodes.drafts.entries()) repairNode(node, index, head)
  for (const edge of edges.drafts) repairEdge(edge)
  attachRoot(nodes, edges, chain, head, ids)
  for (const [index, requirement] of requirements.drafts.entries()) {
    repairRequirement(requirement, index)
  }
  return true
}

/** The tasks that edges and requirements speak of, in that order. */
function* referredIds({ edges, requirements }: Graph): Iterable<string> {
  for (const edge of edges.drafts) {
    for (const name of ['from_task_id', 'to_task_id']) yield edge.get(name) as string
  }
  for (const requirement of requirements.drafts) {
    const id = requirement.get('task_id')
    if (typeof id === 'string' && id.trim() !== '') yield id
  }
}
