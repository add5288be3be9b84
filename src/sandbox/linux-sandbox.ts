/**
 * One sandbox on Linux: runs commands one after another on the same layers, each in a process namespace
 * of its own that is dead before the next begins.
 *
 * INVARIANT (dead before read): a run resolves only after bubblewrap has reaped the first process
 *   inside, which the kernel lets die last, and after the last byte of output came.
 */
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { faultError } from '../base/index.ts'
import { RUN_CAPS, type RunCap } from '../contracts/index.ts'
import { removeTree } from '../machine/index.ts'
import type {
  Control,
  EndedCommands,
  Keeper,
  Layer,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxRequest,
  SideRequest,
} from './driver/driver.ts'
import { startFailure } from './driver/failure.ts'
import { LineChannel } from './pipes/lines.ts'
import {
  closeToOthers,
  destroyEnds,
  type Ends,
  feed,
  finish,
  flow,
  openEnds,
} from './pipes/pipe-ends.ts'
import { controlsOf } from './preparation/controls.ts'
import { leftIn, type Opened, OWN_TASKS } from './preparation/open-sandbox.ts'
import { Freezer, ownProcesses } from './processes/freeze.ts'
import { HolderKeeper } from './processes/keeper.ts'
import { RunDoor } from './processes/run-door.ts'
import {
  extraTasks,
  type ProcessLimits,
  processLimits,
  runScripts,
  sizeLine,
} from './processes/run-script.ts'
import { resumeTerminal } from './processes/terminal-resume.ts'
import {
  aloneOrLate,
  comingIn,
  dead,
  endWaiting,
  letGo,
  noCommandLeft,
  type ReadyShell,
  SideShell,
} from './processes/waiting-shell.ts'
import {
  type CommandEnd,
  exitOf,
  isMalformed,
  lastReport,
  ShellReport,
  SIGXCPU,
  SIGXFSZ,
} from './supervision/command-end.ts'
import { KeptFiles } from './supervision/kept-files.ts'
import { groupMembers, groupMemoryPeak, processUse, terminalOf } from './supervision/meters.ts'
import { NetworkAttempts } from './supervision/network-attempts.ts'
import { killQuietly, processesBelow } from './supervision/process-tree.ts'
import { Trace } from './supervision/trace.ts'
import {
  countedBy,
  endedCommandsOf,
  monotonicMs,
  SLOT,
  SLOTS_BYTES,
  Watch,
  type WatchOrder,
} from './supervision/watch.ts'
import type { Watcher } from './supervision/watcher.ts'

/** How long processes that the command left behind may take to end (G-12). */
const GRACE_MS = 2000
const LAUNCHES_MAX = 5
/** What bubblewrap says when a socket that is hidden went away, and with it what hid it. */
const MASK_GONE = /Unable to apply mount flags.*(?:No such file or directory|Invalid argument)/
const MEBIBYTE = 1024 * 1024

export class LinuxSandbox implements Sandbox {
  readonly layers: readonly Layer[]
  readonly controls: readonly Control[]
  readonly keeper: Keeper | null
  #request: SandboxRequest
  readonly #opened: Opened
  readonly #watcher: Watcher
  readonly #meters = new KeptFiles()
  readonly #read = (file: string): string => this.#meters.text(file)
  #waiting: Promise<ReadyShell> | null
  #running: ReadyShell | null = null
  /** Whether the command was started; before that a signal has no receiver. */
  #isTold = false
  #lastEnd: Promise<unknown> | null = null
  #active: Promise<unknown> | null = null
  #hasTerminal = false
  readonly #freezer = new Freezer()
  #sideShell: SideShell | null = null
  #door: RunDoor | null = null
  #traced = 0
  #onClosed: () => void = () => undefined
  #usedCpuMs = 0
  #usedMs = 0
  #closed: Promise<void> | null = null
  /** What the supervision of the current run shares; null without one. */
  #figures: Float64Array | null = null

  /** Does not wait for the shell inside; `run` does. */
  constructor(request: SandboxRequest, opened: Opened, watcher: Watcher) {
    this.#request = request
    this.#opened = opened
    this.#watcher = watcher
    this.layers = opened.layers
    this.controls = controlsOf(request, opened)
    this.keeper = HolderKeeper.of(opened)
    // The holder starts the first bubblewrap by itself.
    this.#waiting = this.#inside(opened.ends, opened.holder.control.next())
    // `run` awaits it and gets the failure. If `close` comes first, the failure does not matter.
    this.#waiting.catch(() => undefined)
  }

  get isAlive(): boolean {
    return this.#opened.holder.isAlive
  }

