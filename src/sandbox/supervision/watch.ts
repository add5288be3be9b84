/**
 * The supervision of one run: looked at every few milliseconds, killed as a whole when a cap is passed.
 * Runs in a thread of its own where there is one, so that a busy caller cannot delay it; figures and
 * the verdict lie in shared memory, where the caller reads them when everything is dead.
 *
 * INVARIANT (first cap): the first cap found passed is the cause; later ones change nothing.
 * INVARIANT (the session lasts): in a sandbox that lasts, memory, processes and disk end commands, and the
 *   run goes on; only time ends it, or an agent that is itself what takes too much.
 */
import { RUN_CAPS, type RunCap } from '../../contracts/index.ts'
import type { Caps, EndedCommands } from '../driver/driver.ts'
import type { GroupFiles } from '../kernel/cgroup.ts'
import {
  filesystemFill,
  forkRefusals,
  freeBytes,
  groupCpuMs,
  groupTasks,
  groupTasksNow,
  memoryKills,
  NOTHING_NAMELESS,
  namelessFiles,
  type ProcessUse,
  processUse,
  proportionalBytes,
  type ReadText,
  textOr,
} from './meters.ts'
import { endCommands, endForMemory } from './offenders.ts'
import { killQuietly } from './process-tree.ts'
import { NO_USE, treeUse } from './tree-use.ts'

/** How often a run is looked at. */
export const WATCH_MS = 8

/** Where written bytes end up: a filesystem of their own, or directories on a shared one. */
export type DiskMeter =
  | { readonly kind: 'filesystem'; readonly path: string }
  | { readonly kind: 'directories'; readonly paths: readonly string[] }

/** What a control group had counted at one moment. */
export interface GroupCount {
  readonly cpuMs: number
  readonly kills: number
  readonly refusals: number
}

export function countedBy(group: GroupFiles, read: ReadText): GroupCount {
  return {
    cpuMs: groupCpuMs(group, read) ?? 0,
    kills: memoryKills(group, read),
    refusals: forkRefusals(group, read),
  }
}

/** Everything a thread needs to know of a run; survives being copied between threads. */
export interface WatchOrder {
  readonly shared: SharedArrayBuffer
  /** First process inside, as seen from outside. */
  readonly pid: number
  readonly caps: Caps
  readonly group: GroupFiles
  /** What the group had counted before this run, and earlier runs had used of the caps. */
  readonly base: GroupCount
  readonly usedCpuMs: number
  /** On the clock of `monotonicMs`. */
  readonly deadlineMs: number
  readonly disk: DiskMeter
  /** Tasks in the group that are not the command's. */
  readonly ownTasks: number
  /** Of a sandbox that lasts; null for one that ends with the first cap. */
  readonly lasting: { readonly hasTerminal: boolean } | null
}

/** Shared figures, as 64-bit floats. */
export const SLOT = {
  live: 0,
  cause: 1,
  cpuMs: 2,
  memoryBytes: 3,
  tasks: 4,
  diskBytes: 5,
  /** Time that was given after the start. */
  extendedMs: 6,
  /** How often commands were ended, and up to where that has been noted. */
  endedForMemory: 7,
  endedForProcesses: 8,
  endedForDisk: 9,
  kills: 10,
  refusals: 11,
  diskBytesAtEnd: 12,
  quietUntilMs: 13,
} as const
export const SLOTS_BYTES = 14 * 8
/**
 * The part of the cap on tasks that processes may be in a sandbox that lasts. Threads are many in builds
 * and browsers, processes are not, and a machine with thousands of them is too slow to end them.
 */
const PROCESSES_PART = 1 / 4
/** The kernel's own limit counts processes of the user outside as well, and so stops a run before its cap. */
const CROWDED_PART = 0.9
/** For what was ended to be gone. */
const QUIET_MS = 250

/** From the figures of a run; none without one. */
export function endedCommandsOf(figures: Float64Array | null): EndedCommands {
  const times = (slot: number): number => figures?.[slot] ?? 0
  return {
    memory: times(SLOT.endedForMemory),
    processes: times(SLOT.endedForProcesses),
    disk: times(SLOT.endedForDisk),
  }
}

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

export class Watch {
  readonly #order: WatchOrder
  readonly #read: ReadText
  readonly #figures: Float64Array
  readonly #disk: DiskWatch
  readonly #nameless: NamelessWatch
  readonly #memory: MemoryWatch
  #seenCpuMs = 0
  #lostCpuMs = 0

  constructor(order: WatchOrder, read: ReadText = textOr) {
    this.#order = order
    this.#read = read
    this.#figures = new Float64Array(order.shared)
    this.#nameless = new NamelessWatch(order.pid)
    this.#memory = new MemoryWatch(order.pid)
    this.#disk = new DiskWatch(order.disk, order.caps.diskMb, this.#nameless)
  }

  get isLive(): boolean {
    return this.#figures[SLOT.live] === 1
  }

