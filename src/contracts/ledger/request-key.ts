/**
 * `request_key_v1`: a request to the service with an idempotency key, recorded together with its first
 * fact (H-3). The key itself is not kept: `request_digest` covers home, principal, method, path and key.
 * A worker that takes a job of a proposal records it likewise: the method is `JOB`, the path its machine.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { closed, DigestText } from './records.ts'

const RequestKeySchema = Type.Object(
  {
    request_digest: DigestText,
    body_digest: DigestText,
    method: Type.String({ minLength: 1, 'x-code': { minLength: 'name' } }),
    path: Type.String({ minLength: 1, 'x-code': { minLength: 'name' } }),
    /** What the request is about, such as the id of its action. */
    subject: Type.String({ minLength: 1, 'x-code': { minLength: 'name' } }),
  },
  closed,
)

export type RequestKey = Type.Static<typeof RequestKeySchema>

export const requestKeyContract: Contract = {
  name: 'request_key_v1',
  title: 'A request with an idempotency key, and what it is about.',
  prefix: 'ledger_record',
  schema: RequestKeySchema,
  checks: [],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
