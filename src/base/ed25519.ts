/**
 * Checks Ed25519 signatures (RFC 8032): with OpenSSL on Node, in JavaScript elsewhere. Signing is not
 * here: private keys belong to the host.
 */
import { hashes, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { type NodeCrypto, nodeCrypto } from './node-builtin.ts'

export const ED25519_KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** Returns whether `signature` is the key's own for `text`. */
type SignatureCheck = (text: string, signature: Uint8Array) => boolean

/** Returns the check of one public key. Fails if the key does not have 32 bytes. */
export function ed25519Check(publicKey: Uint8Array): SignatureCheck {
  if (publicKey.length !== ED25519_KEY_BYTES) throw new RangeError('an Ed25519 key has 32 bytes')
  return nodeCrypto === undefined ? plainCheck(publicKey) : nodeCheck(publicKey, nodeCrypto)
}

function nodeCheck(publicKey: Uint8Array, node: NodeCrypto): SignatureCheck {
  // A JSON Web Key is raw bytes to OpenSSL; other forms load readers of their own.
  const x = Buffer.from(publicKey).toString('base64url')
  const key = node.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return (text, signature) => node.verify(null, Buffer.from(text), key, signature)
}

function plainCheck(publicKey: Uint8Array): SignatureCheck {
  return (text, signature) => {
    if (signature.length !== SIGNATURE_BYTES) return false
    hashes.sha512 ??= sha512
    try {
      return verify(signature, new TextEncoder().encode(text), publicKey, { zip215: false })
    } catch {
      // The library throws for bytes that are no point of the curve: no signature of this key.
      return false
    }
  }
}
