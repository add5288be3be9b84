/**
 * `flow_started_v1`: a run of a flow began. The digest says of which flow, to the byte; the origin
 * says where, with whose participants, and by which version of the rules.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../../base/index.ts'
import type { Contract } from '../../kernel/contract.ts'
import { checkMoment, closed, Digest, DigestOrNull, head, Name } from './shapes.ts'

const OriginSchema = Type.Object(
  {
    workspace: Name,
    participants_digest: DigestOrNull,
    evaluator: Type.Object({ name: Name, version: Name }, closed),
    artifacts: Type.Optional(Name),
    source: Type.Optional(
      Type.Object(
        { file: Name, participants: Type.Optional(Name), side: Type.Optional(Name) },
        closed,
      ),
    ),
    programs: Type.Optional(
      Type.Array(Type.Object({ participant: Digest, path: Name, digest: Digest }, closed)),
    ),
    pins: Type.Optional(Type.Array(Type.Object({ path: Name, digest: Digest }, closed))),
    unpinned: Type.Optional(Type.Array(Digest)),
    open_reviewers: Type.Optional(Type.Array(Type.Object({ node_id: Name, why: Name }, closed))),
  },
  closed,
)

const FlowStartedSchema = Type.Object(
  {
    ...head,
    flow_id: Name,
    flow_digest: Digest,
    nonce: Name,
    origin: Type.Optional(OriginSchema),
  },
  closed,
)

export type FlowStarted = Type.Static<typeof FlowStartedSchema>

export const flowStarted: Contract = {
  name: 'flow_started_v1',
  title: 'A run of a flow began.',
  prefix: 'flow_record',
  schema: FlowStartedSchema,
  checks: [checkMoment],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
