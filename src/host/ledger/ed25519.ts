/**
 * Ed25519 (RFC 8032) behind the ports of the ledger room. A key is its 32-byte seed; the same key
 * signs every stream, each under the name of that stream's origin.
 */
import { createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto'
import {
  SIGNATURE_TYPES,
  type Signer,
  type Verifier,
  type VerifierKey,
  verifierKey,
} from '../../ledger/index.ts'

export interface LedgerKey {
  readonly seed: Uint8Array
  readonly publicKey: Uint8Array
  sign(text: string): Uint8Array
}

export const SEED_BYTES = 32
const PUBLIC_BYTES = 32
/** What stands before the seed in PKCS #8, and before the public key in SubjectPublicKeyInfo. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

export function newSeed(): Uint8Array {
  return randomBytes(SEED_BYTES)
}

export function keyFromSeed(seed: Uint8Array): LedgerKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return {
    seed,
    publicKey: new Uint8Array(spki.subarray(-PUBLIC_BYTES)),
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

/** Null for a key of another type or length: it cannot be checked here. */
export function verifierFor({ name, keyId, type, publicKey }: VerifierKey): Verifier | null {
  if (type !== SIGNATURE_TYPES.ed25519 || publicKey.length !== PUBLIC_BYTES) return null
  const key = createPublicKey({
    key: Buffer.concat([SPKI_HEAD, publicKey]),
    format: 'der',
    type: 'spki',
  })
  return {
    name,
    keyId,
    verify: (text, signature) => verify(null, Buffer.from(text), key, signature),
  }
}

/** Signs what a ledger keeps of itself beside its facts, and knows its own signature again. */
export interface Seal {
  sign(text: string): Uint8Array
  isOwn(text: string, signature: Uint8Array): boolean
}

/** Of one key: what another one signed is not its own. */
export function sealOf(key: LedgerKey): Seal {
  const verifier = verifierFor(publicKeyOf(key, 'seal'))
  return {
    sign: key.sign,
    isOwn: (text, signature) => verifier?.verify(text, signature) ?? false,
  }
}
