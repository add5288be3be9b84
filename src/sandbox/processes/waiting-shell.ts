/**
 * The shell that waits inside as first process, seen from outside: how the host learns its number,
 * whether other processes are left, and when it is dead.
 */
import { close, openSync, readdirSync, readFileSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { faultError } from '../../base/index.ts'
import { quote } from '../../machine/index.ts'
import type { SideRequest } from '../driver/driver.ts'
import type { FifoStock } from '../pipes/fifo-stock.ts'
import type { Lines } from '../pipes/lines.ts'
import {
  destroyEnds,
  type Ends,
  feed,
  finish,
  flow,
  openEnds,
  type Pipes,
} from '../pipes/pipe-ends.ts'
import { isDead, lastMade, processUse } from '../supervision/meters.ts'
import { killQuietly } from '../supervision/process-tree.ts'
import { type GroupCount, monotonicMs, SLOT, type WatchOrder } from '../supervision/watch.ts'
import { commandLines, limitLines, type ProcessLimits, toolPipes } from './run-script.ts'

const LOOK_MS = 5
const QUIET_LOOKS = 2
const PROGRAM = 'bwrap'

/** A shell that waits inside, or soon will, and our ends of its pipes. */
interface StartedShell {
  readonly pid: number
  readonly ends: Ends
  /** Comes when bubblewrap has ended. */
  readonly end: Promise<unknown>
  /** Its mounts. This process holds them, so the kernel does not unmount them while the last process exits. */
  readonly mounts: number
}

export interface ReadyShell extends StartedShell {
  /** What its group had counted when it gave its word: all that comes later is the command's. */
  readonly counted: GroupCount
}

/** Until bubblewrap has told of its child, whose shell will wait; null when it did not get so far. */
export async function comingIn(
  status: Lines,
  ends: Ends,
  end: Promise<unknown>,
): Promise<StartedShell | null> {
  const pid = await childPid(status, end)
  if (pid === null) return null
  const mounts = openOrNull(`/proc/${pid}/ns/mnt`)
  return mounts === null ? null : { pid, ends, end, mounts }
}

/** As bubblewrap tells it, in the numbers of this process's namespace. */
async function childPid(status: Lines, end: Promise<unknown>): Promise<number | null> {
  for (;;) {
    const line = await status.nextOr(end)
    const pid = Number(/"child-pid": (\d+)/.exec(line ?? '')?.[1] ?? 0)
    // One that is dead belongs to a bubblewrap that did not get far.
    if (pid > 0 && !isDead(pid)) return pid
    if (line === null) return null
  }
}

/** Bubblewrap has reaped it, or is gone itself. */
export async function dead(
  { pid, end }: ReadyShell,
  { shared }: WatchOrder,
  status: Lines,
): Promise<void> {
  // Ends the supervision: from now on the number may belong to another process.
  new Float64Array(shared)[SLOT.live] = 0
  if (isDead(pid)) return
  killQuietly(pid, 'SIGKILL')
  // Waits for bubblewrap's report: polling /proc would slow the process's end.
  const told = await status.nextOr(end)
  if (told === null || !told.includes('exit-code')) await untilDead(pid)
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch {
    // It ended in this moment.
    return null
  }
}

/** Closes the last handle on the mounts without waiting: the kernel takes them down slowly. */
export function letGo({ mounts }: StartedShell): void {
  close(mounts, () => undefined)
}

const TURNS = 20

/** Mostly at once, so a few turns of the loop are tried before the clock is asked. */
async function untilDead(pid: number): Promise<void> {
  for (let turn = 0; !isDead(pid); turn++) {
    await (turn < TURNS ? nextTurn() : pause(1))
  }
}

/** Ends a waiting shell that was never started. */
export async function endWaiting(coming: Promise<ReadyShell>): Promise<void> {
  const waiting = await coming.catch(() => null)
  if (waiting === null) return
  killQuietly(waiting.pid, 'SIGKILL')
  await untilDead(waiting.pid)
  destroyEnds(waiting.ends)
  letGo(waiting)
}

/** How many processes still live when the command's leftovers had their time. */
export async function aloneOrLate(pid: number, untilMs: number): Promise<number> {
  // A look can miss processes that follow one another: so it is quiet only when none was made.
  let last = lastMade(pid)
  for (let quiet = 0; ; ) {
    const { alive } = processUse(pid)
    const made = lastMade(pid)
    quiet = alive === 0 && made === last ? quiet + 1 : 0
    if (quiet === QUIET_LOOKS) return 0
    if (monotonicMs() >= untilMs) return quiet > 0 ? 0 : Math.max(alive, 1)
    last = made
    await pause(LOOK_MS)
  }
}

/**
 * Bubblewrap processes that outlived their parent. The kernel kills them with it, except for a moment at
 * their start, when the second of two waits for a message that only the first can send. Where there are
 * control groups they are swept with their group; this is for machines without.
 *
 * Kills those that were started for a sandbox in this directory, whose owner is known to be gone.
 */
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

/**
 * The host's end of the side shell: a shell that waits next to a command, in the same namespaces and
 * under the same caps, and runs further commands one after another. It reads their scripts from the
 * socket of the first process, which the command does not have. Their streams are named pipes.
 */
export function noCommandLeft() {
  const message = 'the command of the sandbox has ended, so no other can run next to it'
  return faultError('sandbox.closed', '', message)
}

interface Told {
  readonly request: SideRequest
  readonly ends: Ends
  readonly settle: (status: number | null) => void
}

export class SideShell {
  readonly #pipes: Pipes
  readonly #limits: ProcessLimits
  readonly #tell: (line: string) => void
  readonly #fifos: FifoStock
  #hasPipes = false
  #isAsked = false
  #told: Told | null = null
  #isDone = false

  constructor(
    directory: string,
    fifos: FifoStock,
    limits: ProcessLimits,
    tell: (line: string) => void,
  ) {
    this.#pipes = toolPipes(directory)
    this.#fifos = fifos
    this.#limits = limits
    this.#tell = tell
  }

  /** The exit status; null when it did not come to its end. One at a time. */
  async run(request: SideRequest): Promise<number | null> {
    if (this.#isDone || this.#isAsked) throw noCommandLeft()
    this.#isAsked = true
    try {
      await this.#takePipes()
      return await this.#begin(request)
    } finally {
      this.#isAsked = false
    }
  }

  /** Most commands ask for nothing, so the first request takes the pipes. */
  async #takePipes(): Promise<void> {
    if (this.#hasPipes) return
    await this.#fifos.take(Object.values(this.#pipes))
    this.#hasPipes = true
  }

  #begin(request: SideRequest): Promise<number | null> {
    if (this.#isDone) throw noCommandLeft()
    return new Promise((settle) => {
      const ends = openEnds(this.#pipes)
      flow(ends, request.onOutput)
      this.#told = { request, ends, settle }
      for (const line of this.#script(request).split('\n')) this.#tell(`+${line}`)
      this.#tell('.')
    })
  }

  /** A line of the shells inside; false when it is not about this. */
  take(line: string): boolean {
    if (line === 'D') {
      this.#isDone = true
      if (this.#told === null) this.#tell('end')
      return true
    }
    if (line === 'S') {
      if (this.#told !== null) feed(this.#told.ends.stdin, this.#told.request.stdin)
      return true
    }
    const [, status] = /^O(\d+)$/.exec(line) ?? []
    if (status === undefined) return false
    this.#settle(Number(status))
    if (this.#isDone) this.#tell('end')
    return true
  }

  /** Everything inside is dead. */
  end(): void {
    this.#isDone = true
    this.#settle(null)
  }

  #settle(status: number | null): void {
    const told = this.#told
    if (told === null) return
    this.#told = null
    finish(told.ends, this.#pipes, told.request.onOutput)
    told.settle(status)
  }

  #script({ argv, cwd, env }: SideRequest): string {
    return [
      ...limitLines(this.#limits),
      `cd ${quote(cwd)} || exit 125`,
      ...commandLines(argv, env),
    ].join('\n')
  }
}
