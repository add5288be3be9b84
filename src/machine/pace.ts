/**
 * Short pauses in long synchronous work. Single calls on files are many times faster than promised
 * ones, but a process that answers others must not be gone for a whole scan. And a heap that
 * grows with care while a long list is held.
 */
import { SYSTEM_CLOCK } from './clock.ts'

const TURN_MS = 8

export class Pace {
  #since = SYSTEM_CLOCK.elapsedMs()

  /** Lets others have a turn when the present one has lasted long enough. */
  async step(): Promise<void> {
    if (SYSTEM_CLOCK.elapsedMs() - this.#since < TURN_MS) return
    await new Promise((resolved) => setImmediate(resolved))
    this.#since = SYSTEM_CLOCK.elapsedMs()
  }
}

/** Lists of more entries than these are long; runs of every day have shorter ones. */
export const LONG_LIST = 20_000
const GROWTH_PERCENT = 20

let isCareful = false

/**
 * The memory of a process that holds a long list. V8 lets its heap grow to a multiple of what lives
 * in it before it collects, which is faster, and which for hundreds of thousands of entries is
 * hundreds of megabytes of nothing. From a certain length on it collects when a part of the heap is
 * new.
 *
 * This is no limit: what lives is kept. The number of entries is limited where they are found
 * (scan.ts). For the rest of this process.
 */
export function holdLongList(): void {
  if (isCareful) return
  isCareful = true
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
