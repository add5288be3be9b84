/**
 * What the processes inside use: working directories, roots, open files, mappings and watches. The
 * kernel keeps the overlay's objects for all of these, and for the directories above them, when something
 * changes in the layers.
 *
 * A process may keep its own user from reading what it has open, as keepers of keys do; the sandbox's
 * keeper looks then. If it cannot either, everything counts as used.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { isBelow, parentOfRaw, type RawPath } from '../gate/index.ts'
import { errnoOf } from '../machine/index.ts'
import type { Keeper } from '../sandbox/index.ts'

export class Pins {
  /** Files open or mapped for writing, with those that belong to them. */
  readonly busy = new Set<RawPath>()
  /** Processes that have a file open for writing. */
  readonly writers = new Set<number>()
  #isBlind = false
  readonly #users = new Map<RawPath, Set<number>>()
  readonly #inodes = new Map<string, Set<number>>()
  readonly #busyInodes = new Set<string>()
  readonly #roots: readonly RawPath[]

  constructor(roots: readonly RawPath[]) {
    this.#roots = roots
  }

  /** Whether a process uses the path or something below it. */
  isPinned(path: RawPath): boolean {
    return this.#isBlind || this.#users.has(path)
  }

  holdsInode(inode: bigint | null): boolean {
    return inode !== null && (this.#isBlind || this.#inodes.has(String(inode)))
  }

  /** Whether a process writes to the file, by any of its names. */
  writesInode(inode: bigint): boolean {
    return this.#busyInodes.has(String(inode))
  }

  usersOf(path: RawPath, inodes: readonly (bigint | null)[]): readonly number[] {
    const users = new Set(this.#users.get(path) ?? [])
    for (const inode of inodes)
      for (const pid of this.#inodes.get(String(inode)) ?? []) users.add(pid)
    return [...users]
  }

  /** The used paths, every one after the directory that holds it. */
  paths(): readonly RawPath[] {
    return [...this.#users.keys()].sort()
  }

  isInside(path: RawPath): boolean {
    return this.#roots.some((root) => isBelow(path, root))
  }

  usePath(pid: number, path: RawPath): void {
    const root = this.#roots.find((each) => isBelow(path, each))
    if (root === undefined) return
    for (let each = path; ; each = parentOfRaw(each)) {
      const users = this.#users.get(each)
      if (users === undefined) this.#users.set(each, new Set([pid]))
      else users.add(pid)
      if (each === root || each === '/') return
    }
  }

  useInode(pid: number, inode: bigint | string): void {
    const users = this.#inodes.get(String(inode))
    if (users === undefined) this.#inodes.set(String(inode), new Set([pid]))
    else users.add(pid)
  }

  write(pid: number, path: RawPath, inode: bigint | null): void {
    this.writers.add(pid)
    if (inode !== null) this.#busyInodes.add(String(inode))
    for (const each of unitOf(path)) this.busy.add(each)
  }

  giveUp(): void {
    this.#isBlind = true
  }
}

const COMPANIONS = ['-wal', '-shm', '-journal']

/** A database file and the files that belong to it, from the name of any of them. */
function unitOf(path: RawPath): readonly RawPath[] {
  const ending = COMPANIONS.find((each) => path.endsWith(each)) ?? ''
  // Endings are ASCII, so the texts stay raw.
  const base = path.slice(0, path.length - ending.length) as RawPath
  return [base, ...COMPANIONS.map((each) => `${base}${each}` as RawPath)]
}

export async function readPins(
  pids: readonly number[],
  roots: readonly RawPath[],
  keeper: Keeper,
): Promise<Pins> {
  const pins = new Pins(roots)
  const closed = readProcesses(await threadsOf(pids, keeper), pins)
  const answers = await keeper.ask(closed.map((pid) => ({ does: 'files', path: String(pid) })))
  for (const [index, pid] of closed.entries()) useAnswer(pid, answers[index] ?? '', pins)
  return pins
}

/** Processes that have a file of a covered root open for writing, as far as this user may look. */
export function readWriters(
  pids: readonly number[],
  roots: readonly RawPath[],
): ReadonlySet<number> {
  const pins = new Pins(roots)
  const all = pids.map((pid) => ({ pid, threads: namesIn(`/proc/${pid}/task`) }))
  readProcesses(all, pins)
  return pins.writers
}

interface Threads {
  readonly pid: number
  readonly threads: readonly string[]
}

/**
 * The first thread of each process, and those that share no open files or no directories with it. If
 * the kernel does not tell, all of them.
 */
async function threadsOf(pids: readonly number[], keeper: Keeper): Promise<readonly Threads[]> {
  const all = pids.map((pid) => ({ pid, threads: namesIn(`/proc/${pid}/task`) }))
  const several = all.filter(({ threads }) => threads.length > 1)
  const answers = await keeper.ask(
    several.map(({ pid }) => ({ does: 'threads', path: String(pid) })),
  )
  const own = new Map(several.map(({ pid }, index) => [pid, answers[index] ?? '']))
  return all.map((process) => {
    const [known, ...apart] = (own.get(process.pid) ?? '').split(' ')
    return known === '+' ? { pid: process.pid, threads: [String(process.pid), ...apart] } : process
  })
}

/** Returns the processes whose open files this user may not list. */
function readProcesses(processes: readonly Threads[], pins: Pins): readonly number[] {
  return processes.flatMap(({ pid, threads }) => {
    const ends = threads.map((thread) => readThread(pid, thread, pins))
    readMaps(pid, threads, pins)
    return ends.includes('closed') ? [pid] : []
  })
}

/**
 * A thread can have open files of its own, also after the first thread of its process has ended. A
 * thread that ended uses nothing.
 */
function readThread(pid: number, thread: string, pins: Pins): 'closed' | 'read' {
  const at = `/proc/${pid}/task/${thread}`
  try {
    for (const name of ['cwd', 'root']) useLink(pid, `${at}/${name}`, pins)
    return useOpenFiles(pid, at, pins)
  } catch (error) {
    if (!isEnded(errnoOf(error))) pins.giveUp()
    return 'read'
  }
}

/** All threads have the same mappings, but the first one none after it has ended. */
function readMaps(pid: number, threads: readonly string[], pins: Pins): void {
  for (const thread of new Set([String(pid), ...threads])) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/maps`, 'latin1')
      if (text === '') continue
      return useMaps(pid, text, pins)
    } catch (error) {
      if (!isEnded(errnoOf(error))) pins.giveUp()
    }
  }
}

function useOpenFiles(pid: number, at: string, pins: Pins): 'closed' | 'read' {
  const names = openFilesIn(`${at}/fd`)
  for (const name of names ?? []) {
    const target = useLink(pid, `${at}/fd/${name}`, pins)
    if (target === null) continue
    if (target === 'anon_inode:inotify') useWatches(pid, `${at}/fdinfo/${name}`, pins)
    else if (pins.isInside(withoutMark(target)) && isWritable(flagsIn(`${at}/fdinfo/${name}`))) {
      pins.write(pid, target, inodeOf(`${at}/fd/${name}`))
    }
  }
  return names === null ? 'closed' : 'read'
}

/** Null if this user may not list them. */
function openFilesIn(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return null
    throw error
  }
}

function isEnded(code: string | null): boolean {
  return code === 'ENOENT' || code === 'ESRCH'
}

/** None if the process has ended. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isEnded(errnoOf(error))) return []
    throw error
  }
}

/** Of the keeper's task `files`. */
function useAnswer(pid: number, answer: string, pins: Pins): void {
  const [known, ...files] = answer.split(' ')
  if (known !== '+') return pins.giveUp()
  for (const file of files) {
    const [flags = '', hex = '', inodes = ''] = file.split(',')
    // In latin1 each byte is a character, as in a raw path.
    const target = Buffer.from(hex, 'hex').toString('latin1') as RawPath
    const isInside = usePlaces(pid, target, pins)
    if (!isInside && target !== 'anon_inode:inotify') continue
    const numbers = inodes.split(':').filter((inode) => inode !== '')
    for (const inode of numbers) pins.useInode(pid, inode)
    if (isInside && isWritable(Number.parseInt(flags, 8))) {
      pins.write(pid, target, numbers[0] === undefined ? null : BigInt(numbers[0]))
    }
  }
}

const DELETED = ' (deleted)'

function withoutMark(path: RawPath): RawPath {
  // A part of a raw path is raw.
  return path.endsWith(DELETED) ? (path.slice(0, -DELETED.length) as RawPath) : path
}

/** Notes where a link of /proc leads; null when it is closed by now. */
function useLink(pid: number, link: string, pins: Pins): RawPath | null {
  const target = linkTarget(link)
  if (target === null) return null
  if (usePlaces(pid, target, pins)) useInodes(pid, link, pins)
  return target
}

/** Returns whether it is in a covered root. A file may really have the ending in its name: both count. */
function usePlaces(pid: number, target: RawPath, pins: Pins): boolean {
  const places = [...new Set([target, withoutMark(target)])]
  for (const place of places) pins.usePath(pid, place)
  return places.some((place) => pins.isInside(place))
}

function linkTarget(link: string): RawPath | null {
  try {
    return readlinkSync(link, 'latin1') as RawPath // A character is a byte, as in a raw path.
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null
    throw error
  }
}

/** The inode itself, and those of the directories above a directory: some may have no name any more. */
function useInodes(pid: number, link: string, pins: Pins): void {
  const found = statSync(link, { bigint: true, throwIfNoEntry: false })
  if (found === undefined) return
  pins.useInode(pid, found.ino)
  if (!found.isDirectory()) return
  let { ino } = found
  for (let up = `${link}/..`; up.length < UP_MAX; up = `${up}/..`) {
    const above = upStats(up)
    if (above === undefined || above.dev !== found.dev || above.ino === ino) return
    ino = above.ino
    pins.useInode(pid, ino)
  }
}

const UP_MAX = 1000

function upStats(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // A directory that this user may not pass through: its path counts all the same.
    return undefined
  }
}

function inodeOf(link: string): bigint | null {
  return statSync(link, { bigint: true, throwIfNoEntry: false })?.ino ?? null
}

/** The kernel tells inodes of watches, and no paths. */
function useWatches(pid: number, file: string, pins: Pins): void {
  for (const [, inode] of textOf(file).matchAll(/^inotify wd:\S+ ino:([0-9a-f]+) /gm)) {
    pins.useInode(pid, BigInt(`0x${inode}`))
  }
}

const ACCESS = 0o3
const PATH_ONLY = 0o10000000

function isWritable(flags: number): boolean {
  return (flags & ACCESS) !== 0 && (flags & PATH_ONLY) === 0
}

function flagsIn(file: string): number {
  return Number.parseInt(/^flags:\s*([0-7]+)/m.exec(textOf(file))?.[1] ?? '0', 8)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (isEnded(errnoOf(error))) return ''
    throw error
  }
}

/** Lines `from-to rights offset device inode path`; a newline in a path is written as `\012`. */
function useMaps(pid: number, text: string, pins: Pins): void {
  for (const line of text.split('\n')) {
    const start = line.indexOf('/')
    if (start < 0) continue
    // Read as latin1: a character is a byte.
    const path = line.slice(start).replaceAll('\\012', '\n') as RawPath
    const place = withoutMark(path)
    if (!pins.isInside(place)) continue
    for (const each of new Set([path, place])) pins.usePath(pid, each)
    const [, rights = '', , , inode = '0'] = line.split(/ +/, 5)
    pins.useInode(pid, inode)
    if (rights[1] === 'w' && rights[3] === 's') pins.write(pid, path, BigInt(inode))
  }
}
