/**
 * `confirmation_v1`: a human's one answer about one proposal and one result (G-18, I4). An expired
 * question is recorded as an answer too, without a human.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { type Contract, field, isObject, type Subject } from '../kernel/contract.ts'
import { ApprovalAssertionSchema } from '../ledger/passkey.ts'
import {
  ActionId,
  checkMoments,
  checkOrder,
  closed,
  DigestText,
  demandField,
  Moment,
  momentMs,
  Reason,
  refuseField,
  TRUST_LEVELS,
} from './shapes.ts'

const CONFIRMATION_ANSWERS = ['APPROVED', 'DENIED', 'EXPIRED'] as const
export const ASSURANCES = ['terminal', 'passphrase', 'passkey', 'none'] as const

/** Of Ed25519: 32 bytes of key, 64 of signature. */
const base64 = (digits: number, padding: string, what: string) =>
  Type.String({
    pattern: `^[A-Za-z0-9+/]{${digits}}${padding}$`,
    'x-code': { pattern: 'proof' },
    'x-says': `${what} of Ed25519 in base64`,
  })

const ConfirmationSchema = Type.Object(
  {
    action_id: ActionId,
    proposal_digest: DigestText,
    result_digest: DigestText,
    answer: Type.Enum([...CONFIRMATION_ANSWERS]),
    /** What proved the human; a terminal alone proves nothing and is called so. */
    assurance: Type.Enum([...ASSURANCES]),
    level: Type.Enum([...TRUST_LEVELS]),
    asked_at: Moment,
    answered_at: Moment,
    expires_at: Moment,
    reason: Type.Optional(Reason),
    /** The human knew that the command had failed. */
    told_failure: Type.Optional(Type.Boolean()),
    /** The yes came with the call (`--yes`): nothing was shown and asked at a terminal first. */
    given_ahead: Type.Optional(Type.Boolean()),
    /** Other files of the scope that changed while the question was open; they were not asked about. */
    changed_meanwhile: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100 })),
    /** The newer act whose question took the place of this one, before it expired. */
    superseded_by: Type.Optional(ActionId),
    /** The signature of the human's own credential; see `approvalText` of the gate. */
    proof: Type.Optional(
      Type.Object(
        { key: base64(43, '=', 'a public key'), signature: base64(86, '==', 'a signature') },
        closed,
      ),
    ),
    /** What the human's passkey signed for this answer. */
    assertion: Type.Optional(ApprovalAssertionSchema),
  },
  closed,
)

export type Confirmation = Type.Static<typeof ConfirmationSchema>
export type Assurance = Confirmation['assurance']

function checkAnswer(subject: Subject): void {
  const { document, report } = subject
  const answer = field(document, 'answer')
  const assurance = field(document, 'assurance')
  if (answer === 'APPROVED' && assurance === 'none') {
    const message = 'an approval is given at a terminal, or with a passphrase or a passkey'
    report.add('gate_record.assurance', '/assurance', message)
  }
  if (answer !== 'APPROVED' || assurance !== 'passphrase') {
    refuseField(subject, 'proof', 'unless a passphrase opened the key of an approval')
  }
  if (assurance === 'passkey') demandField(subject, 'assertion', 'and a passkey signed the answer')
  else refuseField(subject, 'assertion', 'unless a passkey signed the answer')
  if (answer !== 'APPROVED' || assurance !== 'terminal') {
    refuseField(subject, 'given_ahead', 'unless a plain yes approved')
  }
  if (answer !== 'EXPIRED') {
    refuseField(subject, 'superseded_by', 'where a human answered')
    return
  }
  refuseField(subject, 'told_failure', 'where no human answered')
  refuseField(subject, 'changed_meanwhile', 'where no human answered')
  if (assurance === 'none' || typeof assurance !== 'string') return
  const message = `no human answered, so nothing was proven by ${show(assurance, '')}`
  report.add('gate_record.assurance', '/assurance', message)
}

/** Reports an assertion that was made for another answer. */
function checkAssertion({ document, report }: Subject): void {
  const challenge = field(field(document, 'assertion'), 'challenge')
  if (!isObject(challenge)) return
  const id = field(document, 'action_id')
  const expected: Readonly<Record<string, unknown>> = {
    question: typeof id === 'string' ? id.toLowerCase() : id,
    answer: field(document, 'answer'),
    proposal_digest: field(document, 'proposal_digest'),
    result_digest: field(document, 'result_digest'),
    asked_at: field(document, 'asked_at'),
    reason: field(document, 'reason'),
  }
  for (const [name, value] of Object.entries(expected)) {
    if (challenge[name] === value) continue
    const message = `what the passkey signed has another ${showName(name)} than the answer`
    report.add('gate_record.contradiction', `/assertion/challenge/${name}`, message)
  }
}

/** Checks that an approval came in time, and EXPIRED not early unless a newer question replaced it. */
function checkExpiry({ document, report }: Subject): void {
  const answer = field(document, 'answer')
  if (answer === 'EXPIRED' && field(document, 'superseded_by') !== undefined) return
  const answered = momentMs(field(document, 'answered_at'))
  const expires = momentMs(field(document, 'expires_at'))
  if (answered === null || expires === null) return
  if (answer === 'EXPIRED' && answered < expires) {
    const message = `the question expires later than this ${showName('EXPIRED')}`
    report.add('gate_record.time_order', '/answered_at', message)
  }
  if (answer !== 'APPROVED' || answered <= expires) return
  report.add('gate_record.time_order', '/answered_at', 'the approval came after the expiry')
}

/** Reports a question that names itself as the newer one. */
function checkSuperseding({ document, report }: Subject): void {
  const newer = field(document, 'superseded_by')
  if (typeof newer !== 'string' || newer !== field(document, 'action_id')) return
  const message = 'the question of an act does not supersede itself'
  report.add('gate_record.contradiction', '/superseded_by', message)
}

export const confirmationContract: Contract = {
  name: 'confirmation_v1',
  title: 'The answer of a human about one proposal and its rehearsed result.',
  prefix: 'gate_record',
  schema: ConfirmationSchema,
  checks: [
    checkMoments(['asked_at', 'answered_at', 'expires_at']),
    checkOrder(['asked_at', 'answered_at']),
    checkOrder(['asked_at', 'expires_at']),
    checkAnswer,
    checkExpiry,
    checkSuperseding,
    checkAssertion,
  ],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
