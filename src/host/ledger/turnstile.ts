/**
 * One writer among many on one file. SQLite's own busy timeout backs off until a slow process starves
 * (two processes: one got a single fact in 3 s), so it is off, and turns are taken here:
 *
 * - A writer asks again after 0.2 to 0.5 ms, at random.
 * - In a crowd it asks less often, every other turn or so: sixteen that ask at full speed leave no
 *   processor to the one who writes.
 * - Who has waited for many turns asks at full speed again, and so comes before the others.
 * - After a commit a writer steps aside before it asks again, as long as others have been seen, and
 *   for longer when it had waited for less than usual: luck evens out.
 *
 * Turns, not milliseconds, are what is counted: how long one takes is measured on one's own, and is
 * much the same for everybody, on a fast disk and on a slow one.
 */
import { fault } from '../../base/index.ts'
import { StoreFailure } from '../../ledger/index.ts'
import { isBusy, WAIT_MS_MAX } from './sqlite.ts'

const PAUSE_MS_MIN = 0.2
const PAUSE_MS_SPREAD = 0.3
const PAUSE_MS_MAX = 10
/** Waiting for more turns than this means a crowd; */
const CROWD_TURNS = 4
/** waiting for more than this means that it is high time. */
const ELDER_TURNS = 32
/** Who was seen is reckoned with for this long: a waiting writer leaves no trace. */
const OTHERS_MS = 100
/** The share of the newest measure in an average. */
const NEWEST_SHARE = 0.2

const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

/** Sleeps in place: a writer's thread has nothing else to do. */
function sleep(ms: number): void {
  Atomics.wait(SLEEPER, 0, 0, ms)
}

/** The pause between two questions of a writer in a hurry. */
function shortPauseMs(): number {
  return PAUSE_MS_MIN + Math.random() * PAUSE_MS_SPREAD
}

export class Turnstile {
  readonly #waitMsMax: number
  /** How long a turn takes, from its beginning to its end. */
  #turnMs = PAUSE_MS_MIN
  /** How long turns were waited for of late, and the last one. */
  #usualMs = 0
  #waitedMs = 0
  #enteredAtMs = 0
  #askAgainAtMs = 0
  #othersUntilMs = 0

  constructor(waitMsMax: number = WAIT_MS_MAX) {
    this.#waitMsMax = waitMsMax
  }

  /** Begins a turn; tells whether others were in the way. */
  enter(begin: () => void): { readonly waited: boolean } {
    const started = performance.now()
    if (this.#askAgainAtMs > started) sleep(this.#askAgainAtMs - started)
    for (let waited = false; ; waited = true) {
      try {
        begin()
        this.#enteredAtMs = performance.now()
        this.#waitedMs = this.#enteredAtMs - started
        return { waited }
      } catch (error) {
        if (!isBusy(error)) throw error
        this.#wait(performance.now() - started, error)
      }
    }
  }

  /** Ends a turn; steps aside as long as others were seen of late. */
  leave(othersSeen: boolean): void {
    const now = performance.now()
    this.#turnMs += (now - this.#enteredAtMs - this.#turnMs) * NEWEST_SHARE
    this.#usualMs += (this.#waitedMs - this.#usualMs) * NEWEST_SHARE
    if (othersSeen) this.#othersUntilMs = now + OTHERS_MS
    if (now < this.#othersUntilMs) this.#askAgainAtMs = now + this.#asideMs()
  }

  #wait(waitedMs: number, cause: unknown): void {
    if (waitedMs > this.#waitMsMax) {
      const rounded = Math.round(waitedMs)
      throw new StoreFailure(fault('ledger.busy', '', { waitedMs: rounded }), { cause })
    }
    const turns = waitedMs / this.#turnMs
    const hurries = turns < CROWD_TURNS || turns > ELDER_TURNS
    sleep(hurries ? shortPauseMs() : this.#longPauseMs())
  }

  /** Who was luckier than usual makes up for it. */
  #asideMs(): number {
    const spared = Math.min(this.#usualMs - this.#waitedMs, ELDER_TURNS * this.#turnMs)
    return Math.max(shortPauseMs(), spared)
  }

  /** One to three turns of somebody else. */
  #longPauseMs(): number {
    const turns = 1 + 2 * Math.random()
    return Math.min(PAUSE_MS_MAX, Math.max(shortPauseMs(), turns * this.#turnMs))
  }
}
