/**
 * Assertions of passkeys (W-3), checked without the machine that recorded them: functions of facts,
 * which a browser runs as well. The challenge is the SHA-256 of a document, so a signature says what
 * the person saw: question, proposal, result, moment, and the newest checkpoint of the home.
 *
 * INVARIANT (a person was there): an assertion without user presence and user verification is none.
 * INVARIANT (one place): the browser names the origin, and only the name of the console counts.
 */
import {
  canonicalJson,
  fromBase64Url,
  isSignedByJwk,
  sha256,
  toBase64Url,
} from '../../base/index.ts'
import {
  type ApprovalAssertion,
  type Confirmation,
  field,
  PASSKEY_RP_ID,
  type RequestAssertion,
} from '../../contracts/index.ts'
import type { Principal } from '../facts/fact.ts'
import { equalBytes } from '../tree/tree.ts'
import { principalText, type Register, type RegisteredPasskey, samePrincipal } from './register.ts'

export type Assertion = ApprovalAssertion | RequestAssertion

/** An assertion over any document. */
export type SignedChallenge = Omit<Assertion, 'challenge'> & { readonly challenge: unknown }

const ORIGIN = new RegExp(`^https?://${PASSKEY_RP_ID.replace('.', '\\.')}(?::\\d{1,5})?$`)
const [PRESENT, VERIFIED] = [0x01, 0x04]
const HEAD_BYTES = 37

/** The challenge that an authenticator signs for a document, in base64url. */
export function challengeOf(document: unknown): string {
  return toBase64Url(sha256(canonicalJson(document)))
}

/** Returns what is wrong with an assertion by itself, in words; null if its key signed its challenge. */
export function assertionFault(
  assertion: SignedChallenge,
  origin: string | null = null,
): string | null {
  const { public_key, client_data, authenticator_data, signature, challenge } = assertion
  try {
    const client = fromBase64Url(client_data)
    const authenticator = fromBase64Url(authenticator_data)
    const wrong =
      clientFault(client, challengeOf(challenge), origin) ?? authenticatorFault(authenticator)
    if (wrong !== null) return wrong
    const signed = new Uint8Array([...authenticator, ...sha256(client)])
    const isSigned = isSignedByJwk(public_key, signed, fromBase64Url(signature))
    return isSigned ? null : 'the key of the passkey did not sign it'
  } catch {
    return 'it is not written as an assertion is'
  }
}

function clientFault(bytes: Uint8Array, challenge: string, exact: string | null): string | null {
  const client: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  if (field(client, 'type') !== 'webauthn.get') return 'the browser made it for something else'
  if (field(client, 'challenge') !== challenge) return 'it was made for another document'
  const origin = field(client, 'origin')
  const isOwn = typeof origin === 'string' && ORIGIN.test(origin)
  if (!isOwn || (exact !== null && origin !== exact)) return 'it was made for another origin'
  const isFramed = field(client, 'crossOrigin') === true || field(client, 'topOrigin') !== undefined
  return isFramed ? 'it was made inside of another page' : null
}

function authenticatorFault(bytes: Uint8Array): string | null {
  if (bytes.length < HEAD_BYTES) return 'the authenticator said too little'
  if (!equalBytes(bytes.subarray(0, 32), sha256(PASSKEY_RP_ID))) return 'it is of another name'
  const flags = bytes[32] ?? 0
  if ((flags & PRESENT) === 0) return 'the authenticator saw no person'
  return (flags & VERIFIED) === 0 ? 'the authenticator did not verify the person' : null
}

/** The counter of the authenticator; 0 for one that does not count. */
export function signCountOf({ authenticator_data }: Pick<Assertion, 'authenticator_data'>): number {
  const bytes = fromBase64Url(authenticator_data)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(33)
}

/** The passkey of a human that made an assertion; null for an unknown one. */
export function passkeyOf(
  { passkeys }: Pick<Register, 'passkeys'>,
  { credential_id, public_key }: Pick<Assertion, 'credential_id' | 'public_key'>,
): RegisteredPasskey | null {
  const isIt = ({ passkey }: RegisteredPasskey): boolean =>
    passkey.credential_id === credential_id &&
    canonicalJson(passkey.public_key) === canonicalJson(public_key)
  return passkeys.find(isIt) ?? null
}

/**
 * Returns what is wrong with an assertion in a fact of a principal, in words: it must be of a passkey
 * that this human had at that time, over a document that names the human.
 */
export function recordedAssertionFault(
  register: Pick<Register, 'passkeys'>,
  assertion: Assertion,
  principal: Principal,
): string | null {
  const wrong = assertionFault(assertion)
  if (wrong !== null) return wrong
  const known = passkeyOf(register, assertion)
  if (known === null || !samePrincipal(known.principal, principal)) {
    return `it is not of a passkey of ${principalText(principal)}`
  }
  const { by, moment } = assertion.challenge
  if (by !== principalText(principal)) return `it was made for ${by}`
  const isLate = known.removedAt !== null && moment > known.removedAt
  return isLate ? 'its passkey was removed before' : null
}

/** Returns what is wrong with the assertion of an answer, in words; null also for one without any. */
export function answerAssertionFault(
  register: Pick<Register, 'passkeys'>,
  confirmation: Confirmation,
  principal: Principal,
): string | null {
  const { assertion } = confirmation
  if (assertion === undefined) return null
  const wrong = recordedAssertionFault(register, assertion, principal)
  if (wrong !== null) return wrong
  const { challenge: signed } = assertion
  const isSame =
    signed.question === confirmation.action_id.toLowerCase() &&
    signed.answer === confirmation.answer &&
    signed.proposal_digest === confirmation.proposal_digest &&
    signed.result_digest === confirmation.result_digest &&
    signed.asked_at === confirmation.asked_at &&
    signed.reason === confirmation.reason
  return isSame ? null : 'it was made for another answer'
}
