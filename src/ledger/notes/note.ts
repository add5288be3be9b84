/**
 * Signed notes (C2SP signed-note): a text, a blank line, and signature lines
 *
 *     — <key name> base64(key id (4 bytes) ‖ signature)
 *
 * The list of signatures is open: readers keep and ignore lines of unknown keys and types, so that
 * witnesses can sign as well, with other algorithms too. `Signer` and `Verifier` hide the curves.
 */
import {
  ED25519_KEY_BYTES,
  ed25519Check,
  type Fault,
  fault,
  sha256,
  showName,
} from '../../base/index.ts'
import { decodeBase64, encodeBase64, encodeHex } from '../tree/base64.ts'

/** Signature types (C2SP): only Ed25519 is made here; the others are known by name. */
export const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04, mlDsa44: 0x06 } as const

export interface Signature {
  readonly name: string
  /** 32 bits, unsigned. */
  readonly keyId: number
  /** What the algorithm made, without the key id. */
  readonly bytes: Uint8Array
}

export interface Note {
  /** Ends with a newline. */
  readonly text: string
  readonly signatures: readonly Signature[]
}

/** Signs texts under one name. */
export interface Signer {
  readonly name: string
  readonly keyId: number
  sign(text: string): Uint8Array
}

/** Knows one public key. `verify` is total: a signature of any shape is answered. */
export interface Verifier {
  readonly name: string
  readonly keyId: number
  verify(text: string, signature: Uint8Array): boolean
}

const SIGNATURES_MAX = 100
const NOTE_LENGTH_MAX = 1_000_000

/** Spaces of any kind, the plus sign that parts a key's fields, and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const NOT_IN_NAME = /[\s\u0000-\u001f\u0085+]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/

export function isKeyName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !NOT_IN_NAME.test(name)
}

/** key id = SHA-256(name ‖ 0x0A ‖ type ‖ public key)[:4], big end first. */
export function keyIdOf(name: string, type: number, publicKey: Uint8Array): number {
  const head = new TextEncoder().encode(`${name}\n`)
  const bytes = new Uint8Array(head.length + 1 + publicKey.length)
  bytes.set(head)
  bytes[head.length] = type
  bytes.set(publicKey, head.length + 1)
  return readKeyId(sha256(bytes))
}

function readKeyId(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
}

export function showKeyId(keyId: number): string {
  return keyId.toString(16).padStart(8, '0')
}

export function formatNote({ text, signatures }: Note): string {
  const lines = signatures.map(({ name, keyId, bytes }) => {
    const content = new Uint8Array(4 + bytes.length)
    new DataView(content.buffer).setUint32(0, keyId)
    content.set(bytes, 4)
    return `\u2014 ${name} ${encodeBase64(content)}\n`
  })
  return `${text}\n${lines.join('')}`
}

/** Reads a note; null when it is none. Nothing is verified. */
export function parseNote(note: string): Note | null {
  if (note.length > NOTE_LENGTH_MAX || !note.isWellFormed() || CONTROL.test(note)) return null
  const split = note.lastIndexOf('\n\n')
  if (split === -1 || !note.endsWith('\n')) return null
  const lines = note.slice(split + 2, -1).split('\n')
  if (lines.length > SIGNATURES_MAX) return null
  const signatures = lines.map(parseSignature)
  if (!signatures.every((signature) => signature !== null)) return null
  return { text: note.slice(0, split + 1), signatures }
}

function parseSignature(line: string): Signature | null {
  const match = /^\u2014 (\S+) (\S+)$/u.exec(line)
  const [, name = '', encoded = ''] = match ?? []
  const content = decodeBase64(encoded)
  if (!isKeyName(name) || content === null || content.length < 5) return null
  return { name, keyId: readKeyId(content), bytes: content.subarray(4) }
}

export function signNote(text: string, signers: readonly Signer[]): Note {
  const signatures = signers.map((signer) => ({
    name: signer.name,
    keyId: signer.keyId,
    bytes: signer.sign(text),
  }))
  return { text, signatures }
}

export type OpenedNote =
  | {
      readonly ok: true
      readonly text: string
      /** By known keys, each once. */
      readonly verified: readonly Signature[]
      /** By keys that are not among the verifiers. */
      readonly unknown: readonly Signature[]
    }
  | { readonly ok: false; readonly fault: Fault }

/**
 * Reads a note and verifies its signatures. Fails if the signature of a known key is wrong, or if no
 * known key signed the note.
 */
