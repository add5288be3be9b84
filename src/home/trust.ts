/**
 * Which homes a human registered on this machine: path, id, the digest of the laws and the directory
 * that holds `.writ`, in the user's state. A cloned repository can bring a `.writ/`, but that one is not
 * registered.
 */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { faultError } from '../base/index.ts'
import { isObject } from '../contracts/index.ts'
import { makeFolder, readIfThere, withFolderLock, writeWhole } from '../machine/index.ts'

export interface TrustedHome {
  /** The real path of `.writ`. */
  readonly path: string
  readonly id: string
  /** Of the bytes of `laws.yaml`. */
  readonly laws: string
  /** Read over the default laws; absent where an older version registered the home. */
  readonly layered?: boolean
  /** The directory that holds `.writ`; absent where an older version registered the home. */
  readonly place?: HomePlace
}

/** What stays the same of a directory for as long as it exists on one filesystem. */
export interface HomePlace {
  readonly device: string
  readonly inode: string
  /** The time of its birth in nanoseconds; null where the filesystem keeps none. */
  readonly born: string | null
}

const FILE = 'homes.json'

export function readTrusted(root: string): readonly TrustedHome[] {
  const text = readIfThere(join(root, FILE))
  if (text === null) return []
  try {
    // Any JSON may be there: what has no list of homes is refused below.
    const homes: unknown = (JSON.parse(text) as { homes?: unknown }).homes
    if (Array.isArray(homes)) return homes.filter(isTrustedHome)
  } catch {
    // Falls through to the failure: an unreadable register trusts no home.
  }
  throw faultError('home.malformed', join(root, FILE), 'the register of homes cannot be read')
}

function isTrustedHome(value: unknown): value is TrustedHome {
  if (!isObject(value)) return false
  const isNamed = ['path', 'id', 'laws'].every((key) => typeof value[key] === 'string')
  if (value['layered'] !== undefined && typeof value['layered'] !== 'boolean') return false
  return isNamed && (value['place'] === undefined || isPlace(value['place']))
}

function isPlace(value: unknown): value is HomePlace {
  if (!isObject(value)) return false
  const { device, inode, born } = value
  const isBorn = born === null || typeof born === 'string'
  return typeof device === 'string' && typeof inode === 'string' && isBorn
}

/**
 * Registers a home as it is now. What was registered for the same path, or for the same id at another
 * path, is replaced: one history has one place.
 */
export function trustHome(root: string, home: TrustedHome): void {
  makeFolder(root, 0o700)
  rewrite(root, (homes) => [
    ...homes.filter(({ path, id }) => path !== home.path && id !== home.id),
    home,
  ])
}

/** Removes every registration of a home. */
export function untrustHome(root: string, id: string): void {
  rewrite(root, (homes) => homes.filter((home) => home.id !== id))
}

/** Two commands that register at once must not lose one of the two. */
function rewrite(
  root: string,
  change: (homes: readonly TrustedHome[]) => readonly TrustedHome[],
): void {
  withFolderLock(root, () => {
    const text = JSON.stringify({ homes: change(readTrusted(root)) }, null, 2)
    writeWhole(join(root, FILE), `${text}\n`, 0o600)
  })
}

/** The directory that holds a `.writ`; null where there is none. */
export function placeOf(directory: string): HomePlace | null {
  const found = statSync(dirname(directory), { bigint: true, throwIfNoEntry: false })
  if (found === undefined) return null
  const { dev, ino, birthtimeNs } = found
  const born = birthtimeNs > 0n ? String(birthtimeNs) : null
  return { device: String(dev), inode: String(ino), born }
}

export function isSamePlace(one: HomePlace | null, other: HomePlace | null): boolean {
  if (one === null || other === null) return false
  if (one.device !== other.device || one.inode !== other.inode) return false
  return one.born === null || other.born === null || one.born === other.born
}
