/** How long this thread has had a processor, in milliseconds; where the system does not tell, the clock. */
import { readFileSync } from 'node:fs'

export function threadMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
