/**
 * Bubblewrap processes that outlived their parent. The kernel kills them with it, except for a moment at
 * their start, when the second of two waits for a message that only the first can send. Where there are
 * control groups they are swept with their group; this is for machines without.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { killQuietly } from './waiting-shell.ts'

const PROGRAM = 'bwrap'

/** Kills those that were started for a sandbox in this directory, whose owner is known to be gone. */
export function killStragglers(directory: string): void {
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && isStraggler(name, directory)) killQuietly(Number(name), 'SIGKILL')
  }
}

function isStraggler(pid: string, directory: string): boolean {
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'latin1').trim() !== PROGRAM) return false
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`${directory}/`)
  } catch {
    // It ended by itself, or cannot be looked at.
    return false
  }
}
