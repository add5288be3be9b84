/**
 * The memory of a process that holds a long list. V8 lets its heap grow to a multiple of what lives in
 * it before it collects, which is faster, and which for hundreds of thousands of entries is hundreds of
 * megabytes of nothing. From a certain length on it collects when a part of the heap is new.
 *
 * This is no limit: what lives is kept. The number of entries is limited where they are found (scan.ts).
 */
import { setFlagsFromString } from 'node:v8'

/** Lists of more entries than these are long; runs of every day have shorter ones. */
export const LONG_LIST = 20_000
const GROWTH_PERCENT = 20

let isCareful = false

/** For the rest of this process. */
export function holdLongList(): void {
  if (isCareful) return
  isCareful = true
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
