/** Public keys as authenticators write them (COSE, RFC 9053), as JSON Web Keys. */
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { toBase64Url } from '../../base/index.ts'
import type { PasskeyPublicKey } from '../../contracts/index.ts'

const [KTY, FIRST, SECOND, THIRD] = [1, -1, -2, -3]
const [OKP, EC2, RSA] = [1, 2, 3]
const [P256, ED25519] = [1, 6]

/** Null for a key of another kind. */
export function publicKeyOfCose(bytes: Uint8Array<ArrayBuffer>): PasskeyPublicKey | null {
  // A map of numbers to numbers and bytes.
  const map = decodeCredentialPublicKey(bytes) as unknown as ReadonlyMap<number, unknown>
  const text = (label: number): string | null => {
    const value = map.get(label)
    return value instanceof Uint8Array ? toBase64Url(value) : null
  }
  const [kty, first, second, third] = [map.get(KTY), text(FIRST), text(SECOND), text(THIRD)]
  if (kty === EC2 && map.get(FIRST) === P256 && second !== null && third !== null) {
    return { kty: 'EC', crv: 'P-256', x: second, y: third }
  }
  if (kty === OKP && map.get(FIRST) === ED25519 && second !== null) {
    return { kty: 'OKP', crv: 'Ed25519', x: second }
  }
  if (kty === RSA && first !== null && second !== null) return { kty: 'RSA', n: first, e: second }
  return null
}
