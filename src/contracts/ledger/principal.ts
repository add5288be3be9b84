/**
 * `principal_v1`: who may speak to this host, and what changed about it. Facts of the host's stream;
 * the register of principals is what they add up to. A token is named by an id and known by its
 * digest, never by its text.
 *
 * Deliberately absent: scores, ranks and roles. What a principal may do follows from its kind.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, showName } from '../../base/index.ts'
import { type Contract, field, type Subject } from '../kernel/contract.ts'
import { PasskeySchema } from './passkey.ts'
import { checkMomentAt, closed, DigestText, Moment, StreamName } from './records.ts'

const PRINCIPAL_CHANGES = [
  'added',
  'credential_set',
  'token_created',
  'token_revoked',
  'passkey_added',
  'passkey_removed',
  'code_made',
  'code_refused',
  'recovery_set',
] as const

/** What proved the human who registered a passkey. */
const PASSKEY_PROOFS = ['passphrase', 'passkey', 'code', 'recovery_code'] as const

/** What a token is for; `read` is part of each of the others. */
export const TOKEN_SCOPES = ['read', 'propose', 'flows', 'tasks'] as const
export type TokenScope = (typeof TOKEN_SCOPES)[number]

export const CREDENTIAL_KINDS = ['none', 'passphrase', 'passkey'] as const

const Name = Type.String({
  pattern: '^[\\s\\S]{1,256}$',
  'x-code': { pattern: 'name' },
  'x-says': '1 to 256 characters',
})

const PrincipalSchema = Type.Object(
  {
    change: Type.Enum([...PRINCIPAL_CHANGES], { 'x-code': 'enum' }),
    principal: Type.Object(
      {
        kind: Type.Enum(['human', 'ai', 'script', 'device'], { 'x-code': 'enum' }),
        id: Name,
        namespace: Name,
      },
      closed,
    ),
    /** The streams it may know of; without the field, every one. */
    streams: Type.Optional(
      Type.Array(StreamName, { minItems: 1, 'x-code': { minItems: 'stream' } }),
    ),
    credential: Type.Optional(Type.Enum([...CREDENTIAL_KINDS], { 'x-code': 'enum' })),
    /** The public half of the credential: base64 of 32 bytes. */
    credential_key: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9+/]{43}=$',
        'x-code': { pattern: 'key' },
        'x-says': 'an Ed25519 public key in base64',
      }),
    ),
    token_id: Type.Optional(Name),
    token_digest: Type.Optional(DigestText),
    expires_at: Type.Optional(Moment),
    /** Of a token; without the field, all that its principal may do. */
    scopes: Type.Optional(
      Type.Array(Type.Enum([...TOKEN_SCOPES], { 'x-code': 'enum' }), {
        minItems: 1,
        'x-code': { minItems: 'required' },
      }),
    ),
    /** Of a token: it is the cookie of a browser session and no bearer token. */
    use: Type.Optional(Type.Enum(['browser'], { 'x-code': 'enum' })),
    passkey: Type.Optional(PasskeySchema),
    passkey_id: Type.Optional(Name),
    /** Of a browser session: what the counter of the passkey said that opened it. */
    sign_count: Type.Optional(
      Type.Integer({ minimum: 0, 'x-code': { minimum: 'field_type', type: 'field_type' } }),
    ),
    proven_by: Type.Optional(Type.Enum([...PASSKEY_PROOFS], { 'x-code': 'enum' })),
    /** Of a one-time code or a recovery code; codes are known by their digests. */
    code_digest: Type.Optional(DigestText),
    recovery_digests: Type.Optional(
      Type.Array(DigestText, { minItems: 1, 'x-code': { minItems: 'required' } }),
    ),
  },
  closed,
)

export type PrincipalChange = Type.Static<typeof PrincipalSchema>

/** Which of the optional fields belong to which change; a star marks those that must be there. */
const FIELDS: Readonly<Record<(typeof PRINCIPAL_CHANGES)[number], readonly string[]>> = {
  added: ['streams', 'credential'],
  credential_set: ['credential*', 'credential_key'],
  token_created: [
    'token_id*',
    'token_digest*',
    'expires_at',
    'scopes',
    'use',
    'passkey_id',
    'sign_count',
  ],
  token_revoked: ['token_id*'],
  passkey_added: ['passkey*', 'proven_by*', 'code_digest'],
  passkey_removed: ['passkey_id*'],
  code_made: ['code_digest*', 'expires_at*'],
  code_refused: ['code_digest*'],
  recovery_set: ['recovery_digests*'],
}
const OPTIONAL = [
  'streams',
  'credential',
  'credential_key',
  'token_id',
  'token_digest',
  'expires_at',
  'scopes',
  'use',
  'passkey',
  'passkey_id',
  'sign_count',
  'proven_by',
  'code_digest',
  'recovery_digests',
] as const

/** Only a human has passkeys and codes; a code is named exactly where one proved the human. */
function checkPasskey({ document, report }: Subject): void {
  const given = field(document, 'change')
  const change = typeof given === 'string' ? given : ''
  const kind = field(field(document, 'principal'), 'kind')
  const isOfHumans = /^(?:passkey|code|recovery)_/.test(change)
  if (isOfHumans && typeof kind === 'string' && kind !== 'human') {
    const message = 'only humans have passkeys and codes'
    report.add('ledger_record.misplaced', '/principal/kind', message)
  }
  if (change !== 'passkey_added') return
  const proven = field(document, 'proven_by')
  const isByCode = typeof proven === 'string' && proven.endsWith('code')
  const isThere = Object.hasOwn(document, 'code_digest')
  if (isByCode && !isThere) {
    report.add('ledger_record.required', '/code_digest', 'a code proved it, and none is named')
  }
  if (!isByCode && isThere) {
    report.add('ledger_record.misplaced', '/code_digest', 'no code proved it')
  }
}

function checkFields({ document, report }: Subject): void {
  const change = PRINCIPAL_CHANGES.find((known) => known === field(document, 'change'))
  if (change === undefined) return
  for (const name of OPTIONAL) {
    const isThere = Object.hasOwn(document, name)
    const isNeeded = FIELDS[change].includes(`${name}*`)
    if (isNeeded && !isThere) {
      report.add('ledger_record.required', `/${name}`, `${showName(change)} needs this field`)
    } else if (isThere && !isNeeded && !FIELDS[change].includes(name)) {
      const message = `${showName(name)} has no meaning for the change ${showName(change)}`
      report.add('ledger_record.misplaced', `/${name}`, message)
    }
  }
}

export const principalChange: Contract = {
  name: 'principal_v1',
  title: 'What changed about a principal of this host.',
  prefix: 'ledger_record',
  schema: PrincipalSchema,
  checks: [checkFields, checkPasskey, (subject) => checkMomentAt(subject, 'expires_at')],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
