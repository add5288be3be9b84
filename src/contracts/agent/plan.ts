/**
 * `plan_json_v1`: the graph of tasks that a planner answers with (seed 001 §3, C-6d): a plan, its
 * nodes, its edges and, if there are any, requirements. Open: unknown keys are kept and not judged.
 *
 * DEPENDS_ON runs from the prerequisite to the dependent, DECOMPOSE from the parent to the child.
 */
import * as Type from 'typebox'
import { GRAPH_LIMITS, isUuid, show, showName } from '../../base/index.ts'
import { type Contract, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { type Arc, closingArcs } from './graph.ts'
import { isBlank, isIsoTime } from './loose-values.ts'
import { idText, ownersOf } from './plan-head.ts'

export const PLAN_VERSION = 'plan_json_v1'
export const NODE_TYPES = ['GOAL', 'ACTION', 'CHECK'] as const
export const EDGE_TYPES = ['DECOMPOSE', 'DEPENDS_ON', 'ALTERNATIVE'] as const
export const REQUIREMENT_KINDS = ['FILE', 'CONFIRMATION', 'SKILL_OUTPUT'] as const
export const REQUIREMENT_SOURCES = ['USER', 'AGENT', 'ANY'] as const

const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  'x-says': 'a UUID',
})

const PlanHead = Type.Object({
  plan_id: Uuid,
  title: Type.String(),
  root_task_id: Uuid,
  created_at: Type.String(),
  owner_agent_id: Type.String(),
  constraints: Type.Object({}),
})

const PlanNode = Type.Object({
  task_id: Uuid,
  plan_id: Uuid,
  node_type: Type.Enum([...NODE_TYPES]),
  title: Type.String(),
  owner_agent_id: Type.String(),
  priority: Type.Integer(),
  tags: Type.Array(Type.String()),
})

const PlanEdge = Type.Object({
  edge_id: Uuid,
  plan_id: Uuid,
  from_task_id: Uuid,
  to_task_id: Uuid,
  edge_type: Type.Enum([...EDGE_TYPES]),
  metadata: Type.Object({}),
})

/** Seed 001 §3 asks of a requirement only that it is an object; what it does say must make sense. */
const Requirement = Type.Object({
  name: Type.Optional(Type.String()),
  kind: Type.Optional(Type.Enum([...REQUIREMENT_KINDS])),
  source: Type.Optional(Type.Enum([...REQUIREMENT_SOURCES])),
  required: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1), Type.Boolean()])),
  min_count: Type.Optional(Type.Integer({ minimum: 1 })),
  allowed_types: Type.Optional(Type.Array(Type.String())),
})

const PlanJsonSchema = Type.Object({
  schema_version: Type.Optional(Type.Literal(PLAN_VERSION, { 'x-code': 'version' })),
  plan: PlanHead,
  nodes: Type.Array(PlanNode),
  edges: Type.Array(PlanEdge),
  requirements: Type.Optional(Type.Array(Requirement)),
})

export type PlanJson = Type.Static<typeof PlanJsonSchema>

export const planJson: Contract = {
  name: PLAN_VERSION,
  title: 'The graph of tasks that a planner answers with.',
  prefix: 'plan',
  schema: PlanJsonSchema,
  checks: [checkPlan, checkGraph],
  limits: GRAPH_LIMITS,
  isRecord: false,
}

/**
 * The strict checks of a plan (seed 001 §3): what a schema cannot express. Ids are compared as they
 * are written. A duplicate id is reported at its second place, a cycle at each edge that closes one.
 * The head: its time, and who owns the plan and its nodes.
 */
function checkPlan({ document, context, report }: Subject): void {
  const plan = field(document, 'plan')
  const created = field(plan, 'created_at')
  if (typeof created === 'string' && !isIsoTime(created)) {
    const found = show(created, '/plan/created_at')
    report.add('plan.field_type', '/plan/created_at', `expected an ISO 8601 time, found ${found}`)
  }
  const owners = ownersOf(context)
  const judgeOwner = (owned: unknown, path: string): void => {
    const owner = field(owned, 'owner_agent_id')
    if (typeof owner !== 'string' || owners.names.has(owner)) return
    const place = `${path}/owner_agent_id`
    const hint = report.guess(owner, owners.names)
    report.add('plan.enum', place, `no agent is called ${show(owner, place)}`, hint)
  }
  judgeOwner(plan, '/plan')
  const nodes = elements(field(document, 'nodes'))
  for (let index = 0; index < nodes.length; index++) judgeOwner(nodes[index], `/nodes/${index}`)
}

/** Everything about ids and edges. */
function checkGraph({ document, report }: Subject): void {
  const plan = field(document, 'plan')
  const nodes = elements(field(document, 'nodes'))
  const edges = elements(field(document, 'edges'))
  const places = indexIds(nodes, 'nodes', 'task_id', report)
  indexIds(edges, 'edges', 'edge_id', report)
  for (const name of ['nodes', 'edges'] as const) {
    checkPlanIds(field(plan, 'plan_id'), elements(field(document, name)), name, report)
  }
  checkRoot(field(plan, 'root_task_id'), nodes, places, report)
  checkLooseIds(nodes, 'nodes', 'review_target_task_id', report)
  checkReferences(nodes, 'nodes', 'review_target_task_id', places, report)
  checkReferences(edges, 'edges', 'from_task_id', places, report)
  checkReferences(edges, 'edges', 'to_task_id', places, report)
  const requirements = elements(field(document, 'requirements'))
  checkLooseIds(requirements, 'requirements', 'task_id', report)
  checkReferences(requirements, 'requirements', 'task_id', places, report)
  checkDecompose(edges, report)
  checkAlternative(edges, report)
  checkCycles(edges, report)
}

