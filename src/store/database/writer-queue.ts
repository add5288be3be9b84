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

import { closeSync, readSync, writeSync } from 'node:fs'
import { FaultError, fault } from '../../base/index.ts'
import { openEntry, SYSTEM_CLOCK } from '../../machine/index.ts'
import { isBusy, WAIT_MS_MAX } from './sqlite-connection.ts'

const PAUSE_MS_MIN = 0.2
const PAUSE_MS_SPREAD = 0.3
/** Sleepers look so often, or they count as gone. */
const PAUSE_MS_MAX = 5
/** From then on the list is not believed. */
const PATIENCE_MS = 1_000
/** The share of the newest measure in an average. */
const NEWEST_SHARE = 0.2
const SLEEPER = new Int32Array(new SharedArrayBuffer(4))
const SLOTS = 64
/** Two numbers, in milliseconds of the monotonic clock: waits since, and looked last at. */
const SLOT_BYTES = 16
const SEEN_AT = 8
/** Who has not looked for so long is dead, or gets no processor: no reason for others to wait. */
const STALE_MS = 25

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
  /** How long a turn takes, from its beginning to its end; much the same for every writer. */
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
    const started = SYSTEM_CLOCK.elapsedMs()
    try {
      for (;;) {
        const ahead = this.#list.look()
        const waitedMs = SYSTEM_CLOCK.elapsedMs() - started
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
    this.#enteredAtMs = SYSTEM_CLOCK.elapsedMs()
  }

  /** Ends a turn. */
  leave(): void {
    this.#turnMs += (SYSTEM_CLOCK.elapsedMs() - this.#enteredAtMs - this.#turnMs) * NEWEST_SHARE
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

/** The monotonic clock, which all processes of a machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/**
 * The list of writers that wait for a turn at a ledger's file, and since when: a small file next to the
 * database, in which every waiting writer has a slot. It brings turns into the order of asking. Without
 * it luck decides: of sixteen writers some wait ten times as long as the others.
 *
 * INVARIANT (only a hint): the lock of the database alone decides which writer writes. The list only
 * says which one tries now and which ones sleep on. A slot whose owner stopped looking does not count,
 * an unusable list counts as empty, and writers ignore the list after a while (`writer-queue.ts`). It is
 * never synced: after a crash it means nothing.
 */
export class WaitingList {
  readonly #file: number | null
  readonly #slots = Buffer.alloc(SLOTS * SLOT_BYTES)
  readonly #own = Buffer.alloc(SLOT_BYTES)
  #slot: number | null = null
  #sinceMs = 0

  constructor(file: string) {
    this.#file = openList(file)
  }

  /** How many have waited for longer than we; the wait begins with the first look. */
  look(): number {
    const now = nowMs()
    if (this.#sinceMs === 0) this.#sinceMs = now
    if (this.#file === null) return 0
    try {
      readSync(this.#file, this.#slots, 0, this.#slots.length, 0)
    } catch {
      return 0
    }
    let ahead = 0
    for (let slot = 0; slot < SLOTS; slot++) {
      if (!this.#isTaken(slot, now) || slot === this.#slot) continue
      if (this.#slots.readDoubleLE(slot * SLOT_BYTES) < this.#sinceMs) ahead++
    }
    return ahead
  }

  /** Tells the others that we still wait. */
  wait(): void {
    const now = nowMs()
    this.#slot ??= this.#freeSlot(now)
    if (this.#slot === null) return
    this.#own.writeDoubleLE(this.#sinceMs, 0)
    this.#own.writeDoubleLE(now, SEEN_AT)
    this.#write(this.#slot)
  }

  /** The wait is over, one way or the other. */
  leave(): void {
    this.#sinceMs = 0
    if (this.#slot === null) return
    this.#own.fill(0)
    this.#write(this.#slot)
    this.#slot = null
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file)
  }

  /** Returns a slot that was free at the last reading. Two writers in the same slot count as one. */
  #freeSlot(now: number): number | null {
    const first = Math.floor(Math.random() * SLOTS)
    for (let step = 0; step < SLOTS; step++) {
      const slot = (first + step) % SLOTS
      if (!this.#isTaken(slot, now)) return slot
    }
    return null
  }

  #isTaken(slot: number, now: number): boolean {
    const seenMs = this.#slots.readDoubleLE(slot * SLOT_BYTES + SEEN_AT)
    return seenMs > now - STALE_MS && seenMs <= now + STALE_MS
  }

  #write(slot: number): void {
    if (this.#file === null) return
    try {
      writeSync(this.#file, this.#own, 0, SLOT_BYTES, slot * SLOT_BYTES)
    } catch {
      // On a full disk other writers do not see that this one waits, and luck decides.
    }
  }
}

function openList(file: string): number | null {
  try {
    return openEntry(file, 'share', 0o600)
  } catch {
    return null
  }
}