export function openNote(note: string, verifiers: readonly Verifier[]): OpenedNote {
  const parsed = parseNote(note)
  if (parsed === null) return { ok: false, fault: fault('ledger.note_malformed', '', null) }
  const verified = new Map<Verifier, Signature>()
  const unknown: Signature[] = []
  for (const signature of parsed.signatures) {
    const verifier = verifiers.find((one) => isBy(signature, one))
    if (verifier === undefined) unknown.push(signature)
    else if (verifier.verify(parsed.text, signature.bytes)) verified.set(verifier, signature)
    else return { ok: false, fault: badSignature(verifier) }
  }
  if (verified.size === 0) {
    return { ok: false, fault: fault('ledger.signature_missing', '', null) }
  }
  return { ok: true, text: parsed.text, verified: [...verified.values()], unknown }
}

function isBy(signature: Signature, verifier: Verifier): boolean {
  return signature.name === verifier.name && signature.keyId === verifier.keyId
}

function badSignature({ name, keyId }: Verifier): Fault {
  const key = `${name}+${showKeyId(keyId)}`
  return fault(
    'ledger.signature_invalid',
    '',
    { key },
    {
      message: `the signature of the key ${showName(key)} does not fit the text`,
    },
  )
}

/** A public key as text: `<name>+<key id>+base64(type ‖ public key)`. */
export interface VerifierKey {
  readonly name: string
  readonly keyId: number
  readonly type: number
  readonly publicKey: Uint8Array
}

export function verifierKey(name: string, type: number, publicKey: Uint8Array): VerifierKey {
  return { name, keyId: keyIdOf(name, type, publicKey), type, publicKey }
}

export function formatVerifierKey({ name, keyId, type, publicKey }: VerifierKey): string {
  return `${name}+${showKeyId(keyId)}+${encodeBase64(Uint8Array.of(type, ...publicKey))}`
}

/** Parses a public key. Returns null if the text is no key, or its id does not fit name and bytes. */
export function parseVerifierKey(text: string): VerifierKey | null {
  const fields = parseKeyFields(text)
  if (fields === null || !isPublicKey(fields)) return null
  const { name, keyId, type, bytes: publicKey } = fields
  return keyIdOf(name, type, publicKey) === keyId ? { name, keyId, type, publicKey } : null
}

/** Accepts 32 bytes for Ed25519, and one byte or more for an unknown type. */
function isPublicKey({ type, bytes }: KeyFields): boolean {
  return type === SIGNATURE_TYPES.ed25519 ? bytes.length === 32 : bytes.length > 0
}

/** A private key as text: `PRIVATE+KEY+<name>+<key id>+base64(type ‖ seed)`. */
export interface SignerKey {
  readonly name: string
  readonly keyId: number
  readonly type: number
  readonly seed: Uint8Array
}

const PRIVATE = 'PRIVATE+KEY+'

export function formatSignerKey({ name, keyId, type, seed }: SignerKey): string {
  return `${PRIVATE}${name}+${showKeyId(keyId)}+${encodeBase64(Uint8Array.of(type, ...seed))}`
}

/** Parses a private key. The caller derives the public key and checks that the id fits the seed. */
export function parseSignerKey(text: string): SignerKey | null {
  if (!text.startsWith(PRIVATE)) return null
  const fields = parseKeyFields(text.slice(PRIVATE.length))
  if (fields === null || fields.type !== SIGNATURE_TYPES.ed25519) return null
  const { name, keyId, type, bytes: seed } = fields
  return seed.length === 32 ? { name, keyId, type, seed } : null
}

interface KeyFields {
  readonly name: string
  readonly keyId: number
  readonly type: number
  readonly bytes: Uint8Array
}

function parseKeyFields(text: string): KeyFields | null {
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(text)
  const [, name = '', id = '', encoded = ''] = match ?? []
  const content = decodeBase64(encoded)
  if (!isKeyName(name) || content === null || content.length < 2) return null
  return {
    name,
    keyId: Number.parseInt(id, 16),
    // `content` has two bytes or more.
    type: content[0] as number,
    bytes: content.subarray(1),
  }
}

/** The digest of a public key for people: the first eight bytes in hex. */
export function fingerprint(publicKey: Uint8Array): string {
  return encodeHex(sha256(publicKey).subarray(0, 8))
}

/**
 * Verifiers of signed notes: which public keys can be checked, on Node and in a browser.
 *
 * Returns the verifier of a key, or null for a key of another type or length.
 */
export function verifierFor({ name, keyId, type, publicKey }: VerifierKey): Verifier | null {
  if (type !== SIGNATURE_TYPES.ed25519 || publicKey.length !== ED25519_KEY_BYTES) return null
  return { name, keyId, verify: ed25519Check(publicKey) }
}