/** Returns the first place of each id. Reports an id that occurs again. */
function indexIds(
  items: readonly unknown[],
  list: 'nodes' | 'edges',
  name: string,
  report: Report,
): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (let index = 0; index < items.length; index++) {
    const id = field(items[index], name)
    if (typeof id !== 'string') continue
    const first = places.get(id)
    if (first === undefined) {
      places.set(id, index)
      continue
    }
    const place = `/${list}/${index}/${name}`
    report.add('plan.duplicate_id', place, `${show(id, place)} is the id of ${list} ${first} too`)
  }
  return places
}

function checkPlanIds(
  planId: unknown,
  items: readonly unknown[],
  list: 'nodes' | 'edges',
  report: Report,
): void {
  if (typeof planId !== 'string') return
  for (let index = 0; index < items.length; index++) {
    const id = field(items[index], 'plan_id')
    if (typeof id !== 'string' || id === planId) continue
    const place = `/${list}/${index}/plan_id`
    const message = `${show(id, place)} is not the id of this plan, ${show(planId, '')}`
    report.add('plan.unknown_ref', place, message)
  }
}

function checkRoot(
  rootId: unknown,
  nodes: readonly unknown[],
  places: ReadonlyMap<string, number>,
  report: Report,
): void {
  if (typeof rootId !== 'string') return
  const index = places.get(rootId)
  if (index === undefined) {
    const place = '/plan/root_task_id'
    report.add('plan.root', place, `no node has the id of the root, ${show(rootId, place)}`)
    return
  }
  const type = field(nodes[index], 'node_type')
  if (type === 'GOAL' || typeof type !== 'string') return
  const place = `/nodes/${index}/node_type`
  report.add('plan.root', place, `the root is a GOAL, found ${show(type, place)}`, 'write `GOAL`')
}

function checkReferences(
  items: readonly unknown[],
  list: 'nodes' | 'edges' | 'requirements',
  name: string,
  places: ReadonlyMap<string, number>,
  report: Report,
): void {
  for (let index = 0; index < items.length; index++) {
    const id = field(items[index], name)
    // A blank string names nothing; another check has reported that it is no UUID.
    if (typeof id !== 'string' || places.has(id) || isBlank(id)) continue
    const place = `/${list}/${index}/${name}`
    report.add('plan.unknown_ref', place, `no node has the id ${show(id, place)}`)
  }
}

/** References that need not be there: only what names something is judged, and then it is a UUID. */
function checkLooseIds(
  items: readonly unknown[],
  list: 'nodes' | 'requirements',
  name: string,
  report: Report,
): void {
  for (let index = 0; index < items.length; index++) {
    const id = field(items[index], name)
    if (idText(id) === null || (typeof id === 'string' && isUuid(id))) continue
    const place = `/${list}/${index}/${name}`
    report.add('plan.field_type', place, `expected a UUID, found ${show(id, place)}`)
  }
}

/** AND or OR, absent meaning AND, and the same for all children of one parent. */
function checkDecompose(edges: readonly unknown[], report: Report): void {
  const byParent = new Map<unknown, unknown>()
  for (let index = 0; index < edges.length; index++) {
    const metadata = field(edges[index], 'metadata')
    if (field(edges[index], 'edge_type') !== 'DECOMPOSE' || !isObject(metadata)) continue
    const place = `/edges/${index}/metadata/and_or`
    const word = Object.hasOwn(metadata, 'and_or') ? metadata['and_or'] : 'AND'
    if (word !== 'AND' && word !== 'OR') {
      report.add('plan.and_or', place, `expected AND or OR, found ${show(word, place)}`)
      continue
    }
    const parent = field(edges[index], 'from_task_id')
    const first = byParent.get(parent) ?? word
    byParent.set(parent, first)
    if (first === word) continue
    const message = `the first DECOMPOSE edge of this parent says ${showName(String(first))}, this one ${showName(word)}`
    report.add('plan.and_or', place, message)
  }
}

function checkAlternative(edges: readonly unknown[], report: Report): void {
  for (let index = 0; index < edges.length; index++) {
    const metadata = field(edges[index], 'metadata')
    if (field(edges[index], 'edge_type') !== 'ALTERNATIVE' || !isObject(metadata)) continue
    if (!isBlank(field(metadata, 'group_id'))) continue
    const place = `/edges/${index}/metadata/group_id`
    report.add('plan.group_id', place, 'an ALTERNATIVE edge names the group it belongs to')
  }
}

/** Reports cycles in the graph of all edges. The type of an edge does not matter. */
function checkCycles(edges: readonly unknown[], report: Report): void {
  const arcs: Arc[] = []
  const indices: number[] = []
  for (let index = 0; index < edges.length; index++) {
    const from = field(edges[index], 'from_task_id')
    const to = field(edges[index], 'to_task_id')
    if (typeof from !== 'string' || typeof to !== 'string') continue
    arcs.push({ from, to })
    indices.push(index)
  }
  for (const closing of closingArcs(arcs)) {
    const place = `/edges/${indices[closing]}`
    const { from, to } = arcs[closing] as Arc // `closingArcs` returns indices of `arcs`.
    const message = `the edge from ${show(from, place)} to ${show(to, place)} closes a cycle`
    report.add('plan.cycle', place, message, 'remove or turn one edge of the cycle')
  }
}
