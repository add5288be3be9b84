/** How a command ended, as the shell tells that waited for it inside. */
import { constants } from 'node:os'
import type { RunOutcome } from '../driver/driver.ts'

const { signals } = constants

const SIGINT = 2
const SIGPIPE = 13
export const SIGXCPU = 24
export const SIGXFSZ = 25

/** How the command ended; without a status everything was killed. */
export interface CommandEnd {
  readonly status: number | null
  /** What the shell said, which it does when a signal ended the command. */
  readonly words: readonly string[]
  readonly left: number
  readonly isMisplaced: boolean
  /** The first process reported what it never reports by itself. */
  readonly isMalformed?: true
  /** Of all that was waited for, as the shell inside counts. */
  readonly cpuMs: number
}

const LAST = /^X(\d{1,3})( 1)?$/
const SIGNAL = /^signal \d{1,2}$/
const STATUS_MAX = 255

/** Returns the last report, which has the status and whether no other process is left; null for others. */
export function lastReport(line: string): { status: number; isAlone: boolean } | null {
  const [whole, status, alone] = LAST.exec(line) ?? []
  return whole === undefined ? null : { status: Number(status), isAlone: alone !== undefined }
}

/** Whether a line has the form of a report with a content that no report has. */
export function isMalformed(line: string): boolean {
  if (line.startsWith('X')) return (lastReport(line)?.status ?? Infinity) > STATUS_MAX
  return line.startsWith('signal') && !SIGNAL.test(line)
}

/** What the shell inside tells before its last word: times, that it found no directory, a signal. */
export class ShellReport {
  readonly #words: string[] = []
  #times: readonly number[] = []

  take(line: string): void {
    const times = [...line.matchAll(/(\d+)m([\d.]+)s/g)]
    if (times.length === 2) {
      this.#times = times.map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds))
    } else this.#words.push(line)
  }

  ending(): Pick<CommandEnd, 'words' | 'isMisplaced' | 'cpuMs'> {
    return {
      words: this.#words,
      isMisplaced: this.#words.includes('C'),
      // The last line is that of the children.
      cpuMs: this.#times.reduce((sum, seconds) => sum + seconds * 1000, 0),
    }
  }
}

/** With a command that a signal ended the shell says so, except for these two. */
const SILENT_SIGNALS = [SIGINT, SIGPIPE]

export function exitOf({ status, words }: CommandEnd): Pick<RunOutcome, 'exitCode' | 'signal'> {
  if (status === null) return { exitCode: null, signal: 'SIGKILL' }
  const signal = status - 128
  const isSignal = signal > 0 && (words.length > 0 || SILENT_SIGNALS.includes(signal))
  const name = isSignal ? signalName(signal) : null
  return name === null ? { exitCode: status, signal: null } : { exitCode: null, signal: name }
}

function signalName(number: number): string | null {
  return Object.entries(signals).find(([, value]) => value === number)?.[0] ?? null
}
