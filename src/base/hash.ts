/** Digests: `sha256:` and lower hex. Node's hash on Node, the same function in JavaScript elsewhere. */
import { sha256 as plainSha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { canonicalJson, canonicalPieces } from './canonical.ts'
import { nodeCrypto } from './node-builtin.ts'

declare const digestBrand: unique symbol
/** `sha256:` followed by 64 lower-case hex digits. */
export type Digest = string & { readonly [digestBrand]: true }

const DIGEST = /^sha256:[0-9a-f]{64}$/

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text)
}

export function digestBytes(bytes: string | Uint8Array): Digest {
  // The shape is fixed by the line that makes it.
  return `sha256:${hexOf(bytes)}` as Digest
}

/** The digest of a document is the digest of its canonical form (C-5). */
export function digestDocument(document: unknown): Digest {
  const pieces = canonicalPieces(document)
  if (pieces === null) return digestBytes(canonicalJson(document))
  // The shape is fixed by the line that makes it.
  return `sha256:${hexOfPieces(pieces)}` as Digest
}

export const HASH_BYTES = 32

/** SHA-256 as 32 bytes; a text is hashed in UTF-8. */
export function sha256(bytes: string | Uint8Array): Uint8Array {
  const target = new Uint8Array(HASH_BYTES)
  sha256Into(bytes, target, 0)
  return target
}

/**
 * Writes SHA-256 to `target` at `offset`. On Node, asking for a string and copying its characters is
 * twice as fast as asking for a buffer; trees of millions of leaves are made of such calls.
 */
export function sha256Into(bytes: string | Uint8Array, target: Uint8Array, offset: number): void {
  if (nodeCrypto === undefined) {
    target.set(plainSha256(bytesOf(bytes)), offset)
    return
  }
  const characters = nodeCrypto.hash('sha256', bytes, 'binary')
  for (let index = 0; index < HASH_BYTES; index++) {
    target[offset + index] = characters.charCodeAt(index)
  }
}

function hexOf(bytes: string | Uint8Array): string {
  return nodeCrypto?.hash('sha256', bytes, 'hex') ?? bytesToHex(plainSha256(bytesOf(bytes)))
}

function hexOfPieces(pieces: Iterable<string>): string {
  if (nodeCrypto !== undefined) {
    const sum = nodeCrypto.createHash('sha256')
    for (const piece of pieces) sum.update(piece)
    return sum.digest('hex')
  }
  const sum = plainSha256.create()
  for (const piece of pieces) sum.update(bytesOf(piece))
  return bytesToHex(sum.digest())
}

function bytesOf(bytes: string | Uint8Array): Uint8Array {
  return typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
}
