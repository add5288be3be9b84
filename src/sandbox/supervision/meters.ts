/**
 * Reading what a sandbox uses: from its control group where there is one, else from the /proc of its
 * own process namespace. Reads only; what to do about a figure is decided by who asks.
 *
 * Files that processes inside hold open and that no name leads to: removed ones, which still lie on a
 * disk, and those that never had a name, which lie in memory. No directory and no resident size shows
 * them.
 */
import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readableNames } from '../../machine/index.ts'
import type { GroupFiles } from '../kernel/cgroup.ts'

export interface ProcessUse {
  readonly cpuMs: number
  /** Resident sizes added up: pages that processes share count once for each of them. */
  readonly memoryBytes: number
  /** Tasks, as the kernel counts them: threads too, the waiting shell not. */
  readonly tasks: number
  /** Processes besides the waiting shell that are not dead. */
  readonly alive: number
}

const NOTHING: ProcessUse = { cpuMs: 0, memoryBytes: 0, tasks: 0, alive: 0 }
/** `USER_HZ` and the page are fixed parts of the kernel's interface on both architectures here. */
const TICK_MS = 10
const PAGE_BYTES = 4096
export const NOTHING_NAMELESS: Nameless = { memoryBytes: 0, diskBytes: 0 }

/** Where the processes of a namespace are listed as they count themselves, by its first process. */
function procInside(pid: number): string {
  return join('/proc', String(pid), 'root', 'proc')
}

/** Sums over every process of the namespace whose first process has this id outside. */
export function processUse(pid: number): ProcessUse {
  const directory = procInside(pid)
  try {
    // Before bubblewrap has changed its root, the path still shows the whole machine's processes.
    if (statSync(directory).dev === statSync('/proc').dev) return NOTHING
    let sum = NOTHING
    for (const name of readdirSync(directory)) {
      if (/^\d+$/.test(name)) sum = plus(sum, name === '1', join(directory, name))
    }
    return sum
  } catch {
    // The namespace ended while it was looked at.
    return NOTHING
  }
}

/**
 * Sums the proportional sizes of the same processes: a page that n of them share counts 1/n for each.
 * Takes about a millisecond for 20 MB, during which a process cannot change its mappings.
 */
export function proportionalBytes(pid: number): number {
  const directory = procInside(pid)
  let sum = 0
  try {
    if (statSync(directory).dev === statSync('/proc').dev) return 0
    for (const name of readdirSync(directory)) {
      if (/^\d+$/.test(name) && name !== '1') sum += proportionalOf(join(directory, name))
    }
  } catch {
    // The namespace ended while it was looked at.
  }
  return sum
}

/** The resident size where the kernel does not show the other one, as of a process that forbids it. */
function proportionalOf(directory: string): number {
  const found = /^Pss:\s+(\d+) kB$/m.exec(textOr(join(directory, 'smaps_rollup')))
  if (found !== null) return Number(found[1]) * 1024
  return Number(statOf(join(directory, 'stat'))?.[21] ?? 0) * PAGE_BYTES
}

function plus(sum: ProcessUse, isFirst: boolean, directory: string): ProcessUse {
  const fields = statOf(join(directory, 'stat'))
  if (fields === null) return sum
  const number = (index: number): number => Number(fields[index] ?? 0)
  const ticks = number(11) + number(12) + number(13) + number(14)
  const isDead = fields[0] === 'Z' || fields[0] === 'X'
  return {
    cpuMs: sum.cpuMs + (ticks === 0 ? youngMs(directory) : ticks * TICK_MS),
    memoryBytes: sum.memoryBytes + (isFirst ? 0 : number(21) * PAGE_BYTES),
    tasks: sum.tasks + (isFirst ? 0 : number(17)),
    alive: sum.alive + (isFirst || isDead ? 0 : 1),
  }
}

/** Of a process that has not lived for a tick: a shower of those would be counted as nothing. */
function youngMs(directory: string): number {
  return Number(textOr(join(directory, 'schedstat')).split(' ')[0]) / 1e6
}

/** The fields behind the name, which may hold blanks and brackets itself; the state comes first. */
function statOf(file: string): readonly string[] | null {
  const text = textOr(file)
  const end = text.lastIndexOf(')')
  return end < 0 ? null : text.slice(end + 2).split(' ')
}

/** The number of the process that was made last inside, as its namespace counts. */
export function lastMade(pid: number): string {
  return textOr(join(procInside(pid), 'loadavg')).split(' ')[4] ?? ''
}

/** Whether a process is gone or only waits to be reaped. */
export function isDead(pid: number): boolean {
  // Usually it is gone, and this call is faster than a read that throws.
  if (statSync(`/proc/${pid}`, { throwIfNoEntry: false }) === undefined) return true
  const state = statOf(`/proc/${pid}/stat`)?.[0]
  return state === undefined || state === 'Z' || state === 'X'
}

/** A sandbox's terminal. All numbers are of our own PID namespace. */
export interface HeldTerminal {
  /** The foreground process group. */
  readonly group: number
  /** The first process that has the terminal: the child of `script(1)`. */
  readonly leader: number
  readonly relay: number
}

/** Returns the terminal of `first` or of a process below it; null if there is none. */
export function terminalOf(first: number): HeldTerminal | null {
  const open = [first]
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    const fields = statOf(`/proc/${pid}/stat`)
    const group = Number(fields?.[5] ?? -1)
    if (group > 0) return { group, leader: pid, relay: Number(fields?.[1]) }
    if (open.length > CHILDREN_MAX) return null
    open.push(...childrenOf(pid))
  }
  return null
}

