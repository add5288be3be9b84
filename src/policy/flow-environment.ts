/**
 * What guards, policies and invariants of a flow may speak of: `state`, `event`, `node`, `edge`. The
 * host's state fields have the types of seed 004 §3.2; the flow's own fields those it declares.
 */
import {
  type Flow,
  flowContract,
  type HostField,
  nodeOf,
  type StateField,
  VALIDATOR_VERDICTS,
} from '../contracts/index.ts'
import type { Environment, ObjectType, ValueType } from '../expression/index.ts'
import { typeOfSchema } from './schema-type.ts'

const HOST_TYPES: Readonly<Record<HostField, ValueType>> = {
  phase_id: 'string',
  subphase_id: { nullable: 'string' },
  attempt_count: 'int',
  cumulative_duration: 'double',
  minimum_duration: 'double',
  validator_verdict: { words: VALIDATOR_VERDICTS },
  gate_passed: 'bool',
  required_files_exist: 'bool',
  tool_calls: 'int',
  rejection_count: 'int',
  score: { nullable: 'double' },
  previous_output_path: { nullable: 'string' },
  log_updated_after_phase: 'bool',
  non_time_issue: 'bool',
  phase_completed: 'bool',
}

const EVENT: ObjectType = {
  fields: {
    type: 'string',
    phase_start: 'bool',
    phase_end: 'bool',
    subphase_end: 'bool',
    transition: 'bool',
    attempt_end: 'bool',
    edge_id: { nullable: 'string' },
    node_id: { nullable: 'string' },
    /** ISO 8601. */
    at: 'string',
  },
}

export function flowEnvironment(flow: Pick<Flow, 'state'>): Environment {
  const own = Object.entries(flow.state?.fields ?? {}).map(
    ([name, { type }]: [string, StateField]): [string, ValueType] => [name, type],
  )
  // The schema of a flow is an object.
  const document = typeOfSchema(nodeOf(flowContract.schema)) as ObjectType
  return {
    variables: {
      // The contract refuses a field of the flow that has the name of one of the host's.
      state: { fields: { ...Object.fromEntries(own), ...HOST_TYPES } },
      event: EVENT,
      node: itemOf(document, 'nodes'),
      edge: itemOf(document, 'edges'),
    },
  }
}

function itemOf(document: ObjectType, list: 'nodes' | 'edges'): ValueType {
  const type = document.fields[list]
  return typeof type === 'object' && 'list' in type ? type.list : 'any'
}
