/**
 * `flow_v1`: a graph that can only be walked by the rules (F-1a). The one form that plans and
 * edge tables compile to.
 *
 * Deliberately absent: whether expressions parse, whether every node can be reached, which way is
 * forward. Those belong to the room that walks a flow.
 */
import * as Type from 'typebox'
import { GRAPH_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import {
  checkClaimNodes,
  checkEdgeEnds,
  checkInputs,
  checkJoins,
  checkRefs,
  checkTargets,
  checkUniqueIds,
} from './graph-checks.ts'
import { checkPolicyConflicts } from './policy-conflicts.ts'
import { checkBuiltIns, checkStateNames } from './rule-checks.ts'
import {
  AccessRuleSchema,
  BudgetsSchema,
  ClaimSchema,
  closed,
  guardFields,
  InvariantSchema,
  Name,
  nodeFields,
  PolicySchema,
  StateFieldsSchema,
  TableSchema,
  TextPolicySchema,
  Words,
} from './shapes.ts'
import { EDGE_CLASSES } from './vocabulary.ts'

const FlowNodeSchema = Type.Object({ node_id: Name, ...nodeFields }, closed)

/**
 * `columns` keeps what an imported table says and a flow does not, so that export gives it back; `row`
 * the text of its row where the table's usual way of writing would not give the same bytes.
 */
const FlowEdgeSchema = Type.Object(
  {
    edge_id: Name,
    source: Name,
    target: Name,
    class: Type.Enum([...EDGE_CLASSES]),
    label: Type.Optional(Type.String()),
    ...guardFields,
    columns: Type.Optional(
      Type.Unsafe<Readonly<Record<string, string>>>(
        Type.Object({}, { additionalProperties: Type.String() }),
      ),
    ),
    row: Type.Optional(Type.String()),
  },
  closed,
)

const FlowSchema = Type.Object(
  {
    type: Type.Literal('flow_v1', { 'x-code': 'type_const' }),
    flow_id: Name,
    title: Type.String(),
    goal: Type.Optional(Type.String()),
    constraints: Type.Optional(Words),
    nodes: Type.Array(FlowNodeSchema),
    edges: Type.Array(FlowEdgeSchema),
    state: Type.Optional(Type.Object({ fields: StateFieldsSchema }, closed)),
    policies: Type.Optional(Type.Array(PolicySchema)),
    text_policies: Type.Optional(Type.Array(TextPolicySchema)),
    access_rules: Type.Optional(Type.Array(AccessRuleSchema)),
    claims: Type.Optional(Type.Array(ClaimSchema)),
    invariants: Type.Optional(Type.Array(InvariantSchema)),
    budgets: Type.Optional(BudgetsSchema),
    table: Type.Optional(TableSchema),
  },
  closed,
)

export type Flow = Type.Static<typeof FlowSchema>
export type FlowNode = Type.Static<typeof FlowNodeSchema>
export type FlowEdge = Type.Static<typeof FlowEdgeSchema>

export const flowContract: Contract = {
  name: 'flow_v1',
  title: 'A graph of work, checks and goals, with the rules by which it may be walked.',
  prefix: 'flow',
  schema: FlowSchema,
  checks: [
    checkUniqueIds,
    checkEdgeEnds,
    checkTargets,
    checkInputs,
    checkJoins,
    checkRefs,
    checkClaimNodes,
    checkPolicyConflicts,
    checkStateNames,
    checkBuiltIns,
  ],
  limits: GRAPH_LIMITS,
  isRecord: false,
}
