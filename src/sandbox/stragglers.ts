/**
 * Bubblewraps that outlived who started them. The kernel kills them with their parent, except for a
 * moment at their start in which the second of two still waits for a word of the first and nobody else
 * can give it. Where there are control groups these are swept with their group; this is for the others.
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
