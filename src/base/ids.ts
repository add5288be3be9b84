/**
 * Identifiers. Chance comes from outside: a caller hands in the random bytes and the time.
 */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** UUID by shape: five groups of hex digits; version and variant are not judged. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID.test(text)
}

/** A time-ordered UUIDv7 (RFC 9562) from a time and ten random bytes. */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const time = nowMs.toString(16).padStart(12, '0').slice(-12)
  const tail = [...random.subarray(0, 10)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
  return shapeUuid(
    `${time}7${tail.slice(1, 4)}${variant(tail.slice(4, 5))}${tail.slice(5, 20)}`.padEnd(32, '0'),
  )
}

function variant(digit: string): string {
  return ((Number.parseInt(digit || '0', 16) & 0x3) | 0x8).toString(16)
}

function shapeUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
