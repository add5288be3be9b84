/**
 * One writer among many on one file. SQLite's own busy timeout backs off until a slow process starves
 * (two processes: one got a single fact in 3 s), so it is off, and turns are taken here:
 *
 * - The writer that has waited longest tries again every 0.2 to 0.5 ms, at random.
 * - The others sleep, the longer the more are in front of them: sixteen that try at full speed leave
 *   no processor to the one that writes. They read the waiting list and do not try the lock.
 * - After a commit a writer goes to the end of the list.
 * - The list is only a hint: a writer that has waited for `PATIENCE_MS` tries in spite of it.
 */
import { FaultError, fault } from '../../base/index.ts'
import { isBusy, WAIT_MS_MAX } from './sqlite-connection.ts'
import type { WaitingList } from './waiting-list.ts'

const PAUSE_MS_MIN = 0.2
const PAUSE_MS_SPREAD = 0.3
/** Sleepers look so often, or they count as gone. */
const PAUSE_MS_MAX = 5
/** From then on the list is not believed. */
const PATIENCE_MS = 1_000
/** The share of the newest measure in an average. */
const NEWEST_SHARE = 0.2

const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

/** Sleeps in place: a writer's thread has nothing else to do. */
function sleep(ms: number): void {
  Atomics.wait(SLEEPER, 0, 0, ms)
}

/** The pause between two questions of the one whose turn is next. */
function shortPauseMs(): number {
  return PAUSE_MS_MIN + Math.random() * PAUSE_MS_SPREAD
}

/** Who else waits. */
type Others = Pick<WaitingList, 'look' | 'wait' | 'leave'>

export class WriterQueue {
  readonly #list: Others
  readonly #waitMsMax: number
  /** What is left to be done while others have their turns; once. */
  #meanwhile: (() => void) | null
  /** How long a turn takes, from its beginning to its end; much the same for everybody. */
  #turnMs = PAUSE_MS_MIN
  #enteredAtMs = 0

  constructor(
    list: Others,
    waitMsMax: number = WAIT_MS_MAX,
    meanwhile: (() => void) | null = null,
  ) {
    this.#list = list
    this.#waitMsMax = waitMsMax
    this.#meanwhile = meanwhile
  }

  /** Begins a turn. */
  enter(begin: () => void): void {
    const started = performance.now()
    try {
      for (;;) {
        const ahead = this.#list.look()
        const waitedMs = performance.now() - started
        const asked = ahead === 0 || waitedMs > PATIENCE_MS ? ask(begin) : null
        if (asked === 'begun') break
        if (waitedMs > this.#waitMsMax) throw busy(waitedMs, asked)
        this.#list.wait()
        this.#meanwhile?.()
        this.#meanwhile = null
        sleep(this.#pauseMs(waitedMs > PATIENCE_MS ? 0 : ahead))
      }
    } finally {
      this.#list.leave()
    }
    this.#enteredAtMs = performance.now()
  }

  /** Ends a turn. */
  leave(): void {
    this.#turnMs += (performance.now() - this.#enteredAtMs - this.#turnMs) * NEWEST_SHARE
  }

  #pauseMs(ahead: number): number {
    if (ahead === 0) return shortPauseMs()
    // Half of what it should take: turns become shorter, and some in front give up.
    return Math.min(PAUSE_MS_MAX, Math.max(shortPauseMs(), (ahead * this.#turnMs) / 2))
  }
}

/** Returns `begun`, or the error that says that another writer holds the lock. */
function ask(begin: () => void): 'begun' | Error {
  try {
    begin()
    return 'begun'
  } catch (error) {
    if (!(error instanceof Error) || !isBusy(error)) throw error
    return error
  }
}

function busy(waitedMs: number, cause: Error | null): FaultError {
  const details = { waitedMs: Math.round(waitedMs) }
  return new FaultError(fault('ledger.busy', '', details), { cause })
}