  /** Looks once; kills when a cap is passed. */
  look(): void {
    if (!this.isLive) return
    const cap = this.passedCap()
    if (cap === null || !this.isLive || this.#isSpared(cap)) return
    this.#figures[SLOT.cause] = RUN_CAPS.indexOf(cap) + 1
    // The caller's own processes cannot be hit: the flag is taken down before the run is reaped.
    killQuietly(this.#order.pid, 'SIGKILL')
  }

  /** The first cap that is passed now, with all figures brought up to date. */
  passedCap(): RunCap | null {
    const { caps, group, base, deadlineMs, ownTasks } = this.#order
    const use = needsProcesses(group) ? processUse(this.#order.pid) : null
    this.#raise(SLOT.cpuMs, this.#cpuMs(use))
    const memoryBytes = this.#memoryBytes(use)
    this.#raise(SLOT.memoryBytes, memoryBytes)
    this.#raise(SLOT.tasks, (groupTasks(group, this.#read) ?? 0) - ownTasks)
    this.#raise(SLOT.tasks, use?.tasks ?? 0)
    const isFull = this.#disk.isOver()
    this.#raise(SLOT.diskBytes, this.#disk.bytes)
    if (this.#order.usedCpuMs + this.figure('cpuMs') >= caps.cpuMs) return 'cpu'
    const isOverMemory = group.memory === undefined && memoryBytes > this.#memoryCapBytes
    const kills = Math.max(base.kills, this.figure('kills'))
    if (memoryKills(group, this.#read) > kills || isOverMemory) return 'memory'
    const refusals = Math.max(base.refusals, this.figure('refusals'))
    const isRefused = forkRefusals(group, this.#read) > refusals
    if (isRefused || this.#isCrowded(use)) return 'processes'
    if (isFull && this.#disk.bytes > this.#diskBytesNoted) return 'disk'
    return monotonicMs() >= deadlineMs + this.figure('extendedMs') ? 'duration' : null
  }

  #isCrowded(use: ProcessUse | null): boolean {
    const { caps, group, lasting, pid } = this.#order
    if (lasting === null) return this.figure('tasks') > caps.processes
    const most = caps.processes * PROCESSES_PART
    const tasks = use?.tasks ?? groupTasksNow(group, this.#read)
    if (tasks <= most) return false
    return tasks > caps.processes * CROWDED_PART || (use ?? processUse(pid)).alive > most
  }

  /** What a view holds stays there when commands were ended: only more than that ends others. */
  get #diskBytesNoted(): number {
    return this.figure('endedForDisk') === 0 ? -1 : this.figure('diskBytesAtEnd') + MEBIBYTE
  }

  /** Ends commands in a sandbox that lasts; returns whether the run goes on. */
  #isSpared(cap: RunCap): boolean {
    const { lasting, pid, group } = this.#order
    if (lasting === null) return false
    if (monotonicMs() < this.figure('quietUntilMs')) return cap !== 'cpu' && cap !== 'duration'
    const { hasTerminal } = lasting
    this.#figures[SLOT.quietUntilMs] = monotonicMs() + QUIET_MS
    if (cap === 'memory') {
      this.#figures[SLOT.kills] = memoryKills(group, this.#read)
      // Where the kernel counts, it has ended the largest process itself.
      const capBytes = this.#memoryCapBytes
      const isOver = (): boolean => this.#memoryBytes(processUse(pid)) > capBytes
      const isAny = group.memory !== undefined || endForMemory(pid, hasTerminal, capBytes, isOver)
      return isAny === null || this.#noteEnded('endedForMemory', isAny)
    }
    if (cap === 'processes') {
      const isAny = endCommands(pid, hasTerminal)
      this.#figures[SLOT.refusals] = forkRefusals(group, this.#read)
      return this.#noteEnded('endedForProcesses', isAny)
    }
    if (cap !== 'disk') return false
    this.#figures[SLOT.diskBytesAtEnd] = this.#disk.bytes
    // A command that wrote it may have ended by itself: then only what grows further is the agent's.
    const isFirst = this.figure('endedForDisk') === 0
    return this.#noteEnded('endedForDisk', endCommands(pid, hasTerminal) || isFirst)
  }

  #noteEnded(
    slot: 'endedForMemory' | 'endedForProcesses' | 'endedForDisk',
    isAny: boolean,
  ): boolean {
    if (isAny) this.#figures[SLOT[slot]] = this.figure(slot) + 1
    return isAny
  }

  figure(name: keyof typeof SLOT): number {
    return this.#figures[SLOT[name]] ?? 0
  }

  /** For runs too short to be seen: what the shell inside counted, unless the kernel does. */
  raiseCpu(cpuMs: number): void {
    if (this.#order.group.cpu === undefined) this.#raise(SLOT.cpuMs, cpuMs)
  }

  #raise(slot: number, value: number): void {
    if (value > (this.#figures[slot] ?? 0)) this.#figures[slot] = value
  }

  get #memoryCapBytes(): number {
    return this.#order.caps.memoryMb * MEBIBYTE
  }

  /** Where the kernel does not count: what is resident, and files that lie in memory. */
  #memoryBytes(use: ProcessUse | null): number {
    const residentBytes = use?.memoryBytes ?? 0
    if (this.#order.group.memory !== undefined) return residentBytes
    const filesBytes = this.#nameless.now().memoryBytes
    const capBytes = this.#memoryCapBytes
    if (residentBytes + filesBytes <= capBytes) return residentBytes + filesBytes
    return this.#memory.proportional(residentBytes, capBytes - filesBytes) + filesBytes
  }

  /** Time of a process whose parent never asked for it vanishes from the sums; it stays counted here. */
  #cpuMs(use: ProcessUse | null): number {
    const counted = groupCpuMs(this.#order.group, this.#read)
    if (counted !== null) return counted - this.#order.base.cpuMs
    const seen = use?.cpuMs ?? 0
    if (seen < this.#seenCpuMs) this.#lostCpuMs += this.#seenCpuMs - seen
    this.#seenCpuMs = seen
    return this.#lostCpuMs + seen
  }
}

const MEBIBYTE = 1024 * 1024

function needsProcesses(group: GroupFiles): boolean {
  return group.cpu === undefined || group.memory === undefined || group.processes === undefined
}

/** The time between two looks, so that at most a quarter of it goes into looking. */
function pauseAfter(tookMs: number): number {
  return Math.max(4 * tookMs, 100)
}

/**
 * What processes use when shared pages count once. Asking takes milliseconds, so it is done now and
 * then, and before anything is killed; in between, what became resident since counts in full.
 */
class MemoryWatch {
  readonly #pid: number
  #bytes = 0
  #residentBytes = 0
  #nextMs = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  proportional(residentBytes: number, capBytes: number): number {
    const grownBytes = Math.max(0, residentBytes - this.#residentBytes)
    const before = monotonicMs()
    if (before < this.#nextMs && this.#bytes + grownBytes <= capBytes)
      return this.#bytes + grownBytes
    this.#bytes = proportionalBytes(this.#pid)
    this.#residentBytes = residentBytes
    const after = monotonicMs()
    this.#nextMs = after + pauseAfter(after - before)
    return this.#bytes
  }
}

/** Looking through all descriptors takes a while, so it is done now and then. */
class NamelessWatch {
  readonly #pid: number
  #found = NOTHING_NAMELESS
  #nextMs = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  now(): typeof NOTHING_NAMELESS {
    const before = monotonicMs()
    if (before < this.#nextMs) return this.#found
    this.#found = namelessFiles(this.#pid)
    const after = monotonicMs()
    this.#nextMs = after + pauseAfter(after - before)
    return this.#found
  }
}

/** As many entries as the filesystem in memory takes, for as much disk. */
export function entriesMax(diskMb: number): number {
  return 4096 + diskMb * 512
}

/** A run ends when a shared disk has less free than this, even if its own files are not the cause. */
const RESERVE_BYTES = 512 * MEBIBYTE

/**
 * A filesystem of its own tells how full it is. On a shared one the free space is the cheap sign that
 * something is written, and the directories are walked when it moved or a while has passed.
 */
class DiskWatch {
  bytes = 0
  readonly #meter: DiskMeter
  readonly #diskMb: number
  readonly #nameless: NamelessWatch
  #use = NO_USE
  #freeAtFirst: number | null = null
  #freeBefore: number | null = null
  #nextWalkMs = 0

  constructor(meter: DiskMeter, diskMb: number, nameless: NamelessWatch) {
    this.#meter = meter
    this.#diskMb = diskMb
    this.#nameless = nameless
  }

  isOver(): boolean {
    if (this.#meter.kind === 'filesystem') {
      const { usedBytes, isFull } = filesystemFill(this.#meter.path)
      this.bytes = usedBytes
      return isFull
    }
    const { paths } = this.#meter
    const free = freeBytes(paths[0] ?? '/')
    this.#freeAtFirst ??= free
    if (this.#isWalkDue(free)) this.#walk(paths)
    this.bytes = this.#use.bytes + this.#nameless.now().diskBytes
    return (
      this.bytes > this.#capBytes ||
      this.#use.entries > entriesMax(this.#diskMb) ||
      free < Math.min(RESERVE_BYTES, this.#freeAtFirst / 2)
    )
  }

  get #capBytes(): number {
    return this.#diskMb * MEBIBYTE
  }

  #isWalkDue(free: number): boolean {
    if (this.#freeBefore === null || monotonicMs() >= this.#nextWalkMs) return true
    return this.#freeBefore - free > (this.#capBytes - this.bytes) / 2
  }

  #walk(paths: readonly string[]): void {
    const before = monotonicMs()
    this.#use = treeUse(paths, entriesMax(this.#diskMb))
    this.#freeBefore = freeBytes(paths[0] ?? '/')
    const after = monotonicMs()
    this.#nextWalkMs = after + pauseAfter(after - before)
  }
}
