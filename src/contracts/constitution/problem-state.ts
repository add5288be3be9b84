/**
 * `problem_state_v1`: a neutral statement that a problem exists at a place and in a window, how sure
 * that is and why it is not surer. Deliberately absent: severity, advice, any action.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import {
  checkWindow,
  closed,
  EvidenceRefs,
  LongId,
  Note,
  SchemaVersion,
  SubjectRef,
  Text,
  Window,
} from './shapes.ts'
import {
  CONFIDENCES,
  PROBLEM_SCOPES,
  PROBLEM_TYPES,
  RATE_CLASS_HINTS,
  STATE_LAYER_HINTS,
  STATE_UNCERTAINTY_SOURCES,
} from './vocabulary.ts'

/** Which parts of a state vector were looked at; a bare name will do. */
const StateInput = Type.Union([
  Text,
  Type.Object(
    {
      metric: Text,
      state_vector_version: Text,
      fields_used: Type.Array(Text, { minItems: 1, 'x-code': { minItems: 'empty' } }),
    },
    closed,
  ),
])

const ProblemStateSchema = Type.Object(
  {
    type: Type.Literal('problem_state_v1', { 'x-code': 'type_const' }),
    schema_version: SchemaVersion,
    problem_state_id: LongId,
    created_at_ts: Type.Integer(),
    subjectRef: SubjectRef,
    scale: Text,
    window: Window,
    problem_type: Type.Enum([...PROBLEM_TYPES]),
    confidence: Type.Enum([...CONFIDENCES]),
    uncertainty_sources: Type.Array(Type.Enum([...STATE_UNCERTAINTY_SOURCES]), {
      minItems: 1,
      'x-code': { minItems: 'empty' },
    }),
    state_layer_hint: Type.Enum([...STATE_LAYER_HINTS]),
    rate_class_hint: Type.Enum([...RATE_CLASS_HINTS]),
    problem_scope: Type.Enum([...PROBLEM_SCOPES]),
    summary: Type.Optional(Note),
    metrics_involved: Type.Optional(Type.Array(Text)),
    sensors_involved: Type.Optional(Type.Array(Text)),
    supporting_evidence_refs: Type.Optional(EvidenceRefs),
    state_inputs_used: Type.Optional(Type.Array(StateInput)),
    system_degraded: Type.Optional(Type.Boolean()),
  },
  closed,
)

export type ProblemState = Type.Static<typeof ProblemStateSchema>

export const problemState: Contract = {
  name: 'problem_state_v1',
  title: 'A neutral statement that a problem exists, and how sure that is.',
  prefix: 'problem_state',
  schema: ProblemStateSchema,
  checks: [checkWindow('problem_state.window_order')],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
