/**
 * Passkeys of humans in the facts: the public half of one, and what it signed. A public key is a JSON Web
 * Key, so that a reader without a library for passkeys can check a signature.
 *
 * `passkey_proof_v1`: a human proved one request with a passkey. The approval of a question holds its
 * assertion itself (`confirmation_v1`).
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { closed, DigestText } from './records.ts'

/** The one name of the console; a passkey works nowhere else. */
export const PASSKEY_RP_ID = 'writ.localhost'

/** Without padding. */
const base64url = (what: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]{2,22000}$',
    'x-says': `${what} in base64url`,
  })

/** The time of a challenge, as writ writes times. */
const WrittenMoment = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
  'x-says': 'a time in UTC with milliseconds',
})

const PublicKeySchema = Type.Union(
  [
    Type.Object(
      {
        kty: Type.Literal('EC'),
        crv: Type.Literal('P-256'),
        x: base64url('a coordinate'),
        y: base64url('a coordinate'),
      },
      closed,
    ),
    Type.Object(
      { kty: Type.Literal('OKP'), crv: Type.Literal('Ed25519'), x: base64url('a key') },
      closed,
    ),
    Type.Object(
      { kty: Type.Literal('RSA'), n: base64url('a modulus'), e: base64url('an exponent') },
      closed,
    ),
  ],
  { 'x-choose': 'kty' },
)

export type PasskeyPublicKey = Type.Static<typeof PublicKeySchema>

/** A passkey as it was registered. */
export const PasskeySchema = Type.Object(
  {
    passkey_id: Type.String({ pattern: '^pk-[0-9a-f]{16}$', 'x-says': 'the id of a passkey' }),
    credential_id: base64url('the id of the credential'),
    public_key: PublicKeySchema,
    /** Of the authenticator; 0 for one that does not count. */
    sign_count: Type.Integer({ minimum: 0, 'x-code': { minimum: 'field_type' } }),
    transports: Type.Array(Type.String({ minLength: 1, 'x-code': { minLength: 'field_type' } })),
    rp_id: Type.Literal(PASSKEY_RP_ID),
    /** With its port. */
    origin: Type.String({
      pattern: '^https?://writ\\.localhost(?::\\d{1,5})?$',
      'x-says': 'the origin of the console',
    }),
    /** What the person calls it. */
    name: Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,64}$', 'x-says': 'a short name' }),
    /** The authenticator may have copied it to other devices of the person. */
    backed_up: Type.Boolean(),
  },
  closed,
)

export type Passkey = Type.Static<typeof PasskeySchema>

const ChallengeParts = {
  /** Who signs, as `human:id@namespace`. */
  by: Type.String({ pattern: '^human:[^\\s]{3,600}$', 'x-says': 'a human, human:id@namespace' }),
  moment: WrittenMoment,
  /** The text of the newest checkpoint of the home. */
  checkpoint: Type.String({
    pattern: '^[^\\n]+\\n\\d{1,16}\\n[A-Za-z0-9+/]{43}=\\n(?:[^\\n]+\\n)*$',
    'x-says': 'the text of a checkpoint',
  }),
}

const ApprovalChallengeSchema = Type.Object(
  {
    type: Type.Literal('approval_challenge_v1'),
    /** The id of the act that was asked about. */
    question: Type.String({ pattern: '^[0-9a-f-]{36}$', 'x-says': 'the id of an act' }),
    answer: Type.Enum(['APPROVED', 'DENIED'], { 'x-code': 'enum' }),
    proposal_digest: DigestText,
    result_digest: DigestText,
    asked_at: Type.String(),
    reason: Type.Optional(Type.String()),
    ...ChallengeParts,
  },
  closed,
)

const RequestChallengeSchema = Type.Object(
  {
    type: Type.Literal('request_challenge_v1'),
    route: Type.String({ pattern: '^[a-zA-Z]{1,64}$', 'x-says': 'the name of a route' }),
    /** Of route, parameters and body without the proof. */
    request: DigestText,
    ...ChallengeParts,
  },
  closed,
)

export type ApprovalChallenge = Type.Static<typeof ApprovalChallengeSchema>
export type RequestChallenge = Type.Static<typeof RequestChallengeSchema>

const assertionOf = <S extends Type.TSchema>(challenge: S) =>
  Type.Object(
    {
      credential_id: base64url('the id of the credential'),
      /** That of the registered passkey, so that one fact can be checked alone. */
      public_key: PublicKeySchema,
      client_data: base64url('client data'),
      authenticator_data: base64url('authenticator data'),
      signature: base64url('a signature'),
      /** The SHA-256 of its canonical form is what was signed. */
      challenge,
    },
    closed,
  )

export const ApprovalAssertionSchema = assertionOf(ApprovalChallengeSchema)
const RequestAssertionSchema = assertionOf(RequestChallengeSchema)

export type ApprovalAssertion = Type.Static<typeof ApprovalAssertionSchema>
export type RequestAssertion = Type.Static<typeof RequestAssertionSchema>

const PasskeyProofSchema = Type.Object(
  {
    route: Type.String({ pattern: '^[a-zA-Z]{1,64}$', 'x-says': 'the name of a route' }),
    /** The command that carries the request out. */
    command: Type.Optional(Type.String({ minLength: 1, 'x-code': { minLength: 'field_type' } })),
    /** Of the secret that the service hands to the command for this one proof. */
    ticket: Type.Optional(DigestText),
    assertion: RequestAssertionSchema,
  },
  closed,
)

export type PasskeyProof = Type.Static<typeof PasskeyProofSchema>

function checkRoute({ document, report }: Subject): void {
  const signed = field(field(field(document, 'assertion'), 'challenge'), 'route')
  if (typeof signed !== 'string' || signed === field(document, 'route')) return
  const message = `the assertion is for the route ${showName(signed)}`
  report.add('ledger_record.misplaced', '/assertion/challenge/route', message)
}

export const passkeyProof: Contract = {
  name: 'passkey_proof_v1',
  title: 'A human proved a request with a passkey.',
  prefix: 'ledger_record',
  schema: PasskeyProofSchema,
  checks: [checkRoute],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
