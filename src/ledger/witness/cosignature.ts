/**
 * Cosignatures (C2SP tlog-cosignature, Ed25519): a witness states that it saw a checkpoint, when, and
 * that every earlier checkpoint of that log led up to it. In a note its signature is
 *
 *     timestamp (8 bytes, seconds, big end first) ‖ Ed25519 over `cosignature/v1\ntime <seconds>\n<text>`
 */
import { ED25519_KEY_BYTES, ed25519Check } from '../../base/index.ts'
import {
  type Note,
  parseNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type Signature,
  type VerifierKey,
  verifierKey,
} from '../notes/note.ts'

const TIME_BYTES = 8
const SIGNATURE_BYTES = TIME_BYTES + 64

/** A key that signs texts; the ledger's and a witness's are of one kind. */
interface SigningKey {
  readonly publicKey: Uint8Array
  sign(text: string): Uint8Array
}

/** The public key of a witness, as others pin it. */
export function witnessKey(name: string, publicKey: Uint8Array): VerifierKey {
  return verifierKey(name, SIGNATURE_TYPES.cosignature, publicKey)
}

/** Parses the public key of a witness; null for a text that is none, or a key of another kind. */
export function parseWitnessKey(text: string): VerifierKey | null {
  const key = parseVerifierKey(text)
  const isOne =
    key?.type === SIGNATURE_TYPES.cosignature && key.publicKey.length === ED25519_KEY_BYTES
  return isOne ? key : null
}

/** Signs the text of a checkpoint at a time in whole seconds. */
export function cosign(text: string, name: string, key: SigningKey, seconds: number): Signature {
  const bytes = new Uint8Array(SIGNATURE_BYTES)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds))
  bytes.set(key.sign(messageOf(text, seconds)), TIME_BYTES)
  return { name, keyId: witnessKey(name, key.publicKey).keyId, bytes }
}

function messageOf(text: string, seconds: number): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** Returns the time of a valid cosignature in seconds; null for another key, form or text. */
export function cosignedAt(text: string, signature: Signature, key: VerifierKey): number | null {
  const { name, keyId, bytes } = signature
  if (name !== key.name || keyId !== key.keyId || bytes.length !== SIGNATURE_BYTES) return null
  const time = new DataView(bytes.buffer, bytes.byteOffset, TIME_BYTES).getBigUint64(0)
  if (time > BigInt(Number.MAX_SAFE_INTEGER)) return null
  const seconds = Number(time)
  const isTrue = ed25519Check(key.publicKey)(messageOf(text, seconds), bytes.subarray(TIME_BYTES))
  return isTrue ? seconds : null
}

/** Returns the newest time at which one of the note's signatures is this witness's; null for none. */
export function noteCosignedAt(note: string | Note, key: VerifierKey): number | null {
  const parsed = typeof note === 'string' ? parseNote(note) : note
  const times = parsed?.signatures.map((one) => cosignedAt(parsed.text, one, key)) ?? []
  return times.reduce(
    (newest, time) => (time === null ? newest : Math.max(newest ?? 0, time)),
    null,
  )
}
