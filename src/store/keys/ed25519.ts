/**
 * Ed25519 (RFC 8032) behind the ports of the ledger room. A key is its 32-byte seed; the same key
 * signs every stream, each under the name of that stream's origin.
 *
 * A `KeyRing` has the keys that a writer may sign with. The ledger's file gets them through this interface; the
 * directory of key files (`keys.ts`) implements it.
 */
import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto'
import {
  SIGNATURE_TYPES,
  type Signer,
  type VerifierKey,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'

export interface LedgerKey {
  readonly seed: Uint8Array
  readonly publicKey: Uint8Array
  sign(text: string): Uint8Array
}

const SEED_BYTES = 32
/** Keys go in and out as JSON Web Keys: those are raw bytes to OpenSSL, which loads readers for the rest. */
const KIND = { kty: 'OKP', crv: 'Ed25519' } as const

export function newSeed(): Uint8Array {
  return randomBytes(SEED_BYTES)
}

export function keyFromSeed(seed: Uint8Array): LedgerKey {
  const d = Buffer.from(seed).toString('base64url')
  // The form wants a public half; what counts is the one that is computed from the seed.
  const privateKey = createPrivateKey({ key: { ...KIND, d, x: d }, format: 'jwk' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return {
    seed,
    publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
    sign: (text) => sign(null, Buffer.from(text), privateKey),
  }
}

/** The public key under a name, as others pin it. */
export function publicKeyOf(key: LedgerKey, name: string): VerifierKey {
  return verifierKey(name, SIGNATURE_TYPES.ed25519, key.publicKey)
}

export function signerFor(key: LedgerKey, name: string): Signer {
  const { keyId } = publicKeyOf(key, name)
  return { name, keyId, sign: key.sign }
}

/** Signs files that a ledger keeps in addition to its facts, and recognises its own signatures. */
export interface FileSeal {
  sign(text: string): Uint8Array
  isOwn(text: string, signature: Uint8Array): boolean
}

/** Returns the seal of one key; it does not recognise signatures of another key. */
export function sealOf(key: LedgerKey): FileSeal {
  const verifier = verifierFor(publicKeyOf(key, 'seal'))
  return {
    sign: key.sign,
    isOwn: (text, signature) => verifier?.verify(text, signature) ?? false,
  }
}

export interface KeyRing {
  /** The key whose public half has this id under this name; null when it is not kept here. */
  find(name: string, keyId: number): LedgerKey | null
  /** The key that signs the first fact of a ledger; later ones follow from the checkpoints. */
  current(): LedgerKey
  /** The public key of a machine that may sign now; absent where one machine writes the ledger. */
  certified?(name: string, keyId: number): VerifierKey | null
  /** The key that this machine signs with where another one signed last. */
  own?(): LedgerKey
}

export function ringOf(...keys: readonly [LedgerKey, ...LedgerKey[]]): KeyRing {
  return {
    current: () => keys[0],
    find: (name, keyId) => findKey(keys, name, keyId),
  }
}

/** Returns the key whose public half has this id under this name. */
export function findKey(keys: readonly LedgerKey[], name: string, keyId: number): LedgerKey | null {
  return keys.find((key) => publicKeyOf(key, name).keyId === keyId) ?? null
}
