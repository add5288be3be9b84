/**
 * The clocks of the machine (L-1a). The wall clock tells people when something was and can be set;
 * the monotonic clock only runs forward, and only tells how long something took.
 *
 * INVARIANT (the earlier one): a deadline expires as soon as either clock reaches it. Setting the wall
 * clock back does not extend a deadline, and setting it forward shortens it, which is the safe side.
 */
import { CLOCK_JUMP_MS_MIN } from '../contracts/index.ts'

export interface Clock {
  /** Milliseconds since 1970, by the wall clock. */
  nowMs(): number
  /** Milliseconds since some moment, by the monotonic clock. */
  elapsedMs(): number
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => {
    // `performance` would do, but loads a module of Node that nothing else here needs.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
}

/** A moment in the future of this process, by both clocks. */
export class Deadline {
  readonly #clock: Clock
  readonly #endsAtMs: number
  readonly #endsAtElapsedMs: number

  /** So many milliseconds from now on. */
  constructor(durationMs: number, clock: Clock = SYSTEM_CLOCK) {
    this.#clock = clock
    this.#endsAtMs = clock.nowMs() + durationMs
    this.#endsAtElapsedMs = clock.elapsedMs() + durationMs
  }

  /** At a moment of the wall clock, as documents name it; how far off it is now is remembered. */
  static at(momentMs: number, clock: Clock = SYSTEM_CLOCK): Deadline {
    return new Deadline(momentMs - clock.nowMs(), clock)
  }

  /** Never below 0. */
  leftMs(): number {
    const byWall = this.#endsAtMs - this.#clock.nowMs()
    const byElapsed = this.#endsAtElapsedMs - this.#clock.elapsedMs()
    return Math.max(0, Math.min(byWall, byElapsed))
  }

  isOver(): boolean {
    return this.leftMs() === 0
  }
}

/** What the wall clock had to say, and said. */
export interface Jump {
  readonly expectedMs: number
  readonly foundMs: number
}

/** Notices when the wall clock and the monotonic one have gone apart by more than a minute. */
export class JumpWatch {
  readonly #clock: Clock
  #nowMs: number
  #elapsedMs: number

  constructor(clock: Clock = SYSTEM_CLOCK) {
    this.#clock = clock
    this.#nowMs = clock.nowMs()
    this.#elapsedMs = clock.elapsedMs()
  }

  /** The jump since the last look, told once; corrections of everyday add up to none. */
  look(): Jump | null {
    const [foundMs, elapsedMs] = [this.#clock.nowMs(), this.#clock.elapsedMs()]
    const expectedMs = Math.round(this.#nowMs + elapsedMs - this.#elapsedMs)
    this.#nowMs = foundMs
    this.#elapsedMs = elapsedMs
    return isJump({ expectedMs, foundMs }) ? { expectedMs, foundMs } : null
  }
}

export function isJump({ expectedMs, foundMs }: Jump): boolean {
  return Math.abs(foundMs - expectedMs) > CLOCK_JUMP_MS_MIN
}
