/**
 * What the kernel tells of an entry, held in a third of the memory that Node's own form takes: an act
 * may change hundreds of thousands of files, and one of these is kept for each of them.
 */
import { type BigIntStats, constants } from 'node:fs'

export class EntryStats {
  readonly ino: bigint
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly #dev: number
  readonly #mode: number
  readonly #nlink: number
  readonly #uid: number
  readonly #gid: number
  readonly #rdev: number
  readonly #size: number
  readonly #blocks: number

  constructor(stats: BigIntStats) {
    this.ino = stats.ino
    this.atimeNs = stats.atimeNs
    this.mtimeNs = stats.mtimeNs
    this.ctimeNs = stats.ctimeNs
    this.#dev = Number(stats.dev)
    this.#mode = Number(stats.mode)
    this.#nlink = Number(stats.nlink)
    this.#uid = Number(stats.uid)
    this.#gid = Number(stats.gid)
    this.#rdev = Number(stats.rdev)
    this.#size = Number(stats.size)
    this.#blocks = Number(stats.blocks)
  }

  get dev(): bigint {
    return BigInt(this.#dev)
  }

  get mode(): bigint {
    return BigInt(this.#mode)
  }

  get nlink(): bigint {
    return BigInt(this.#nlink)
  }

  get uid(): bigint {
    return BigInt(this.#uid)
  }

  get gid(): bigint {
    return BigInt(this.#gid)
  }

  get rdev(): bigint {
    return BigInt(this.#rdev)
  }

  get size(): bigint {
    return BigInt(this.#size)
  }

  get blocks(): bigint {
    return BigInt(this.#blocks)
  }

  isFile(): boolean {
    return this.#is(constants.S_IFREG)
  }

  isDirectory(): boolean {
    return this.#is(constants.S_IFDIR)
  }

  isSymbolicLink(): boolean {
    return this.#is(constants.S_IFLNK)
  }

  isCharacterDevice(): boolean {
    return this.#is(constants.S_IFCHR)
  }

  isFIFO(): boolean {
    return this.#is(constants.S_IFIFO)
  }

  isSocket(): boolean {
    return this.#is(constants.S_IFSOCK)
  }

  #is(kind: number): boolean {
    return (this.#mode & constants.S_IFMT) === kind
  }
}
