/**
 * Stops all processes of a sandbox and lets them continue, by signals. Children stop when their parents
 * have, and continue before them, so that a shell with job control never sees a job stop: by the time it
 * asks, the job continues. Threads are looked at one by one: a process counts as stopped when every
 * thread of it is.
 *
 * The first process stays awake: it answers renames, and a process that waits for such an answer stops
 * only after it has come. The relay of a terminal stops before the process that it relays, which it would
 * continue otherwise.
 *
 * Deliberately absent: the freezer of control groups of version 1. A frozen process of such a group
 * survives SIGKILL, so that one would outlive writ.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { faultError } from '../../base/index.ts'
import {
  type HeldTerminal,
  hasPending,
  SIGCHLD,
  stateOf,
  terminalOf,
  textOr,
} from '../supervision/meters.ts'
import { childrenOf, killQuietly, threadsOf } from '../supervision/process-tree.ts'

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
  #resumed: Promise<void> = Promise.resolve()

  /** Whether a signal has to wait until the processes continue. */
  takes(name: NodeJS.Signals): boolean {
    this.#held?.push(name)
    return this.#held !== null
  }

  async freeze(run: StoppableRun): Promise<() => void> {
    // The relay continues its child some time after the last thaw.
    await this.#resumed
    if (this.#held !== null) {
      throw faultError('sandbox.failed', '', 'the sandbox is stopped already')
    }
    const held: NodeJS.Signals[] = []
    this.#held = held
    const terminal = run.hasTerminal ? terminalOf(run.first) : null
    const isOwn = (pid: number): boolean => run.own.has(pid) && pid !== terminal?.relay
    const stopped: number[] = []
    const thaw = (): void => {
      if (this.#held !== held) return
      this.#held = null
      if (!run.isRunning()) return
      const isRelayed = terminal !== null && stopped.includes(terminal.leader)
      continueAll(stopped.filter((pid) => !isRelayed || pid !== terminal.leader))
      if (isRelayed) this.#resumed = resumeRelayed(terminal, run.isRunning)
      for (const name of held) run.signal(name)
    }
    try {
      await stopBelow(run.first, isOwn, stopped)
      return thaw
    } catch (error) {
      thaw()
      throw error
    }
  }
}

const RELAY_MS = 2000
const RELAY_LOOK_MS = 2
/** So many looks without news, and `script` will do nothing more by itself. */
const QUIET_LOOKS = 3

/**
 * Continues the child of `script(1)` by means of `script`, which stops itself when it reads that its child
 * was stopped, and continues the child when it is continued. The kernel keeps one SIGCHLD at a time: if
 * the child ended before `script` has read the one about the stop, `script` would never learn of the end.
 */
async function resumeRelayed(
  { leader, relay }: HeldTerminal,
  isRunning: () => boolean,
): Promise<void> {
  const until = performance.now() + RELAY_MS
  for (let quiet = 0; quiet < QUIET_LOOKS && isRunning() && performance.now() < until; ) {
    await pause(RELAY_LOOK_MS)
    quiet = hasPending(relay, SIGCHLD) || stateOf(relay) === 'T' ? 0 : quiet + 1
    if (stateOf(relay) === 'T') killQuietly(relay, 'SIGCONT')
    else if (stateOf(leader) === 'T' && quiet === QUIET_LOOKS) {
      // Another SIGCHLD was waiting, and the one about the stop was lost.
      killQuietly(leader, 'SIGCONT')
      quiet = 0
    }
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
 * Stops what is below `first` and lists it in `stopped`, parents before children. Generation by
 * generation: a parent that has not really stopped yet would still learn that its child stops.
 */
async function stopBelow(
  first: number,
  isOwn: (pid: number) => boolean,
  stopped: number[],
): Promise<void> {
  const seen = new Set<number>()
  const until = performance.now() + FREEZE_MS
  for (let quiet = 0; quiet < 2; ) {
    const before = seen.size
    for (let level = [first]; level.length > 0; ) {
      level = level.flatMap(childrenOf)
      const ours = level.filter((pid) => !isOwn(pid))
      for (const pid of ours) if (!seen.has(pid)) stopOne(pid, seen, stopped)
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
    quiet = seen.size === before ? quiet + 1 : 0
  }
}

/** A process that is stopped already is not continued later. */
function stopOne(pid: number, seen: Set<number>, stopped: number[]): void {
  seen.add(pid)
  if (stateOf(pid) === 'T') return
  stopped.push(pid)
  killQuietly(pid, 'SIGSTOP')
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
