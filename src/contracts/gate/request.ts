/**
 * `request_v1`: the progress of a held request (G-16, G-22, I3), one fact for each step. The host
 * records SENDING before the first byte leaves. Then the request is ANSWERED, FAILED (the server is
 * known not to have answered, or refused) or UNKNOWN. An answer for a file is SAVED or NOT_SAVED.
 *
 * Header values, queries and bodies are not here: `request_digest` binds them, the answer's body is
 * kept as a body.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import {
  ActionId,
  Count,
  checkMoments,
  closed,
  DigestText,
  demandField,
  Moment,
  refuseField,
  Word,
} from './shapes.ts'

const REQUEST_STATES = ['SENDING', 'ANSWERED', 'FAILED', 'UNKNOWN', 'SAVED', 'NOT_SAVED'] as const

const RequestSchema = Type.Object(
  {
    /** The act that was promoted. */
    action_id: ActionId,
    /** The child of a composite that the request is; the act itself where there are no children. */
    step_id: ActionId,
    proposal_digest: DigestText,
    result_digest: DigestText,
    request_digest: DigestText,
    state: Type.Enum([...REQUEST_STATES]),
    /** The machine that sends it, by its fingerprint; absent where the home has one machine. */
    machine: Type.Optional(Word),
    method: Word,
    host: Word,
    port: Type.Integer({ minimum: 1, maximum: 65_535, 'x-code': 'count' }),
    /** Why it failed, is not known, or was not saved. */
    code: Type.Optional(Word),
    detail: Type.Optional(Type.String()),
    answer: Type.Optional(
      Type.Object(
        {
          status: Type.Integer({ minimum: 100, maximum: 599, 'x-code': 'count' }),
          bytes: Count,
          /** Of the body, which is kept under it; absent when it was too long to be kept. */
          digest: Type.Optional(DigestText),
        },
        closed,
      ),
    ),
    /** The file that gets the answer, and the id of the exchange that writes it. */
    save: Type.Optional(Type.Object({ path: Word, save_id: ActionId }, closed)),
    at: Moment,
  },
  closed,
)

export type RequestFact = Type.Static<typeof RequestSchema>
export type RequestState = (typeof REQUEST_STATES)[number]

const NEEDS_CODE: ReadonlySet<unknown> = new Set(['FAILED', 'UNKNOWN', 'NOT_SAVED'])

function checkState(subject: Subject): void {
  const state = field(subject.document, 'state')
  if (state === 'ANSWERED') demandField(subject, 'answer', 'of a request that was answered')
  if (state === 'SENDING') refuseField(subject, 'answer', 'before anything was sent')
  if (NEEDS_CODE.has(state)) demandField(subject, 'code', 'of what became of the request')
  if (state === 'SAVED' || state === 'NOT_SAVED') {
    demandField(subject, 'save', 'of an answer that was to be kept')
  }
}

export const requestContract: Contract = {
  name: 'request_v1',
  title: 'A held request: about to be sent, and what became of it.',
  prefix: 'gate_record',
  schema: RequestSchema,
  checks: [checkMoments(['at']), checkState],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
