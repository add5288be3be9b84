/** Verifiers of signed notes: which public keys can be checked, on Node and in a browser. */
import { ED25519_KEY_BYTES, ed25519Check } from '../../base/index.ts'
import { SIGNATURE_TYPES, type Verifier, type VerifierKey } from './note.ts'

/** Returns the verifier of a key, or null for a key of another type or length. */
export function verifierFor({ name, keyId, type, publicKey }: VerifierKey): Verifier | null {
  if (type !== SIGNATURE_TYPES.ed25519 || publicKey.length !== ED25519_KEY_BYTES) return null
  return { name, keyId, verify: ed25519Check(publicKey) }
}
