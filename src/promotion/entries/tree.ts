/**
 * Compares a directory and everything below it with a list of changes: nothing is missing, nothing is
 * added, and every entry has its state.
 *
 * Directories that their owner may not read are opened for the walk only in writ's own directories (stage
 * and pre-images); in the real tree they count as different.
 */
import { chmodSync, lstatSync } from 'node:fs'
import {
  type Change,
  type ChangeSide,
  type EntryState,
  joinRaw,
  type RawPath,
} from '../../gate/index.ts'
import { errnoOf } from '../../machine/index.ts'
import {
  type Address,
  holds,
  isLike,
  joinAddress,
  lookAt,
  namesIn,
  type TreeEntry,
} from './entry.ts'

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

/** Returns the paths that do not have their state: missing, different, or not in the list of changes. */
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
