/**
 * `participant_output_v1`: what a participant answered: the digest of the raw bytes, the normalised
 * answer or null, the repairs that normalisation made, and why it is invalid where it is.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../../base/index.ts'
import { type Contract, elements, field, type Subject } from '../../kernel/contract.ts'
import { Anything, Count, checkMoment, closed, head, Name } from './shapes.ts'

const AnswerSchema = Type.Union([
  Type.Object({ kind: Type.Enum(['action', 'review', 'plan']), document: Type.Object({}) }),
  Type.Null(),
])

const ParticipantOutputSchema = Type.Object(
  {
    ...head,
    nonce: Name,
    node_id: Name,
    command: Count,
    raw: Name,
    answer: AnswerSchema,
    repairs: Type.Array(Type.String()),
    errors: Type.Array(Anything),
  },
  closed,
)

export type ParticipantOutput = Type.Static<typeof ParticipantOutputSchema>

/** An output is an answer, or it is wrong; never neither and never both. */
function checkErrors({ document, report }: Subject): void {
  const answer = field(document, 'answer')
  const isWrong = elements(field(document, 'errors')).length > 0
  if (answer === undefined || (answer === null) === isWrong) return
  const message = isWrong
    ? 'an answer is present together with its errors'
    : 'no answer, and no error says why'
  report.add('flow_record.errors', '/errors', message)
}

export const participantOutput: Contract = {
  name: 'participant_output_v1',
  title: 'What a participant of a run answered.',
  prefix: 'flow_record',
  schema: ParticipantOutputSchema,
  checks: [checkMoment, checkErrors],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
