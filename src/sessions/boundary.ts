/**
 * Decides when a session may settle by itself (S-4): when the processes that wrote are done, never in the
 * middle of an installation or a rebase, and never more often than every two seconds.
 *
 * The agent's own process writes files too and does not end, so it counts as done when it writes nothing
 * for a moment. A server that the agent started counts as done when it has written nothing for a while.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { namesIfThere } from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'

/** What is asked of a session at every look. */
interface SessionLook {
  readonly nowMs: number
  /** Processes inside, parents before their children. */
  readonly processes: readonly number[]
  /** Those that hold a file of the view open for writing; costs time, so it is called last. */
  readonly writers: () => readonly number[]
  /** Names of directories of git in the view that are being changed. */
  readonly isGitBusy: boolean
}

const BETWEEN_MS = 2_000
/** The agent itself wrote nothing for so long. */
const AGENT_QUIET_MS = 600
/** A process that stays wrote nothing for so long. */
const STAYING_QUIET_MS = 30_000
/** Processes that began with the agent belong to it. */
const FIRST_MS = 5_000

interface Seen {
  readonly bytes: number
  readonly firstMs: number
  readonly wroteMs: number | null
}

export class Boundary {
  /** When the first process was seen: on a busy machine that is long after the start. */
  #startedMs: number | null = null
  readonly #seen = new Map<number, Seen>()
  readonly #bytesOf: (pid: number) => number | null
  #settledMs: number

  constructor(startedMs: number, bytesOf: (pid: number) => number | null = writtenBytes) {
    this.#settledMs = startedMs
    this.#bytesOf = bytesOf
  }

  settled(nowMs: number): void {
    this.#settledMs = nowMs
  }

  /** Looks at the processes; returns whether what is pending can be settled now. */
  isReached({ nowMs, processes, writers, isGitBusy }: SessionLook): boolean {
    this.look(nowMs, processes)
    // All have ended: what a limit interrupted looks finished then, and the end of the session judges.
    if (processes.length === 0) return false
    if (nowMs - this.#settledMs < BETWEEN_MS || isGitBusy) return false
    return processes.every((pid) => this.#isDone(pid, nowMs)) && writers().length === 0
  }

  /** Notes which processes there are; also while nothing is pending, so that those of the agent are known. */
  look(nowMs: number, processes: readonly number[]): void {
    const living = new Set(processes)
    for (const pid of this.#seen.keys()) if (!living.has(pid)) this.#seen.delete(pid)
    if (processes.length > 0) this.#startedMs ??= nowMs
    for (const pid of processes) {
      const bytes = this.#bytesOf(pid) ?? 0
      const before = this.#seen.get(pid)
      const firstMs = before?.firstMs ?? nowMs
      const wrote = bytes > (before?.bytes ?? 0)
      this.#seen.set(pid, { bytes, firstMs, wroteMs: wrote ? nowMs : (before?.wroteMs ?? null) })
    }
  }

  #isDone(pid: number, nowMs: number): boolean {
    const seen = this.#seen.get(pid)
    if (seen === undefined || seen.wroteMs === null) return true
    const isAgents = seen.firstMs - (this.#startedMs ?? seen.firstMs) < FIRST_MS
    return nowMs - seen.wroteMs >= (isAgents ? AGENT_QUIET_MS : STAYING_QUIET_MS)
  }
}

/** What a process wrote to files so far; null if it is gone or cannot be looked at. */
function writtenBytes(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/io`, 'latin1')
    return Number(/^write_bytes: (\d+)/m.exec(text)?.[1] ?? 0)
  } catch {
    return null
  }
}

/** What git leaves in its directory while a command of several steps is under way. */
const UNDER_WAY = ['rebase-merge', 'rebase-apply', 'sequencer']

/** Whether a command of git is at work in one of these directories, as the view shows them. */
export function isGitBusy(directories: readonly string[]): boolean {
  return directories.some((directory) => {
    if (UNDER_WAY.some((name) => existsSync(join(directory, name)))) return true
    return namesIfThere(directory).some((name) => name.endsWith('.lock'))
  })
}

/** Where git keeps its state of each root, as the view shows it. */
export function gitDirectories(
  layers: readonly Layer[],
  roots: readonly string[],
): readonly string[] {
  return roots.flatMap((root) => {
    const layer = layers.find((one) => root === one.root || root.startsWith(`${one.root}/`))
    if (layer === undefined) return []
    const place = `${layer.merged}${root.slice(layer.root.length)}`
    return [join(place, '.git'), place]
  })
}
