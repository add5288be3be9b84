/**
 * Digests: `sha256:` and lower hex. The only place of a pure room that names node:crypto, because
 * a hash is a function of its bytes.
 */
import { createHash, hash } from 'node:crypto'
import { canonicalJson, canonicalPieces } from './canonical.ts'

declare const digestBrand: unique symbol
/** `sha256:` followed by 64 lower-case hex digits. */
export type Digest = string & { readonly [digestBrand]: true }

const DIGEST = /^sha256:[0-9a-f]{64}$/

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text)
}

export function digestBytes(bytes: string | Uint8Array): Digest {
  // The shape is fixed by the line that makes it.
  return `sha256:${hash('sha256', bytes, 'hex')}` as Digest
}

/** The digest of a document is the digest of its canonical form (C-5). */
export function digestDocument(document: unknown): Digest {
  const pieces = canonicalPieces(document)
  if (pieces === null) return digestBytes(canonicalJson(document))
  const sum = createHash('sha256')
  for (const piece of pieces) sum.update(piece)
  return `sha256:${sum.digest('hex')}` as Digest
}

export const HASH_BYTES = 32

/** SHA-256 as 32 bytes; a text is hashed in UTF-8. */
export function sha256(bytes: string | Uint8Array): Uint8Array {
  const target = new Uint8Array(HASH_BYTES)
  sha256Into(bytes, target, 0)
  return target
}

/**
 * SHA-256 written to `target` at `offset`. Asking for a string and copying its characters is twice
 * as fast as asking for a buffer, which is what trees of millions of leaves are made of.
 */
export function sha256Into(bytes: string | Uint8Array, target: Uint8Array, offset: number): void {
  const characters = hash('sha256', bytes, 'binary')
  for (let index = 0; index < HASH_BYTES; index++) {
    target[offset + index] = characters.charCodeAt(index)
  }
}
