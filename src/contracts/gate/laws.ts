/**
 * `laws_v1`: a human accepted these laws for a home. A fact of the host's stream. The laws stay in force
 * until the next such fact, even if the file changes. The bytes are kept as bodies, so that every
 * decision can be computed again (L-9).
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { checkMoments, closed, DigestText, Moment, Reason } from './shapes.ts'

const LawsSchema = Type.Object(
  {
    /** Of the bytes of the file. */
    laws: DigestText,
    /** The body in which these bytes are kept. */
    body: DigestText,
    /** Of the lists that judge besides the laws, with what the laws add to them. */
    lists: DigestText,
    /** Read over the default laws; whole without it, as before layers. */
    layered: Type.Optional(Type.Boolean()),
    accepted_at: Moment,
    reason: Type.Optional(Reason),
  },
  closed,
)

export type Laws = Type.Static<typeof LawsSchema>

export const lawsContract: Contract = {
  name: 'laws_v1',
  title: 'A human accepted these laws.',
  prefix: 'gate_record',
  schema: LawsSchema,
  checks: [checkMoments(['accepted_at'])],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
