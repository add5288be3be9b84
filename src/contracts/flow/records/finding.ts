/** `flow_finding_v1`: something in a run is not as it has to be, and what was done about it. */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../../base/index.ts'
import type { Contract } from '../../kernel/contract.ts'
import { AnyObject, checkMoment, closed, head, Name } from './shapes.ts'
import { FINDING_ACTIONS, FINDING_CODES } from './vocabulary.ts'

const FlowFindingSchema = Type.Object(
  {
    ...head,
    code: Type.Enum([...FINDING_CODES]),
    node_id: Type.Optional(Name),
    edge_id: Type.Optional(Name),
    policy_id: Type.Optional(Name),
    invariant_id: Type.Optional(Name),
    claim_id: Type.Optional(Name),
    action: Type.Enum([...FINDING_ACTIONS]),
    values: AnyObject,
  },
  closed,
)

export type FlowFinding = Type.Static<typeof FlowFindingSchema>

export const flowFinding: Contract = {
  name: 'flow_finding_v1',
  title: 'Something in a run is not as it has to be.',
  prefix: 'flow_record',
  schema: FlowFindingSchema,
  checks: [checkMoment],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
