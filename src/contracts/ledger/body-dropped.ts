/**
 * `body_dropped_v1`: a body that facts name is no longer kept (L-5). The facts stay; this one says
 * what went, when, and by which rule: the name of a retention rule, or `purge` for a human's word.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { checkMomentAt, closed, DigestText, Moment, Size } from './shapes.ts'

const BodyDroppedSchema = Type.Object(
  {
    body: DigestText,
    bytes: Size,
    rule: Type.String({ minLength: 1 }),
    reason: Type.Optional(Type.String()),
    dropped_at: Moment,
  },
  closed,
)

export type BodyDropped = Type.Static<typeof BodyDroppedSchema>

export const bodyDropped: Contract = {
  name: 'body_dropped_v1',
  title: 'A body that facts name is no longer kept.',
  prefix: 'ledger_record',
  schema: BodyDroppedSchema,
  checks: [(subject) => checkMomentAt(subject, 'dropped_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
