/**
 * What is signed between a home and a device (D-2). Each text begins with a line of its own, so that no
 * signature of one kind counts as another, or as one of a checkpoint.
 */
import { canonicalJson, digestDocument, ED25519_KEY_BYTES, ed25519Check } from '../../base/index.ts'
import type { JsonObject } from '../../contracts/index.ts'
import { decodeBase64 } from '../tree/base64.ts'

/** What the home signs of an offer. Times are milliseconds, as in the task. */
export interface OfferTerms {
  readonly command_id: string
  /** `ID@NAMESPACE`. */
  readonly device: string
  readonly digest: string
  readonly nonce: string
  readonly not_before: number
  readonly not_after: number
}

export function offerText(terms: OfferTerms): string {
  const { command_id, device, digest, nonce, not_before, not_after } = terms
  return signedText('offer', { command_id, device, digest, nonce, not_before, not_after })
}

/** What a device signs: that it takes the offer, that it starts, or what its receipt says. */
export interface SaidTerms {
  readonly command_id: string
  readonly device: string
  readonly nonce: string
  readonly status: string
  /** The lease, or the digest of the receipt without `created_at_ts`. */
  readonly about: string
}

export function saidText({ command_id, device, nonce, status, about }: SaidTerms): string {
  return signedText('device', { command_id, device, nonce, status, about })
}

/** What the home signs in answer to a device. */
export interface AnswerTerms {
  readonly command_id: string
  readonly device: string
  readonly nonce: string
  /** The status of the message that is answered. */
  readonly answers: string
  /** Empty if it was recorded, else the code of the refusal. */
  readonly code: string
  /** What the message was about: an answer to one lease or receipt is none to another. */
  readonly about: string
  readonly lease_until: string
}

export function answerText(terms: AnswerTerms): string {
  const { command_id, device, nonce, answers, code, about, lease_until } = terms
  return signedText('answer', { command_id, device, nonce, answers, code, about, lease_until })
}

/** The digest of a receipt as its device signed it: without the time that the home fills in. */
export function receiptDigest(receipt: JsonObject): string {
  const { created_at_ts: _, ...said } = receipt
  return digestDocument(said)
}

function signedText(kind: string, terms: Readonly<Record<string, string | number>>): string {
  return `writ-${kind}-v1\n${canonicalJson(terms)}\n`
}

/** Key and signature in base64; anything that is none is no valid signature. */
export function isSignedBy(key: string, text: string, signature: string): boolean {
  const [keyBytes, bytes] = [decodeBase64(key), decodeBase64(signature)]
  if (keyBytes?.length !== ED25519_KEY_BYTES || bytes === null) return false
  return ed25519Check(keyBytes)(text, bytes)
}
