/**
 * Digests (`sha256:` and lower hex) and checks of Ed25519 signatures (RFC 8032): by Node's crypto
 * module where the code runs on Node, because it is several times faster, in JavaScript elsewhere.
 * Signing is not here: private keys belong to the host.
 */
import { hashes, verify } from '@noble/ed25519'
import { sha256 as plainSha256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { canonicalJson, canonicalPieces } from './canonical.ts'

type NodeCrypto = typeof import('node:crypto')

/** The part of Node's `process` that is used; a browser has no such object. */
interface NodeProcess {
  getBuiltinModule?(name: 'node:crypto'): NodeCrypto
}

// The platform's own types promise a process everywhere; a browser has none.
const host = (globalThis as { readonly process?: NodeProcess }).process

/** Undefined in a browser. */
export const nodeCrypto: NodeCrypto | undefined = host?.getBuiltinModule?.('node:crypto')

declare const digestBrand: unique symbol
/** `sha256:` followed by 64 lower-case hex digits. */
export type Digest = string & { readonly [digestBrand]: true }

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** Digests: `sha256:` and lower hex. Node's hash on Node, the same function in JavaScript elsewhere. */
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

export const ED25519_KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** Returns whether `signature` is the key's own for a text or bytes. */
type SignatureCheck = (text: string | Uint8Array, signature: Uint8Array) => boolean

/** Returns the check of one public key. Fails if the key does not have 32 bytes. */
export function ed25519Check(publicKey: Uint8Array): SignatureCheck {
  if (publicKey.length !== ED25519_KEY_BYTES) throw new RangeError('an Ed25519 key has 32 bytes')
  return nodeCrypto === undefined ? plainCheck(publicKey) : nodeCheck(publicKey, nodeCrypto)
}

function nodeCheck(publicKey: Uint8Array, node: NodeCrypto): SignatureCheck {
  // A JSON Web Key is raw bytes to OpenSSL; other forms load readers of their own.
  const x = Buffer.from(publicKey).toString('base64url')
  const key = node.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return (text, signature) => node.verify(null, bytesOf(text), key, signature)
}

function plainCheck(publicKey: Uint8Array): SignatureCheck {
  return (text, signature) => {
    if (signature.length !== SIGNATURE_BYTES) return false
    hashes.sha512 ??= sha512
    try {
      return verify(signature, bytesOf(text), publicKey, { zip215: false })
    } catch {
      // The library throws for bytes that are no point of the curve: no signature of this key.
      return false
    }
  }
}
