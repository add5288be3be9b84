/**
 * Where the two sides of a layer and both together are reached from: each root is held open, so that
 * no root can be exchanged while it is read, and long paths of the tree are not made longer by the way
 * to it. Children of this process reach the same places by the same paths.
 */
import { type BigIntStats, chmodSync, closeSync, lstatSync, readdirSync, statSync } from 'node:fs'
import type { EntryState, RawPath } from '../gate/index.ts'
import { EntryStats } from './entry-stats.ts'
import { openEntry } from './no-follow.ts'

export interface HeldDirectory {
  readonly prefix: RawPath
  close(): void
}

/** Fails when the path is a symbolic link or no directory. */
export function holdDirectory(path: string): HeldDirectory {
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
    if (isAbsence(error)) return null
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

export function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
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
