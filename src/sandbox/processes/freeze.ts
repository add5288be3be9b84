/**
 * Stops all processes of a sandbox and lets them continue, by signals. Children stop when their parents
 * have, and continue before them, so that a shell with job control never sees a job stop: by the time it
 * asks, the job continues. Threads are looked at one by one: a process counts as stopped when every
 * thread of it is.
 *
 * The first process stays awake: it answers renames, and a process that waits for such an answer stops
 * only after it has come. The relay of a terminal stops by itself with the process that it relays.
 *
 * Deliberately absent: the freezer of control groups of version 1. A frozen process of such a group
 * survives SIGKILL, so that one would outlive writ.
 */
import { readdirSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { faultError } from '../../base/index.ts'
import { groupMembers, stateOf, terminalOf, textOr } from '../supervision/meters.ts'
import { resumeTerminal } from './terminal-resume.ts'
import { killQuietly } from './waiting-shell.ts'

const FREEZE_MS = 5000
/** How often the processes are looked at without a pause. */
const QUICK_LOOKS = 20

/** A run that can be stopped. */
interface StoppableRun {
  /** Its first process, as seen from outside. */
  readonly first: number
  /** Those of writ. */
  readonly own: ReadonlySet<number>
  readonly hasTerminal: boolean
  isRunning(): boolean
  signal(name: NodeJS.Signals): void
}

export class Freezer {
  /** Signals that came while everything was stopped; null when nothing is. */
  #held: NodeJS.Signals[] | null = null

  /** Whether a signal has to wait until the processes continue. */
  takes(name: NodeJS.Signals): boolean {
    this.#held?.push(name)
    return this.#held !== null
  }

  async freeze(run: StoppableRun): Promise<() => void> {
    if (this.#held !== null) {
      throw faultError('sandbox.failed', '', 'the sandbox is stopped already')
    }
    const held: NodeJS.Signals[] = []
    this.#held = held
    try {
      const stopped = await stopBelow(run.first, (pid) => run.own.has(pid))
      return () => {
        if (this.#held !== held) return
        if (run.isRunning()) continueAll(stopped)
        this.#resume(run, held)
      }
    } catch (error) {
      this.#resume(run, held)
      throw error
    }
  }

  /** The relay of a terminal has stopped with the process that it relays. */
  #resume(run: StoppableRun, held: readonly NodeJS.Signals[]): void {
    this.#held = null
    if (!run.isRunning()) return
    if (run.hasTerminal) {
      for (const member of groupMembers(run.first)) killQuietly(member, 'SIGCONT')
      resumeTerminal(run.first, () => run.isRunning() && this.#held === null)
    }
    for (const name of held) run.signal(name)
  }
}

/** Returns the processes below one, parents before children. */
export function processesBelow(first: number): readonly number[] {
  const found: number[] = []
  const open = [...childrenOf(first)]
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    found.push(pid)
    open.push(...childrenOf(pid))
  }
  return found
}

/** Every thread has children of its own. */
function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) => {
    const children = textOr(`/proc/${pid}/task/${thread}/children`)
    return children === '' ? [] : children.split(' ').map(Number)
  })
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It ended meanwhile.
    return []
  }
}

/** Returns those below the first process that belong to writ: the shells around a command, the relay. */
export function ownProcesses(first: number, has: { terminal: boolean; channel: boolean }) {
  const own = new Set<number>()
  const held = has.terminal ? terminalOf(first) : null
  if (held !== null) {
    const shell = parentOf(held.relay)
    own.add(held.relay)
    // Before `script` has started, the terminal is one that the command made.
    if (shell !== first) for (const pid of [shell, ...childrenOf(shell)]) own.add(pid)
    own.delete(held.leader)
  }
  if (has.channel) {
    const [shell] = childrenOf(first)
    const [side] = shell === undefined ? [] : childrenOf(shell)
    for (const pid of [shell, side]) if (pid !== undefined) own.add(pid)
  }
  return own
}

function parentOf(pid: number): number {
  const text = textOr(`/proc/${pid}/stat`)
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

/**
 * Stops what is below `first`; returns the stopped ones, parents before children. Generation by
 * generation: a parent that has not really stopped yet would still be told that its child stops.
 */
async function stopBelow(
  first: number,
  isOwn: (pid: number) => boolean,
): Promise<readonly number[]> {
  const stopped = new Set<number>()
  const left = new Set<number>()
  const until = performance.now() + FREEZE_MS
  try {
    for (let quiet = 0; quiet < 2; ) {
      const before = stopped.size + left.size
      for (let level = [first]; level.length > 0; ) {
        level = level.flatMap(childrenOf)
        const ours = level.filter((pid) => !isOwn(pid))
        for (const pid of ours) stopOne(pid, stopped, left)
        await untilTrue(
          () => ours.every(isStill),
          until,
          () => notStopped(ours),
        )
      }
      await untilTrue(
        () => isIdle(first),
        until,
        () => notStopped([first]),
      )
      quiet = stopped.size + left.size === before ? quiet + 1 : 0
    }
  } catch (error) {
    continueAll([...stopped])
    throw error
  }
  return [...stopped]
}

/** `left` are those that were stopped before. */
function stopOne(pid: number, stopped: Set<number>, left: Set<number>): void {
  if (stopped.has(pid) || left.has(pid)) return
  if (stateOf(pid) === 'T') left.add(pid)
  else {
    stopped.add(pid)
    killQuietly(pid, 'SIGSTOP')
  }
}

async function untilTrue(holds: () => boolean, until: number, late: () => Error): Promise<void> {
  for (let look = 0; !holds(); look++) {
    if (performance.now() > until) throw late()
    await (look < QUICK_LOOKS ? nextTurn() : pause(1))
  }
}

/** Whether no thread of the process can run before it is continued. */
function isStill(pid: number): boolean {
  return threadsOf(pid).every((thread) => {
    const at = `/proc/${pid}/task/${thread}`
    const text = textOr(`${at}/stat`)
    const state = text === '' ? 'X' : text.charAt(text.lastIndexOf(')') + 2)
    if ('TtZX'.includes(state)) return true
    // The parent of a `vfork` waits for its child, which is stopped.
    return state === 'D' && isInVfork(at)
  })
}

/** `vfork`, `clone` and `clone3` on x86-64, then on arm64. */
const VFORKS = process.arch === 'x64' ? ['58', '56', '435'] : ['220', '435']

function isInVfork(thread: string): boolean {
  return VFORKS.includes(textOr(`${thread}/syscall`).split(' ')[0] ?? '')
}

/** `select`, `pselect6`, `poll`, `ppoll`, `read`: what the first process waits in when it has no work. */
const WAITS = process.arch === 'x64' ? ['23', '270', '7', '271', '0'] : ['72', '73', '63']

/** Whether the first process answers no rename. */
function isIdle(first: number): boolean {
  if (stateOf(first) !== 'S') return false
  const call = textOr(`/proc/${first}/syscall`).split(' ')[0] ?? ''
  return call === '' || WAITS.includes(call)
}

/** Children before parents. */
function continueAll(stopped: readonly number[]): void {
  for (const pid of [...stopped].reverse()) killQuietly(pid, 'SIGCONT')
}

function notStopped(awake: readonly number[]) {
  const names = awake.map((pid) => `${pid} (${textOr(`/proc/${pid}/comm`)})`).join(', ')
  const message = `processes inside did not stop within ${FREEZE_MS / 1000} s: ${names || 'the first one'}`
  return faultError('sandbox.failed', '', message, 'try again when they are less busy')
}
