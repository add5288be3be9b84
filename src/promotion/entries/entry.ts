/**
 * Looks at the entry at an address, and compares it with the state that a list of changes gives. Compares
 * everything but attributes, which are compared in one batch (`attributes.ts`).
 *
 * The kernel changes the identity of a file with every change to it: while it is the same, an earlier
 * hash still holds. The identity of a file that changed a moment ago is not trusted, because the clock
 * of a filesystem ticks slowly.
 */
import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { type Digest, digestBytes } from '../../base/index.ts'
import {
  bytesOfRaw,
  type Change,
  type ChangeSide,
  type EntryKind,
  type EntryState,
  joinRaw,
  type RawPath,
} from '../../gate/index.ts'
import { errnoOf, isAbsent, openEntry } from '../../machine/index.ts'

export interface TreeEntry {
  /** Null for what no list of changes can hold: sockets, pipes, devices. */
  readonly kind: EntryKind | null
  readonly mode: number
  readonly size: number
  readonly uid: number
  readonly gid: number
  readonly mtimeNs: string
  readonly inode: string
  /** Changes with every change, but also when the entry is renamed or linked. */
  readonly ctimeNs: bigint
}

export type Address = string | Buffer

export function lookAt(address: Address | null): TreeEntry | null {
  if (address === null) return null
  try {
    return entryOf(lstatSync(address, { bigint: true }))
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

function entryOf(stats: BigIntStats): TreeEntry {
  return {
    kind: kindOf(stats),
    mode: Number(stats.mode & 0o7777n),
    size: Number(stats.size),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mtimeNs: String(stats.mtimeNs),
    inode: `${stats.dev}:${stats.ino}`,
    ctimeNs: stats.ctimeNs,
  }
}

function kindOf(stats: BigIntStats): EntryKind | null {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : null
}

export const SLOWEST_TICK_NS = 20_000_000n

/** Null when the entry changed so shortly before that a further change might not show. */
export function identityOf(entry: TreeEntry, nowMs: number): string | null {
  if (BigInt(Math.floor(nowMs)) * 1_000_000n - entry.ctimeNs < SLOWEST_TICK_NS) return null
  const { inode, size, mode, mtimeNs, ctimeNs } = entry
  // In one piece: a text that was added up keeps its parts, and there may be very many.
  return [inode, size, mode, mtimeNs, ctimeNs].join(' ')
}

/** Whether nothing that the kernel notes about an entry has changed. */
export function isSameLook(one: TreeEntry, other: TreeEntry): boolean {
  return (
    one.inode === other.inode &&
    one.size === other.size &&
    one.mode === other.mode &&
    one.mtimeNs === other.mtimeNs &&
    one.ctimeNs === other.ctimeNs
  )
}

/**
 * Returns whether the entry has this state, without reading its contents. With `loose`, a directory may
 * also have the mode that its owner needs during a move.
 */
export function isLike(entry: TreeEntry, state: EntryState, loose = false): boolean {
  if (entry.kind !== state.kind) return false
  if (state.kind === 'file' && entry.size !== state.size) return false
  if (state.owner !== null && (state.owner.uid !== entry.uid || state.owner.gid !== entry.gid)) {
    return false
  }
  if (state.kind === 'symlink') return true
  return entry.mode === state.mode || (loose && entry.mode === (state.mode | 0o700))
}

/** Whether what is inside is of this state: the bytes of a file, the target of a link. */
export function holds(
  address: Address,
  entry: TreeEntry,
  state: EntryState,
  own: boolean,
): boolean {
  if (state.kind === 'symlink') return readTarget(address) === state.target
  if (state.kind !== 'file') return true
  // The scan could not read the file: compares its time instead.
  if (state.digest === null) return entry.mtimeNs === state.mtimeNs
  try {
    return (own ? hashOwnFile(address, entry.mode) : hashFile(address)) === state.digest
  } catch (error) {
    // What this user may not read is known by its size and its time.
    if (errnoOf(error) !== 'EACCES') throw error
    return entry.mtimeNs === state.mtimeNs
  }
}

/** `own`: the entry lies in a directory of writ's, where its mode may be changed for the moment. */
export function isOfState(address: Address, state: EntryState | null, own: boolean): boolean {
  const entry = lookAt(address)
  if (entry === null || state === null) return entry === null && state === null
  return isLike(entry, state, own) && holds(address, entry, state, own)
}

export function readTarget(address: Address): RawPath {
  // In latin1 each byte is a character, as in a raw path.
  return readlinkSync(address, 'latin1') as RawPath
}

const CHUNK_BYTES = 1 << 18

/** Hashes a file with a buffer of fixed size; what fits into it by one call, which is faster. */
export function hashFile(address: Address): Digest {
  const handle = openEntry(address, 'read')
  try {
    const filled = fillChunk(handle)
    if (filled < chunk.length) return digestBytes(chunk.subarray(0, filled))
    const hash = createHash('sha256')
    for (let read = filled; read > 0; read = readSync(handle, chunk)) {
      hash.update(chunk.subarray(0, read))
    }
    // The form of a digest.
    return `sha256:${hash.digest('hex')}` as Digest
  } finally {
    closeSync(handle)
  }
}

/** Reads until the buffer is full or the file ends; returns how many bytes there are. */
function fillChunk(handle: number): number {
  let filled = 0
  for (let read = -1; read !== 0 && filled < chunk.length; filled += read) {
    read = readSync(handle, chunk, filled, chunk.length - filled, null)
  }
  return filled
}

/** A file whose owner may not read it is opened up for the moment. */
function hashOwnFile(address: Address, mode: number): Digest {
  if ((mode & 0o400) !== 0 || process.getuid?.() === 0) return hashFile(address)
  chmodSync(address, mode | 0o400)
  try {
    return hashFile(address)
  } finally {
    chmodSync(address, mode)
  }
}

/** One for all: reading is done without a pause in between. */
const chunk = Buffer.allocUnsafe(CHUNK_BYTES)

export function joinAddress(address: Address, below: string): Buffer {
  const start = typeof address === 'string' ? Buffer.from(address) : address
  // Callers pass raw text, a character for each byte.
  return Buffer.concat([start, bytesOfRaw(`/${below}` as RawPath)])
}

/** Names in a directory, one character a byte. */
export function namesIn(address: Address): RawPath[] {
  return readdirSync(address, { encoding: 'latin1' }).map((name) => name as RawPath)
}

interface TreeCheck {
  readonly address: Address
  /** The real path of the tree, which may lie elsewhere now. */
  readonly path: RawPath
  /** The path's own change first, then those below it. */
  readonly changes: readonly Change[]
  /** The side of the changes that the tree is compared with. */
  readonly side: ChangeSide
  /** The tree is writ's own: modes may be lent, and the topmost directory may be opened up. */
  readonly own: boolean
  /** The topmost directory may be opened up, by a move that was interrupted. */
  readonly loose?: boolean
  /** Tells that the bytes of an entry were hashed before and have not changed since. */
  readonly isKnown?: (path: RawPath, entry: TreeEntry) => boolean
  /** Called with every file that was hashed and found right. */
  readonly onRight?: (path: RawPath, entry: TreeEntry) => void
}

/**
 * Compares a directory and everything below it with a list of changes: nothing is missing, nothing is
 * added, and every entry has its state.
 *
 * Directories that their owner may not read are opened for the walk only in writ's own directories (stage
 * and pre-images); in the real tree they count as different.
 *
 * Returns the paths that do not have their state: missing, different, or not in the list of changes.
 */
export function treeDifferences(check: TreeCheck): RawPath[] {
  const { path, changes, side, own } = check
  const expected = new Map<RawPath, Change>()
  for (const change of changes) if (change[side] !== null) expected.set(change.path, change)
  const different: RawPath[] = []
  const lent: { readonly address: Address; readonly mode: number }[] = []
  const open: RawPath[] = [path]
  try {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const address = addressOf(check, next)
      const change = expected.get(next)
      const state = change?.[side] ?? null
      expected.delete(next)
      try {
        // The path of the list, which is held anyway, and not the one that was made here.
        if (change === undefined || !isRight(check, change.path, address, state)) {
          different.push(next)
        }
        if (state?.kind !== 'directory') continue
        if (own) lend(address, lent)
        for (const name of namesIn(address)) open.push(joinRaw(next, name))
      } catch (error) {
        if (errnoOf(error) === null) throw error
        different.push(next)
      }
    }
  } finally {
    for (const { address, mode } of lent.reverse()) chmodSync(address, mode)
  }
  return [...different, ...expected.keys()]
}

function addressOf({ address, path }: TreeCheck, next: RawPath): Address {
  return next === path ? address : joinAddress(address, next.slice(path.length + 1))
}

function isRight(
  { path, own, loose = own, isKnown, onRight }: TreeCheck,
  next: RawPath,
  address: Address,
  state: EntryState | null,
): boolean {
  const entry = lookAt(address)
  if (entry === null || state === null || !isLike(entry, state, loose && next === path))
    return false
  if (state.kind === 'directory' || isKnown?.(next, entry) === true) return true
  if (!holds(address, entry, state, own)) return false
  onRight?.(next, entry)
  return true
}

function lend(
  address: Address,
  lent: { readonly address: Address; readonly mode: number }[],
): void {
  if (process.getuid?.() === 0) return
  const mode = lstatSync(address).mode & 0o7777
  if ((mode & 0o500) === 0o500) return
  chmodSync(address, mode | 0o500)
  lent.push({ address, mode })
}
