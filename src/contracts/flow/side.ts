/**
 * `flow_side_v1`: what an edge table cannot say (seed 004 §4, F-1d). Every part is
 * optional, the examples of the seed are valid as they are, and nothing is looked up in the table,
 * which is another file: what the two say together is judged as a flow.
 */
import * as Type from 'typebox'
import { at, GRAPH_LIMITS } from '../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { reportRepeat, reportTargetKind, reportTargetOfOther } from './graph-checks.ts'
import { checkPolicyConflicts } from './policy-conflicts.ts'
import { checkBuiltIns, checkStateNames } from './rule-checks.ts'
import {
  AccessRuleSchema,
  BudgetsSchema,
  claimFields,
  closed,
  guardFields,
  InvariantSchema,
  Name,
  nodeFields,
  PolicySchema,
  StateFieldsSchema,
  TextPolicySchema,
  Words,
} from './shapes.ts'
import { EDGE_CLASSES, VALIDATOR_VERDICTS } from './vocabulary.ts'

/** Seed 004 §3.2 writes types where values will be: `tool_calls: integer`. */
const Text = Type.String()
const TextOrNull = Type.Union([Type.String(), Type.Null()])
const Whole = Type.Union([Type.Integer(), Type.Literal('integer')])
const Amount = Type.Union([Type.Number(), Type.Literal('number')])
const AmountOrNull = Type.Union([Type.Number(), Type.Null(), Type.Literal('number|null')])
const Truth = Type.Union([Type.Boolean(), Type.Literal('boolean')])
const Verdict = Type.Enum([...VALIDATOR_VERDICTS, VALIDATOR_VERDICTS.join('|')])

/** The fields that the host keeps may be written down; their values are the host's all the same. */
const stateFields = {
  fields: StateFieldsSchema,
  phase_id: Text,
  subphase_id: TextOrNull,
  attempt_count: Whole,
  cumulative_duration: Amount,
  minimum_duration: Amount,
  validator_verdict: Verdict,
  gate_passed: Truth,
  required_files_exist: Truth,
  tool_calls: Whole,
  rejection_count: Whole,
  score: AmountOrNull,
  previous_output_path: TextOrNull,
  log_updated_after_phase: Truth,
  non_time_issue: Truth,
  phase_completed: Truth,
}

/** Making an object partial drops its options, so the parts are taken and closed again. */
const SideStateSchema = Type.Object(Type.Partial(Type.Object(stateFields)).properties, closed)

const SideNodeSchema = Type.Object(
  { ...Type.Partial(Type.Object(nodeFields)).properties, node_id: Name },
  closed,
)

const SideEdgeSchema = Type.Object(
  {
    affected_edge: Name,
    v2_primary_class: Type.Optional(
      Type.String({
        pattern: `^(?:${EDGE_CLASSES.join('|')})`,
        'x-code': { pattern: 'enum' },
        'x-says': `a class that begins with one of ${EDGE_CLASSES.join(', ')}`,
      }),
    ),
    ...guardFields,
  },
  closed,
)

const SideClaimSchema = Type.Object(
  { ...claimFields, node_id: Type.Optional(Name), actor: Type.Optional(Name) },
  closed,
)

const FlowSideSchema = Type.Object(
  {
    type: Type.Optional(Type.Literal('flow_side_v1', { 'x-code': 'type_const' })),
    flow_id: Type.Optional(Name),
    title: Type.Optional(Type.String()),
    goal: Type.Optional(Type.String()),
    constraints: Type.Optional(Words),
    state: Type.Optional(SideStateSchema),
    policies: Type.Optional(Type.Array(PolicySchema)),
    text_policies: Type.Optional(Type.Array(TextPolicySchema)),
    invariants: Type.Optional(Type.Array(InvariantSchema)),
    access_rules: Type.Optional(Type.Array(AccessRuleSchema)),
    access_rule: Type.Optional(Type.Union([AccessRuleSchema, Type.Array(AccessRuleSchema)])),
    claims: Type.Optional(Type.Array(SideClaimSchema)),
    claim_verification: Type.Optional(Type.Union([SideClaimSchema, Type.Array(SideClaimSchema)])),
    nodes: Type.Optional(Type.Array(SideNodeSchema)),
    edges: Type.Optional(Type.Array(SideEdgeSchema)),
    budgets: Type.Optional(BudgetsSchema),
  },
  closed,
)

export type FlowSide = Type.Static<typeof FlowSideSchema>

/** The id of every part that has one, with its pointer; `claim_verification` is one or a list. */
function* idsOf(
  document: Subject['document'],
): Iterable<[group: string, id: unknown, path: string]> {
  for (const [list, key, group] of SIDE_LISTS) {
    const part = document[list]
    const items = Array.isArray(part) ? part : [part]
    for (let index = 0; index < items.length; index++) {
      const place = Array.isArray(part) ? at(`/${list}`, index) : `/${list}`
      yield [group, field(items[index], key), at(place, key)]
    }
  }
}

const SIDE_LISTS = [
  ['nodes', 'node_id', 'node'],
  ['edges', 'affected_edge', 'edge'],
  ['policies', 'policy_id', 'policy'],
  ['text_policies', 'policy_id', 'policy'],
  ['invariants', 'invariant_id', 'invariant'],
  ['claims', 'claim_id', 'claim'],
  ['claim_verification', 'claim_id', 'claim'],
] as const

function checkUniqueIds({ document, report }: Subject): void {
  const seen = new Map<string, Set<string>>()
  for (const [group, id, path] of idsOf(document)) {
    const names = seen.get(group) ?? new Set()
    seen.set(group, names)
    if (typeof id === 'string') reportRepeat(names, id, path, report)
  }
}

/** A target may stand in the table alone; one whose kind is said here must be WORK. */
function checkTargets({ document, report }: Subject): void {
  const nodes = elements(document['nodes'])
  const kinds = new Map(nodes.map((node) => [field(node, 'node_id'), field(node, 'kind')]))
  for (let index = 0; index < nodes.length; index++) {
    const target = field(nodes[index], 'target')
    if (typeof target !== 'string') continue
    const path = `/nodes/${index}/target`
    reportTargetOfOther(field(nodes[index], 'kind'), path, report)
    reportTargetKind(target, kinds.get(target), path, report)
  }
}

export const flowSideContract: Contract = {
  name: 'flow_side_v1',
  title: 'State, policies, invariants and guards beside a table of edges.',
  prefix: 'flow',
  schema: FlowSideSchema,
  checks: [checkUniqueIds, checkTargets, checkPolicyConflicts, checkStateNames, checkBuiltIns],
  limits: GRAPH_LIMITS,
  isRecord: false,
}
