/**
 * `plan_json_v1`: the graph of tasks that a planner answers with (seed 001 §3, C-6d): a plan, its
 * nodes, its edges and, if there are any, requirements. Open: unknown keys are kept and not judged.
 *
 * DEPENDS_ON runs from the prerequisite to the dependent, DECOMPOSE from the parent to the child.
 */
import * as Type from 'typebox'
import { GRAPH_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { checkGraph, checkPlan } from './plan-checks.ts'

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