/** When a process began, on a clock of its own; 0 if it is gone. */
export function startOf(pid: number): number {
  return Number(statOf(`/proc/${pid}/stat`)?.[19] ?? 0)
}

/** The resident bytes of a process. */
export function memoryOf(pid: number): number {
  return Number(statOf(`/proc/${pid}/stat`)?.[21] ?? 0) * PAGE_BYTES
}

/** The letter of a process's state in /proc; `X` if it is gone. */
export function stateOf(pid: number): string {
  return statOf(`/proc/${pid}/stat`)?.[0] ?? 'X'
}

export const SIGCHLD = 17

/** Whether a signal waits for a process that has not taken it yet. */
export function hasPending(pid: number, signal: number): boolean {
  const masks = textOr(`/proc/${pid}/status`).matchAll(/^(?:SigPnd|ShdPnd):\s+([0-9a-f]+)$/gm)
  return [...masks].some(([, mask]) => ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n)
}

/** Everything below this process that shares its group, itself left out. */
export function groupMembers(first: number): readonly number[] {
  const group = groupOf(first)
  const members: number[] = []
  const open = [...childrenOf(first)]
  for (let pid = open.shift(); pid !== undefined; pid = open.shift()) {
    if (groupOf(pid) === group) members.push(pid)
    if (open.length <= CHILDREN_MAX) open.push(...childrenOf(pid))
  }
  return members
}

function groupOf(pid: number): string | undefined {
  return statOf(`/proc/${pid}/stat`)?.[2]
}

/** Empty also where the kernel does not tell. */
export function childrenOf(pid: number): readonly number[] {
  return textOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** The terminal belongs to a grandchild, so the search need not go through more processes than this. */
const CHILDREN_MAX = 1000

/** How a file of a group is read; empty when it cannot be. */
export type ReadText = (file: string) => string

export function groupCpuMs({ cpu }: GroupFiles, read: ReadText = textOr): number | null {
  if (cpu === undefined) return null
  const text = read(cpu.file)
  if (cpu.form === 'nanoseconds') return Number(text) / 1e6
  return Number(/^usage_usec (\d+)/m.exec(text)?.[1] ?? 0) / 1000
}

export function groupMemoryPeak({ memory }: GroupFiles, read: ReadText = textOr): number | null {
  if (memory === undefined) return null
  return Number(read(memory.peak) || read(memory.now))
}

/** How often the kernel killed for want of memory. */
export function memoryKills({ memory }: GroupFiles, read: ReadText = textOr): number {
  if (memory === undefined) return 0
  return Number(/^oom_kill (\d+)/m.exec(read(memory.events))?.[1] ?? 0)
}

export function groupTasks({ processes }: GroupFiles, read: ReadText = textOr): number | null {
  if (processes === undefined) return null
  return Number(read(processes.peak) || read(processes.now))
}

export function groupTasksNow({ processes }: GroupFiles, read: ReadText = textOr): number {
  return processes === undefined ? 0 : Number(read(processes.now))
}

/** How often the kernel refused another process. */
export function forkRefusals({ processes }: GroupFiles, read: ReadText = textOr): number {
  if (processes === undefined) return 0
  return Number(/^max (\d+)/m.exec(read(processes.events))?.[1] ?? 0)
}

interface Fill {
  readonly usedBytes: number
  readonly isFull: boolean
}

export function filesystemFill(path: string): Fill {
  try {
    const { blocks, bfree, bsize, bavail, ffree } = statfsSync(path)
    return { usedBytes: (blocks - bfree) * bsize, isFull: bavail === 0 || ffree === 0 }
  } catch {
    return { usedBytes: 0, isFull: false }
  }
}

export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return 0
  }
}

export function textOr(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

interface Nameless {
  readonly memoryBytes: number
  readonly diskBytes: number
}

/** Of every process in the namespace whose first process has this id outside. */
export function namelessFiles(pid: number): Nameless {
  const top = procInside(pid)
  const seen = new Set<string>()
  let { memoryBytes, diskBytes } = NOTHING_NAMELESS
  // Before bubblewrap has changed its root, the path still shows the whole machine's processes.
  if (deviceOf(top) === deviceOf('/proc')) return NOTHING_NAMELESS
  for (const process of readableNames(top)) {
    if (!/^\d+$/.test(process)) continue
    for (const descriptor of readableNames(`${top}/${process}/fd`)) {
      const file = `${top}/${process}/fd/${descriptor}`
      const target = targetOf(file)
      if (!target.endsWith(' (deleted)')) continue
      const bytes = bytesOf(file, seen)
      if (target.startsWith('/memfd:')) memoryBytes += bytes
      else diskBytes += bytes
    }
  }
  return { memoryBytes, diskBytes }
}

/** Each file once, however many hold it; one whose name only looks like it has links. */
function bytesOf(file: string, seen: Set<string>): number {
  try {
    const { dev, ino, nlink, blocks } = statSync(file)
    const key = `${dev}:${ino}`
    if (nlink > 0 || seen.has(key)) return 0
    seen.add(key)
    return blocks * 512
  } catch {
    // Closed meanwhile.
    return 0
  }
}

function targetOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

function deviceOf(path: string): number | null {
  try {
    return statSync(path).dev
  } catch {
    return null
  }
}
