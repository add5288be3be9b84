/**
 * What a look at an entry tells, in a small object: lists hold hundreds of thousands of them, and the
 * ones that Node makes are several times as large.
 */
import { type BigIntStats, constants } from 'node:fs'

const { S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK } = constants

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
