/**
 * What a run costs in processor time, for tests that hold hostile input to a bound. The wall clock
 * would measure the neighbours on a busy machine as well.
 */
import { cpuUsage } from 'node:process'

/** Processor milliseconds of this process while `run` runs. */
export function costMs(run: () => void): number {
  const before = cpuUsage()
  run()
  const { user, system } = cpuUsage(before)
  return (user + system) / 1000
}
