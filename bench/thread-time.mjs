/**
 * How long this thread has had a processor, in milliseconds; where the system does not tell, the clock.
 * The kernel brings the count up to date when it switches or ticks, every few milliseconds, or when
 * a process asks for its usage; so it is asked first, and short work is not counted in whole ticks.
 */
import { readFileSync } from 'node:fs'

export function threadMs() {
  process.cpuUsage()
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}