  /** Gives a sandbox that was made in advance its real request; only the caps on time may differ. */
  adopt(request: SandboxRequest): void {
    this.#request = request
  }

  signal(name: NodeJS.Signals): void {
    if (this.#running === null || !this.#isTold) return
    const { pid } = this.#running
    // Everything inside ends with its first process.
    if (name === 'SIGKILL') return killQuietly(pid, name)
    if (this.#freezer.takes(name)) return
    const terminal = this.#hasTerminal ? terminalOf(pid) : null
    if (terminal !== null && name !== 'SIGCONT') {
      // What relays a terminal stops with what it relays.
      killQuietly(-terminal.group, name)
      return
    }
    // The waiting shell is of the command's group, and an interrupt would end it and so everything.
    for (const member of groupMembers(pid)) killQuietly(member, name)
    if (terminal !== null) resumeTerminal(pid, () => this.#running?.pid === pid && this.#isTold)
  }

  allProcesses(): readonly number[] {
    if (this.#running === null) return []
    return processesBelow(this.#running.pid)
  }

  processes(): readonly number[] {
    if (this.#running === null || !this.#isTold) return []
    const { pid } = this.#running
    const own = this.#ownProcesses(pid)
    return processesBelow(pid).filter((each) => !own.has(each))
  }

  #ownProcesses(first: number): ReadonlySet<number> {
    const channel = this.#sideShell !== null
    return ownProcesses(first, { terminal: this.#hasTerminal, channel })
  }

  async freeze(): Promise<() => void> {
    if (this.#running === null || !this.#isTold) return () => undefined
    const { pid } = this.#running
    return this.#freezer.freeze({
      first: pid,
      own: this.#ownProcesses(pid),
      hasTerminal: this.#hasTerminal,
      isRunning: () => this.#running?.pid === pid && this.#isTold,
      signal: (name) => this.signal(name),
    })
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    if (this.#closed !== null) throw faultError('sandbox.closed', '', 'the sandbox is closed')
    if (this.#active !== null) {
      throw faultError('sandbox.failed', '', 'the sandbox runs one command at a time')
    }
    const active = this.#runNext(request)
    this.#active = active
    try {
      return await active
    } finally {
      this.#active = null
    }
  }

  async #runNext(request: RunRequest): Promise<RunOutcome> {
    // A command starts sooner when what can be done before the shell gives its word is done by then.
    const limits = this.#prepare(request)
    this.#waiting ??= this.#launch()
    const waiting = await this.#waiting
    // Who closed it meanwhile takes care of what waits.
    if (this.#closed !== null) throw faultError('sandbox.closed', '', 'the sandbox is closed')
    this.#waiting = null
    this.#running = waiting
    this.#lastEnd = waiting.end
    this.#hasTerminal = request.terminal !== null
    const { network } = this.#request
    const namespace = { owner: this.#opened.holder.pid, inside: waiting.pid }
    try {
      if (network !== undefined) this.#door = await RunDoor.open(network, namespace)
      return await this.#runIn(waiting, request, limits)
    } finally {
      this.#running = null
      this.#isTold = false
      this.#door?.close()
      this.#door = null
      letGo(waiting)
    }
  }

  async connectInside(port: number): Promise<Socket | null> {
    return this.#isTold ? (this.#door?.connect(port) ?? null) : null
  }

  /** Called once, when nothing of the sandbox is left. */
  whenClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  close(): Promise<void> {
    this.#closed ??= this.#close().then(() => this.#onClosed())
    return this.#closed
  }

  async #close(): Promise<void> {
    const { holder, group, directory, backing, scripts } = this.#opened
    if (this.#running !== null) killQuietly(this.#running.pid, 'SIGKILL')
    // A run that this kills still returns its outcome. Without a run or a waiting shell, this kills the
    // holder before its first await: the holder dies slowly, and the caller can go on meanwhile.
    if (this.#active !== null) await this.#active.catch(() => undefined)
    if (this.#waiting !== null) await endWaiting(this.#waiting)
    // Only then: removing what is still mounted somewhere keeps the kernel from mounting elsewhere.
    await holder.kill()
    this.#meters.close()
    scripts.close()
    await Promise.all([removeTree(directory), backing.release(), group?.remove()])
  }

  async #launch(tries = LAUNCHES_MAX): Promise<ReadyShell> {
    const { holder, pipes } = this.#opened
    // The bubblewrap before this one has to be gone, or its end would be taken for ours.
    await this.#lastEnd
    const ends = openEnds(pipes)
    const end = holder.control.next()
    holder.go()
    return this.#inside(ends, end, tries - 1)
  }

  /** Until the shell inside has given its word. */
  async #inside(ends: Ends, end: Promise<unknown>, tries = LAUNCHES_MAX - 1): Promise<ReadyShell> {
    const { holder } = this.#opened
    const coming = comingIn(holder.status, ends, end)
    const words: string[] = []
    // What an earlier run said too late comes before the word of this one.
    for (let line = await holder.inner.nextOr(end); line !== 'R'; ) {
      if (line === null) {
        destroyEnds(ends)
        const fallen = await coming
        if (fallen !== null) letGo(fallen)
        if (tries > 0 && words.some((word) => MASK_GONE.test(word))) return this.#launch(tries)
        throw notStarted(words, holder.words())
      }
      words.push(line)
      line = await holder.inner.nextOr(end)
    }
    const waiting = await coming
    if (waiting === null) throw notStarted([], '')
    return { ...waiting, counted: countedBy(this.#opened.group?.files ?? {}, this.#read) }
  }

  /** Writes the scripts of the run, which the shells inside read when they start. */
  #prepare(request: RunRequest): ProcessLimits {
    const limits = processLimits(
      this.#request.caps,
      request.terminal !== null,
      this.#opened.group?.files.processes !== undefined,
    )
    this.#opened.scripts.write(runScripts(request, limits))
    return limits
  }

  async #runIn(
    waiting: ReadyShell,
    request: RunRequest,
    limits: ProcessLimits,
  ): Promise<RunOutcome> {
    const { pid, ends } = waiting
    const { holder, pipes, withheld } = this.#opened
    const channel = this.#openChannel(request, limits)
    const order = this.#order(waiting, extraTasks(request))
    const startedMs = monotonicMs()
    const startedAtMs = Date.now()
    const onAbort = (): void => killQuietly(pid, 'SIGKILL')
    request.abort.addEventListener('abort', onAbort)
    if (request.abort.aborted) onAbort()
    const trace = request.isTraced !== true ? null : await this.#trace(pid, request)
    const reaching = this.#reaching(pid, request)
    const isClosed = channel !== null && this.#request.hasClosedOutput === true
    const reopen = isClosed ? closeToOthers(pipes, withheld) : null
    holder.tellInside('go')
    this.#isTold = true
    // All of this while the shell inside wakes up: what comes early waits in the pipes.
    this.#watcher.watch(order)
    feed(ends.stdin, request.stdin)
    flow(ends, request.onOutput)
    this.#followSize(request)
    this.#opened.tidy()
    const ended = await this.#ending(order, waiting.end)
    const watch = new Watch(order, this.#read)
    watch.raiseCpu(ended.cpuMs)
    const cause = this.#cause(watch, ended)
    await dead(waiting, order, holder.status)
    reaching?.end()
    this.#sideShell?.end()
    this.#sideShell = null
    reopen?.()
    finish(ends, pipes, request.onOutput)
    request.abort.removeEventListener('abort', onAbort)
    // Throws if an answer failed; by now nothing is left open.
    await channel?.end()
    if (ended.isMisplaced) throw this.#misplaced(request)
    if (ended.isMalformed === true) {
      const message = 'the first process inside reported something that it never reports by itself'
      throw faultError('sandbox.failed', '', message, 'nothing of this run is used; run it again')
    }
    const durationMs = monotonicMs() - startedMs
    this.#usedMs += durationMs
    this.#usedCpuMs += watch.figure('cpuMs')
    const isAborted = request.abort.aborted && cause === null
    return {
      startedAtMs,
      endedAtMs: startedAtMs + Math.round(durationMs),
      ...exitOf(ended),
      killedBy: cause,
      aborted: isAborted,
      resources: {
        cpuMs: Math.round(watch.figure('cpuMs')),
        memoryPeakMb: this.#memoryPeakMb(watch),
        diskMb: toMebibytes(watch.figure('diskBytes')),
        durationMs: Math.round(durationMs),
        processes: watch.figure('tasks'),
        enforcedBy: this.#enforcedBy(),
      },
      backgroundProcesses: ended.left,
      ...leftIn(this.#opened),
      ...(trace === null ? {} : { refused: await trace.end() }),
    }
  }

  /** Returns null if the caller does not ask for it, or the run has a network. */
  #reaching(pid: number, { onUnreachable }: RunRequest): NetworkAttempts | null {
    if (onUnreachable === undefined || this.#request.network !== undefined) return null
    return new NetworkAttempts(pid, onUnreachable)
  }

  /** Opens the channel: answers the command's lines from now on, and lets `runBeside` run others. */
  #openChannel({ channel }: RunRequest, limits: ProcessLimits): LineChannel | null {
    const { holder, tools, fifos } = this.#opened
    if (channel === undefined) return null
    if (holder.channel === null || tools === null) {
      throw faultError('sandbox.failed', '', 'the sandbox was opened without a channel')
    }
    this.#sideShell = new SideShell(tools, fifos, limits, (line) => holder.tellInside(line))
    return new LineChannel(holder.channel, channel)
  }

  extend(byMs: number): void {
    if (this.#figures === null) return
    this.#figures[SLOT.extendedMs] = (this.#figures[SLOT.extendedMs] ?? 0) + byMs
  }

  endedCommands(): EndedCommands {
    return endedCommandsOf(this.#figures)
  }

  async runBeside(request: SideRequest): Promise<number | null> {
    if (this.#sideShell === null) throw noCommandLeft()
    return this.#sideShell.run(request)
  }

  async #trace(pid: number, { cwd }: RunRequest): Promise<Trace> {
    return Trace.attach(pid, cwd, join(this.#opened.directory, `trace${this.#traced++}`))
  }

  #followSize({ terminal }: RunRequest): void {
    terminal?.onResize((rows, columns) => {
      if (this.#running !== null && this.#hasTerminal) {
        this.#opened.holder.tellInside(sizeLine({ rows, columns }))
      }
    })
  }

  #order({ pid, counted }: ReadyShell, terminalTasks: number): WatchOrder {
    const { group, disk } = this.#opened
    const { caps } = this.#request
    const shared = new SharedArrayBuffer(SLOTS_BYTES)
    this.#figures = new Float64Array(shared)
    this.#figures[SLOT.live] = 1
    return {
      shared,
      pid,
      caps,
      group: group?.files ?? {},
      base: counted,
      usedCpuMs: this.#usedCpuMs,
      deadlineMs: monotonicMs() + caps.durationMs - this.#usedMs,
      disk,
      ownTasks: OWN_TASKS + terminalTasks,
      lasting: this.#request.kept === undefined ? null : { hasTerminal: this.#hasTerminal },
    }
  }

  /** Until the command has ended, and what it left behind too or the grace is over. */
  async #ending({ pid, deadlineMs }: WatchOrder, end: Promise<unknown>): Promise<CommandEnd> {
    const { inner } = this.#opened.holder
    const told = new ShellReport()
    for (;;) {
      const line = await inner.nextOr(end)
      if (line === null) return { ...told.ending(), status: null, left: 0 }
      if (this.#sideShell?.take(line) === true) continue
      if (isMalformed(line)) return { ...told.ending(), status: null, left: 0, isMalformed: true }
      const last = lastReport(line)
      if (last === null) told.take(line)
      else {
        const { status, isAlone } = last
        const extendedMs = this.#figures?.[SLOT.extendedMs] ?? 0
        const graceMs = Math.min(monotonicMs() + GRACE_MS, deadlineMs + extendedMs)
        // One look from outside confirms a first process that says it is alone.
        const isEmpty = isAlone && processUse(pid).alive === 0
        const left = isEmpty ? 0 : await aloneOrLate(pid, graceMs)
        return { ...told.ending(), status, left }
      }
    }
  }

  /** The cap that was passed: found by the supervision, or seen now when it ended by itself. */
  #cause(watch: Watch, { status }: CommandEnd): RunCap | null {
    const found = RUN_CAPS[watch.figure('cause') - 1]
    // In a sandbox that lasts, what was passed has ended commands and not the run.
    const passed = found ?? (this.#request.kept === undefined ? watch.passedCap() : null)
    if (passed !== null && passed !== undefined) return passed
    if (status === 128 + SIGXCPU) return 'cpu'
    return status === 128 + SIGXFSZ ? 'disk' : null
  }

  #memoryPeakMb(watch: Watch): number {
    const group = this.#opened.group?.files
    const peak = group === undefined ? null : groupMemoryPeak(group, this.#read)
    return toMebibytes(peak ?? watch.figure('memoryBytes'))
  }

  #enforcedBy(): RunOutcome['resources']['enforcedBy'] {
    const files = this.#opened.group?.files
    const by = (isKernel: boolean) => (isKernel ? 'kernel' : 'polled')
    return {
      cpu: 'polled',
      memory: by(files?.memory !== undefined),
      disk: by(this.#opened.backing.kind === 'memory'),
      duration: 'polled',
      processes: by(files?.processes !== undefined),
    }
  }

  #misplaced({ cwd }: RunRequest) {
    return faultError('sandbox.cwd', cwd, `the directory \`${cwd}\` cannot be entered inside`)
  }
}

function notStarted(words: readonly string[], more: string) {
  return startFailure(words.join('\n') || more)
}

function toMebibytes(bytes: number): number {
  return Math.ceil((bytes / MEBIBYTE) * 10) / 10
}
