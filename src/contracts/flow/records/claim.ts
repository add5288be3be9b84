/**
 * `flow_claim_v1` and `flow_evidence_v1`: a claim in a run, and evidence for or against it. The host
 * records principal and participant as it saw them; an answer cannot set them.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../../base/index.ts'
import type { Contract } from '../../kernel/contract.ts'
import { ClaimSchema, EvidenceSchema } from '../shapes.ts'
import { checkMoment, closed, head, Name, NameOrNull } from './shapes.ts'

const said = { principal: Name, participant: NameOrNull }

const FlowClaimSchema = Type.Object({ ...head, claim: ClaimSchema, ...said }, closed)

/** With a nonce it came as an event of its own, without one it stood in an answer. */
const FlowEvidenceSchema = Type.Object(
  { ...head, evidence: EvidenceSchema, ...said, nonce: Type.Optional(Name) },
  closed,
)

export type FlowClaim = Type.Static<typeof FlowClaimSchema>
export type FlowEvidence = Type.Static<typeof FlowEvidenceSchema>

export const flowClaim: Contract = {
  name: 'flow_claim_v1',
  title: 'Somebody claims something in a run.',
  prefix: 'flow_record',
  schema: FlowClaimSchema,
  checks: [checkMoment],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

export const flowEvidence: Contract = {
  name: 'flow_evidence_v1',
  title: 'Somebody brings evidence for a claim, or against it.',
  prefix: 'flow_record',
  schema: FlowEvidenceSchema,
  checks: [checkMoment],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
