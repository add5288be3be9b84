/**
 * `endorsement_v1`: a human agrees to a change that one human alone cannot make where a law wants several
 * (W-3): a new principal, a new credential, other laws. The change is carried out when enough humans have
 * agreed to exactly this one. Each agrees with a credential of their own: its signature is here, or the
 * assertion of the passkey is in the `passkey_proof_v1` that the ticket names.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { checkMomentAt, closed, DigestText, Moment } from './records.ts'

const base64 = (length: number, padding: string, what: string) =>
  Type.String({
    pattern: `^[A-Za-z0-9+/]{${length}}${padding}$`,
    'x-code': { pattern: 'key' },
    'x-says': `${what} of Ed25519 in base64`,
  })

const EndorsementSchema = Type.Object(
  {
    /** Of the canonical form of the change. */
    change: DigestText,
    /** The change in words. */
    what: Type.String({
      pattern: '^[^\\u0000-\\u001f\\u007f]{1,1000}$',
      'x-says': 'a line of text',
    }),
    given_at: Moment,
    /** The signature of the human's own credential; see `endorsementText`. */
    proof: Type.Optional(
      Type.Object(
        { key: base64(43, '=', 'a public key'), signature: base64(86, '==', 'a signature') },
        closed,
      ),
    ),
    /** Of the proof with a passkey. */
    ticket: Type.Optional(DigestText),
  },
  closed,
)

export type Endorsement = Type.Static<typeof EndorsementSchema>

function checkProof({ document, report }: Subject): void {
  const [proof, ticket] = [field(document, 'proof'), field(document, 'ticket')]
  if (proof === undefined && ticket === undefined) {
    report.add('ledger_record.required', '/proof', 'neither a signature nor a passkey proves it')
  }
  if (proof !== undefined && ticket !== undefined) {
    report.add('ledger_record.misplaced', '/ticket', 'one thing proves it, not two')
  }
}

export const endorsementContract: Contract = {
  name: 'endorsement_v1',
  title: 'A human agrees to a change that needs several humans.',
  prefix: 'ledger_record',
  schema: EndorsementSchema,
  checks: [checkProof, (subject) => checkMomentAt(subject, 'given_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
