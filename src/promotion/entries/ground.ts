/**
 * Real paths, reached without following a symbolic link: every directory on the way is opened from
 * the one above it, and the last name is used through the open directory (`/proc/self/fd/N/name`).
 * If another process swaps a directory for a link meanwhile, opening it fails with ENOTDIR.
 *
 * Directories stay open while a promotion works; `moved` tells afterwards which of them are not where
 * they were. The addresses are good until the next call only: few are kept open at a time.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import { bytesOfRaw, nameOfRaw, parentOfRaw, type RawPath } from '../../gate/index.ts'
import { errnoOf, openEntry } from '../../machine/index.ts'

const OPEN_MAX = 192

export class Ground {
  readonly #open = new Map<RawPath, number>()
  /** Device and inode of every directory that was ever opened here. */
  readonly #known = new Map<RawPath, string>()

  /** The address of an entry inside its directory. */
  at(path: RawPath): Buffer {
    const directory = this.#directory(parentOfRaw(path))
    const name = bytesOfRaw(nameOfRaw(path))
    return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name])
  }

  /** The address of a directory itself, for other processes as well. */
  directory(path: RawPath): string {
    return `/proc/${process.pid}/fd/${this.#directory(path)}`
  }

  /** Null when the directory, or one above it, is not there. */
  atIfThere(path: RawPath): Buffer | null {
    try {
      return this.at(path)
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return null
      throw error
    }
  }

  /** Opens a directory for reading and syncing; the caller closes it. */
  openDirectory(path: RawPath): number {
    return openSync(this.directory(path), constants.O_RDONLY | constants.O_DIRECTORY)
  }

  deviceOf(path: RawPath): number {
    return fstatSync(this.#directory(path)).dev
  }

  /** Returns the directories that another process has moved or replaced since they were first opened. */
  moved(directories: Iterable<RawPath>): RawPath[] {
    const fresh = new Ground()
    try {
      return [...directories].filter((path) => {
        const known = this.#known.get(path)
        return known !== undefined && fresh.#identity(path) !== known
      })
    } finally {
      fresh.close()
    }
  }

  /** Forgets directories that a step moved itself. */
  forget(path: RawPath): void {
    for (const known of [...this.#known.keys()]) {
      if (known !== path && !known.startsWith(`${path}/`)) continue
      this.#known.delete(known)
      this.#close(known)
    }
  }

  close(): void {
    for (const path of [...this.#open.keys()]) this.#close(path)
  }

  #identity(path: RawPath): string | null {
    try {
      this.#directory(path)
      return this.#known.get(path) ?? null
    } catch (error) {
      if (errnoOf(error) === null) throw error
      return null
    }
  }

  #directory(path: RawPath): number {
    const known = this.#open.get(path)
    if (known !== undefined) {
      // The one used last is let go last.
      this.#open.delete(path)
      this.#open.set(path, known)
      return known
    }
    const handle = openEntry(path === '/' ? '/' : this.at(path), 'enter')
    const { dev, ino } = fstatSync(handle, { bigint: true })
    if (!this.#known.has(path)) this.#known.set(path, `${dev}:${ino}`)
    this.#open.set(path, handle)
    this.#letGo()
    return handle
  }

  #letGo(): void {
    if (this.#open.size <= OPEN_MAX) return
    for (const path of this.#open.keys()) {
      this.#close(path)
      break
    }
  }

  #close(path: RawPath): void {
    const handle = this.#open.get(path)
    if (handle === undefined) return
    this.#open.delete(path)
    closeSync(handle)
  }
}

/** Returns whether there is an entry at the address; does not follow a link there. */
export function existsAt(address: string | Buffer): boolean {
  return lstatSync(address, { throwIfNoEntry: false }) !== undefined
}
