/**
 * Checks of signatures by public keys that are JSON Web Keys: ES256 (P-256, ASN.1), EdDSA (Ed25519) and
 * RS256. These are the algorithms that authenticators of passkeys use. By Node's crypto module on Node,
 * in JavaScript elsewhere.
 */
import { ecdsa, weierstrass } from '@noble/curves/abstract/weierstrass.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { ed25519Check, nodeCrypto } from './hash.ts'

/** Members are base64url without padding. */
type SignatureJwk =
  | { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  | { readonly kty: 'RSA'; readonly n: string; readonly e: string }

/** Returns whether the key signed the bytes; false for a key that is none. */
export function isSignedByJwk(
  key: SignatureJwk,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return nodeCrypto === undefined
      ? plainVerify(key, bytes, signature)
      : nodeCrypto.verify(
          key.kty === 'OKP' ? null : 'sha256',
          bytes,
          nodeCrypto.createPublicKey({ key: { ...key }, format: 'jwk' }),
          signature,
        )
  } catch {
    // Bytes that are no point of the curve, no modulus or no signature.
    return false
  }
}

/** The same without Node; exported for the test that compares both. */
export function plainVerify(key: SignatureJwk, bytes: Uint8Array, signature: Uint8Array): boolean {
  if (key.kty === 'OKP') return ed25519Check(fromBase64Url(key.x))(bytes, signature)
  if (key.kty === 'RSA') return isSignedByRsa(key, bytes, signature)
  const point = Uint8Array.of(4, ...fixed(key.x), ...fixed(key.y))
  return p256().verify(signature, bytes, point, { format: 'der', lowS: false, prehash: true })
}

/** Strict: one text for each sequence of bytes. */
export function fromBase64Url(text: string): Uint8Array {
  const whole = text.replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(whole), (letter) => letter.codePointAt(0) ?? 0)
  if (/[+/=]/.test(text) || toBase64Url(bytes) !== text) throw new RangeError('not base64url')
  return bytes
}

export function toBase64Url(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCodePoint(byte)).join('')
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function fixed(text: string): Uint8Array {
  const bytes = fromBase64Url(text)
  if (bytes.length !== 32) throw new RangeError('a coordinate has 32 bytes')
  return bytes
}

type Ecdsa = ReturnType<typeof ecdsa>
let madeP256: Ecdsa | undefined

/** Made when it is first needed: making a curve takes several milliseconds. FIPS 186-4, D.1.2.3. */
function p256(): Ecdsa {
  madeP256 ??= ecdsa(
    weierstrass({
      p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
      n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
      h: 1n,
      a: 0xffffffff00000001000000000000000000000000fffffffffffffffffffffffcn,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
      Gx: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
      Gy: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
    }),
    sha256,
  )
  return madeP256
}

/** The head of a SHA-256 digest in a signature (RFC 8017, 9.2). */
const DIGEST_INFO = '3031300d060960864801650304020105000420'

/** RSASSA-PKCS1-v1_5: the one message that a signature can hold is made and compared whole. */
function isSignedByRsa(
  { n, e }: { readonly n: string; readonly e: string },
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  const width = fromBase64Url(n).length
  if (width < 256 || signature.length !== width) return false
  const tail = `00${DIGEST_INFO}${hex(sha256(bytes))}`
  const wanted = `0001${'ff'.repeat(width - 2 - tail.length / 2)}${tail}`
  const [modulus, exponent, base] = [fromBase64Url(n), fromBase64Url(e), signature].map((part) =>
    BigInt(`0x${hex(part)}`),
  ) as [bigint, bigint, bigint] // Three go in.
  return base < modulus && power(base, exponent, modulus) === BigInt(`0x${wanted}`)
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, factor] = [1n, base]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % modulus
    factor = (factor * factor) % modulus
  }
  return result
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
