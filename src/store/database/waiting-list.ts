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
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'

const SLOTS = 64
/** Two numbers, in milliseconds of the monotonic clock: waits since, and looked last at. */
const SLOT_BYTES = 16
const SEEN_AT = 8
/** Who has not looked for so long is dead, or gets no processor: no reason for others to wait. */
const STALE_MS = 25

/** The monotonic clock, which all processes of a machine share. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

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
    return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  } catch {
    return null
  }
}
