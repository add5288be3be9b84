/**
 * `undo_request_v1`: an actor asks that one of its promoted acts is taken back (M-1), and what became of
 * that: a human approved or denied it, or its time was over. Asking changes nothing; after an APPROVED
 * the host rolls the act back, which is a fact of its own (`rollback_v1`).
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import {
  ActionId,
  checkMoments,
  checkOrder,
  closed,
  demandField,
  Moment,
  Reason,
  refuseField,
} from './shapes.ts'

const UNDO_EVENTS = ['ASKED', 'APPROVED', 'DENIED', 'EXPIRED'] as const

const UndoRequestSchema = Type.Object(
  {
    request_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    event: Type.Enum([...UNDO_EVENTS]),
    /** The promoted act to take back. */
    action_id: ActionId,
    at: Moment,
    /** Why it is wanted, or why it was denied. */
    reason: Type.Optional(Reason),
    /** Until when it can be answered. */
    expires_at: Type.Optional(Moment),
    /** How it was checked that a human answered. */
    assurance: Type.Optional(Type.Enum(['terminal', 'passphrase'])),
  },
  closed,
)

export type UndoRequest = Type.Static<typeof UndoRequestSchema>

function checkEvent(subject: Subject): void {
  const event = field(subject.document, 'event')
  if (event === 'ASKED') {
    demandField(subject, 'reason', 'where an undo is asked for')
    demandField(subject, 'expires_at', 'where an undo is asked for')
    refuseField(subject, 'assurance', 'where an undo is asked for')
    return
  }
  refuseField(subject, 'expires_at', 'in an answer')
  if (event === 'EXPIRED') {
    refuseField(subject, 'assurance', 'where no human answered')
    refuseField(subject, 'reason', 'where no human answered')
  } else if (event === 'APPROVED' || event === 'DENIED') {
    demandField(subject, 'assurance', 'in the answer of a human')
  }
}

export const undoRequestContract: Contract = {
  name: 'undo_request_v1',
  title: 'An actor asks that its act is taken back; a human answers, or the time is over.',
  prefix: 'gate_record',
  schema: UndoRequestSchema,
  checks: [checkMoments(['at', 'expires_at']), checkOrder(['at', 'expires_at']), checkEvent],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
