/**
 * Identifiers. The caller passes the random bytes and the time.
 */
import { invariant } from './fault.ts'

/** By code unit: 1 for a hex digit, 64 for a dash, so that their sum tells how many of each there are. */
const UUID_WEIGHTS = new Uint8Array(128)
for (const digit of '0123456789abcdefABCDEF') UUID_WEIGHTS[digit.charCodeAt(0)] = 1
UUID_WEIGHTS['-'.charCodeAt(0)] = 64

const UUID_LENGTH = 36
const UUID_WEIGHT = 32 + 4 * 64
const DASH = 0x2d

/** UUID by shape: five groups of hex digits; version and variant are not judged. No branch a digit. */
export function isUuid(text: string): boolean {
  if (text.length !== UUID_LENGTH) return false
  if (text.charCodeAt(8) !== DASH || text.charCodeAt(13) !== DASH) return false
  if (text.charCodeAt(18) !== DASH || text.charCodeAt(23) !== DASH) return false
  let weight = 0
  let units = 0
  for (let index = 0; index < UUID_LENGTH; index++) {
    const unit = text.charCodeAt(index)
    units |= unit
    weight += UUID_WEIGHTS[unit & 127] as number // The table has 128 entries.
  }
  return units < 128 && weight === UUID_WEIGHT
}

const TIME_MS_MAX = 2 ** 48 - 1
const RANDOM_BYTES = 10

/** A time-ordered UUIDv7 (RFC 9562) from a time in whole milliseconds and ten random bytes. */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  invariant(
    Number.isInteger(nowMs) && nowMs >= 0 && nowMs <= TIME_MS_MAX,
    'the time of a UUIDv7 is a whole number of milliseconds of 48 bits',
  )
  invariant(random.length >= RANDOM_BYTES, 'a UUIDv7 takes ten random bytes')
  const time = nowMs.toString(16).padStart(12, '0')
  const tail = [...random.subarray(0, RANDOM_BYTES)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
  return shapeUuid(`${time}7${tail.slice(1, 4)}${variant(tail.slice(4, 5))}${tail.slice(5, 20)}`)
}

function variant(digit: string): string {
  return ((Number.parseInt(digit, 16) & 0x3) | 0x8).toString(16)
}

function shapeUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}
