/**
 * Fact ids: UUIDv7 (RFC 9562) of the time at which the fact occurred. Random digits are drawn in
 * bulk, because a writer needs tens of thousands of ids in a second.
 */
import { randomBytes } from 'node:crypto'

const POOL_BYTES = 4096
/** 18 hex digits are random, 2 bits of a nineteenth as well. */
const DIGITS = 19
const VARIANTS = '89ab'

export class FactIds {
  #pool = ''
  #at = 0
  #timeMs = -1
  #time = ''

  next(timeMs: number): string {
    if (this.#at + DIGITS > this.#pool.length) {
      this.#pool = randomBytes(POOL_BYTES).toString('hex')
      this.#at = 0
    }
    const digits = this.#pool.slice(this.#at, this.#at + DIGITS)
    this.#at += DIGITS
    if (timeMs !== this.#timeMs) this.#setTime(timeMs)
    const variant = VARIANTS.charAt(Number.parseInt(digits.charAt(18), 16) % 4)
    return `${this.#time}-7${digits.slice(0, 3)}-${variant}${digits.slice(3, 6)}-${digits.slice(6, 18)}`
  }

  #setTime(timeMs: number): void {
    const hex = timeMs.toString(16).padStart(12, '0')
    this.#timeMs = timeMs
    this.#time = `${hex.slice(0, 8)}-${hex.slice(8, 12)}`
  }
}
