/**
 * `uncertainty_envelope_v0`: what is not known about one problem state, as a set of named sources.
 * A set: no order, no repeats, no weights, no sum.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract, Subject } from '../kernel/contract.ts'
import { closed, EvidenceRefs, reportRepeats, SchemaVersion, Text } from './shapes.ts'
import { ENVELOPE_UNCERTAINTY_SOURCES } from './vocabulary.ts'

const UncertaintyEnvelopeSchema = Type.Object(
  {
    type: Type.Literal('uncertainty_envelope_v0', { 'x-code': 'type_const' }),
    schema_version: SchemaVersion,
    problem_state_ref: Text,
    uncertainty_sources: Type.Array(Type.Enum([...ENVELOPE_UNCERTAINTY_SOURCES])),
    supporting_evidence_refs: Type.Optional(EvidenceRefs),
  },
  closed,
)

export type UncertaintyEnvelope = Type.Static<typeof UncertaintyEnvelopeSchema>

function checkUnique({ document, report }: Subject): void {
  reportRepeats(
    document['uncertainty_sources'],
    (word) => ({ word, path: '' }),
    '/uncertainty_sources',
    'uncertainty_envelope.duplicate',
    report,
  )
}

export const uncertaintyEnvelope: Contract = {
  name: 'uncertainty_envelope_v0',
  title: 'What is not known about one problem state, as a set of named sources.',
  prefix: 'uncertainty_envelope',
  schema: UncertaintyEnvelopeSchema,
  checks: [checkUnique],
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
