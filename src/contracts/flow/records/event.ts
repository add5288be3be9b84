/**
 * `flow_event_v1`: something happened in a run: what the host told it, what was judged with which
 * values, and what followed. `kind` says which; the parts that belong to others, such as events and
 * commands, are kept as they are and not judged here.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../../base/index.ts'
import type { Contract } from '../../kernel/contract.ts'
import {
  AnyObject,
  Anything,
  Count,
  checkMoment,
  closed,
  Digest,
  DigestOrNull,
  head,
  Name,
} from './shapes.ts'
import type { FLOW_EVENT_KINDS } from './vocabulary.ts'

type Kind = (typeof FLOW_EVENT_KINDS)[number]

const Answer = Type.Enum(['true', 'false', 'undetermined'])
const StageBase = Type.Object({ node_id: Name, manifest: Name }, closed)

function branch<const K extends Kind, P extends Record<string, Type.TSchema>>(kind: K, parts: P) {
  return Type.Object({ ...head, kind: Type.Literal(kind), ...parts }, closed)
}

const FlowEventSchema = Type.Union(
  [
    branch('event', { event: Type.Object({ type: Name }) }),
    branch('guard', {
      edge_id: Name,
      result: Answer,
      scope: Name,
      values: AnyObject,
      reasons: Type.Array(Type.String()),
    }),
    branch('policies', {
      edge_id: Name,
      applied: Type.Array(AnyObject),
      silenced: Type.Array(Name),
      conflicts: Type.Array(Type.Object({ winner: Name, loser: Name, mode: Name }, closed)),
    }),
    branch('invariant', {
      invariant_id: Name,
      node_id: Type.Optional(Name),
      phase_id: Type.Optional(Name),
      edge_id: Type.Optional(Name),
      result: Answer,
      values: AnyObject,
    }),
    branch('fired', { edge_id: Name, round: Count }),
    branch('entered', { node_id: Name, round: Count, cause: Name, is_fresh: Type.Boolean() }),
    branch('joined', { node_id: Name, round: Count }),
    branch('called', { edge_id: Name, round: Count }),
    branch('returned', { edge_id: Name, outcome: Type.Enum(['done', 'failed', 'left']) }),
    branch('heard', { node_id: Name, names: Type.Array(Name) }),
    branch('commanded', { command: Type.Object({ type: Name, command: Count }) }),
    branch('attempt_failed', { node_id: Name, error: Anything }),
    branch('artifact', {
      node_id: Name,
      path: Name,
      digest: Digest,
      format: Name,
      delta: Type.Union([AnyObject, Type.Null()]),
    }),
    branch('staged', { node_id: Name, manifest: Name, stands_on: Type.Array(StageBase) }),
    branch('voided', { node_id: Name, base: Name }),
    branch('reviewed', {
      node_id: Name,
      check_id: Name,
      verdict: Type.Enum(['APPROVE', 'REJECT', 'PENDING']),
      score: Count,
      artifact_digest: DigestOrNull,
      version: Type.Optional(Digest),
      is_word_changed: Type.Boolean(),
    }),
    branch('status', { node_id: Name, status: Name, why: Type.String() }),
    branch('held', { node_id: Name }),
    branch('released', { node_id: Name }),
    branch('field', {
      name: Name,
      value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
    }),
    branch('phase_ended', { phase_id: Name }),
    branch('phase_blocked', { phase_id: Name }),
    branch('refused', { why: Type.String() }),
    branch('ended', { status: Type.Enum(['DONE', 'FAILED', 'CANCELLED']) }),
  ],
  { 'x-choose': 'kind' },
)

export type FlowEventRecord = Type.Static<typeof FlowEventSchema>

export const flowEvent: Contract = {
  name: 'flow_event_v1',
  title: 'Something happened in a run of a flow.',
  prefix: 'flow_record',
  schema: FlowEventSchema,
  checks: [checkMoment],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
