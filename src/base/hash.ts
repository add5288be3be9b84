/**
 * Digests: `sha256:` and lower hex. The only place of a pure room that names node:crypto, because
 * a hash is a function of its bytes.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical.ts'

declare const digestBrand: unique symbol
/** `sha256:` followed by 64 lower-case hex digits. */
export type Digest = string & { readonly [digestBrand]: true }

const DIGEST = /^sha256:[0-9a-f]{64}$/

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text)
}

export function digestBytes(bytes: string | Uint8Array): Digest {
  // The shape is fixed by the line that makes it.
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}` as Digest
}

/** The digest of a document is the digest of its canonical form (C-5). */
export function digestDocument(document: unknown): Digest {
  return digestBytes(canonicalJson(document))
}
