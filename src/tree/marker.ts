/**
 * The moment from which other processes count as the cause of a change to the real tree (G-19a): the
 * ctime of a file that writ makes on the scope's filesystem when the run starts. Times of files can be
 * compared only with times from the same clock.
 */
import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { checkFilesystem, errnoOf } from '../machine/index.ts'

export interface Marker {
  readonly ctimeNs: bigint
  /** By the clock of the machine, read after the file was made. */
  readonly madeAtMs: number
  /** Which directories the roots were. */
  readonly roots: readonly RootIdentity[]
}

export interface RootIdentity {
  readonly root: string
  readonly device: bigint
  readonly inode: bigint
}

/** The clock of files ticks at least this often: events further apart get different times. */
export const TICK_MS_MAX = 10

/** Makes the marker in `place`, a directory of writ's own on the scope's filesystem. */
export function makeMarker(
  place: string,
  name: string,
  roots: readonly string[],
  nowMs: () => number,
): Marker {
  const path = join(place, `${name}.marker`)
  const file = makeFile(place, path)
  try {
    const { ctimeNs } = fstatSync(file, { bigint: true })
    return { ctimeNs, madeAtMs: nowMs(), roots: roots.map(identityOf) }
  } finally {
    closeSync(file)
    unlinkSync(path)
  }
}

/** The place is there, except for the first one. */
function makeFile(place: string, path: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
    mkdirSync(place, { recursive: true, mode: 0o700 })
    return openSync(path, 'wx', 0o600)
  }
}

export function identityOf(root: string): RootIdentity {
  const { dev, ino } = lstatSync(root, { bigint: true })
  return { root, device: dev, inode: ino }
}

/** Whether the root is still the directory that it was. */
export function isSameRoot({ root, device, inode }: RootIdentity): boolean {
  const now = lstatSync(root, { bigint: true, throwIfNoEntry: false })
  return now !== undefined && now.dev === device && now.ino === inode
}

/** Tells entries of the real tree that were changed since the marker. */
export function changedSince(
  { ctimeNs, madeAtMs }: Marker,
  commandStartedAtMs: number,
): (ctime: bigint) => boolean {
  // Times within one tick do not show the order, unless the command began in a later tick.
  const sameTickCounts = commandStartedAtMs - madeAtMs < TICK_MS_MAX
  return (ctime) => ctime > ctimeNs || (sameTickCounts && ctime === ctimeNs)
}

/** The name of the filesystem when its times cannot be trusted; null when they can. */
export function untrustedClock(root: string): string | null {
  const found = checkFilesystem(root)
  return found?.code === 'ledger.filesystem' ? found.details.filesystem : null
}
