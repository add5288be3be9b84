/**
 * Where the two sides of a layer and both together are reached from: each root is held open, so that
 * no root can be exchanged while it is read, and long paths of the tree are not made longer by the way
 * to it. Children of this process reach the same places by the same paths.
 */

import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  readdirSync,
  statSync,
} from 'node:fs'
import type { EntryState, RawPath } from '../gate/index.ts'
import { isAbsent } from './failure.ts'
import { openEntry } from './no-follow.ts'

export interface HeldDirectory {
  readonly prefix: RawPath
  close(): void
}

/** Fails when the path is a symbolic link or no directory. */
export function holdDirectory(path: string | Buffer): HeldDirectory {
  const descriptor = openEntry(path, 'enter')
  return {
    // ASCII, which is its own raw path.
    prefix: `/proc/${process.pid}/fd/${descriptor}` as RawPath,
    close: () => closeSync(descriptor),
  }
}

/** The end of the path of a held directory itself, for calls that do not follow links. */
const ITSELF = '/.'

export function itselfAt(prefix: RawPath): RawPath {
  // A raw path and ASCII.
  return `${prefix}${ITSELF}` as RawPath
}

/** A path in one piece: texts that were added up are kept in parts, which take more memory. */
export function flatPath(directory: RawPath, name: RawPath): RawPath {
  return [directory === '/' ? '' : directory, name].join('/') as RawPath
}

/** What Node takes as a path: the very bytes. */
export function nodePath(path: RawPath): string | Buffer {
  // Calls that follow links reach a held directory without the right to enter it.
  const short = path.endsWith(ITSELF) ? path.slice(0, -ITSELF.length) : path
  return isPlain(short) ? short : Buffer.from(short, 'latin1')
}

function isPlain(path: string): boolean {
  for (let index = 0; index < path.length; index++) {
    if (path.charCodeAt(index) > 127) return false
  }
  return true
}

export function statsOf(path: RawPath): EntryStats | null {
  const stats = allStatsOf(path)
  return stats === null ? null : new EntryStats(stats)
}

/** Returns all fields of an entry's stats; null if it does not exist. */
export function allStatsOf(path: RawPath): BigIntStats | null {
  try {
    const look = path.endsWith(ITSELF) ? statSync : lstatSync
    return look(nodePath(path), { bigint: true })
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

/** Returns the kind of an entry. Callers refuse devices, sockets and pipes before. */
export function kindOf(stats: EntryStats): EntryState['kind'] {
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'symlink'
}

export function namesIn(directory: RawPath): RawPath[] {
  // In latin1 each byte is a character, as in a raw path.
  return readdirSync(nodePath(directory), { encoding: 'latin1' }) as RawPath[]
}

export function codeOf(error: unknown): string {
  // Errors of the system have a code; others may lack it.
  return (error as NodeJS.ErrnoException).code ?? ''
}

/**
 * Permission bits lent to unreadable entries of an upper layer while they are read, and given back
 * afterwards. As root nothing has to be lent.
 */
export class LentPermissions {
  readonly #needed: boolean
  readonly #lent: { readonly path: RawPath; readonly mode: number }[] = []

  constructor(isRoot: boolean) {
    this.#needed = !isRoot
  }

  /** `through` is where the mode is changed: the overlay keeps its own copy of a directory's mode. */
  lend(stats: EntryStats, through: RawPath, bits = stats.isDirectory() ? 0o700 : 0o400): void {
    const { mode } = stats
    if (!this.#needed || (mode & bits) === bits) return
    chmodSync(nodePath(through), mode | bits)
    this.#lent.push({ path: through, mode })
  }

  giveBack(): void {
    // From the leaves up: entries below a directory are out of reach once its mode is restored.
    for (const { path, mode } of this.#lent.splice(0).reverse()) chmodSync(nodePath(path), mode)
  }
}

const { S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK } = constants

/**
 * What a look at an entry tells, in a small object: lists hold hundreds of thousands of them, and the
 * ones that Node makes are several times as large.
 */
export class EntryStats {
  readonly #mode: number
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  /** Apparent size in bytes; not exact above 2^53. */
  readonly size: number
  readonly rdev: bigint
  readonly dev: bigint
  readonly ino: bigint | number
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint

  constructor(stats: BigIntStats) {
    this.#mode = Number(stats.mode)
    this.nlink = Number(stats.nlink)
    this.uid = Number(stats.uid)
    this.gid = Number(stats.gid)
    this.size = Number(stats.size)
    this.rdev = shared(stats.rdev)
    this.dev = shared(stats.dev)
    this.ino = stats.ino <= Number.MAX_SAFE_INTEGER ? Number(stats.ino) : stats.ino
    this.atimeNs = stats.atimeNs
    this.mtimeNs = stats.mtimeNs
    this.ctimeNs = stats.ctimeNs
  }

  /** Permission bits with setuid, setgid and sticky. */
  get mode(): number {
    return this.#mode & 0o7777
  }

  /** Names the file among all files of this machine. */
  get inode(): string {
    return `${this.dev}:${this.ino}`
  }

  isFile(): boolean {
    return this.#isOf(S_IFREG)
  }

  isDirectory(): boolean {
    return this.#isOf(S_IFDIR)
  }

  isSymbolicLink(): boolean {
    return this.#isOf(S_IFLNK)
  }

  isCharacterDevice(): boolean {
    return this.#isOf(S_IFCHR)
  }

  isFIFO(): boolean {
    return this.#isOf(S_IFIFO)
  }

  isSocket(): boolean {
    return this.#isOf(S_IFSOCK)
  }

  #isOf(type: number): boolean {
    return (this.#mode & S_IFMT) === type
  }
}

const KNOWN = new Map<bigint, bigint>()

/** Devices are few: one number for all entries of each. */
function shared(device: bigint): bigint {
  const known = KNOWN.get(device)
  if (known !== undefined) return known
  KNOWN.set(device, device)
  return device
}
