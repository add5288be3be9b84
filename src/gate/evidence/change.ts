/**
 * What a rehearsal changed, path by path, with everything that is compared, carried and restored
 * (G-13a). One change a path: a directory that became a file is one change whose kinds differ, and
 * counts as a deletion and an addition.
 *
 * A list of changes is sorted by raw path and holds each path once.
 */
import type { Digest } from '../../base/index.ts'
import type { RawPath } from '../paths/raw-path.ts'

export type EntryKind = 'file' | 'directory' | 'symlink'

/** A `user.*` attribute or an access control list: name, and value in hex. */
export type Attribute = readonly [name: string, hex: string]

export interface EntryState {
  readonly kind: EntryKind
  /** Permission bits with setuid, setgid and sticky: `0o7777`. */
  readonly mode: number
  /** Apparent size of a file in bytes; 0 for the others. */
  readonly size: number
  /** Of a file's bytes; null for the others. */
  readonly digest: Digest | null
  /** Where a symbolic link leads, as bytes; null for the others. */
  readonly target: RawPath | null
  /** Sorted by name; what the overlay itself writes is left out. */
  readonly attributes: readonly Attribute[]
  /** Null where it is not known: acts of ordinary users by version 0.1 do not say it. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
  /** Nanoseconds since 1970 as decimal digits; carried and restored, not compared. */
  readonly mtimeNs: string
  /** Entries with the same name here were hard links to one another; null when there was one link. */
  readonly linkGroup: string | null
}

export interface Change {
  readonly path: RawPath
  /** Null when there was nothing. */
  readonly before: EntryState | null
  /** Null when nothing is left. */
  readonly after: EntryState | null
}

/** The side of a change that a caller looks at. */
export type ChangeSide = 'before' | 'after'

export type ChangeList = 'added' | 'modified' | 'deleted'

/** Returns the lists of a diff that hold a change: two when an entry of another kind replaced one. */
export function listsOf({ before, after }: Change): readonly ChangeList[] {
  if (before === null) return ['added']
  if (after === null) return ['deleted']
  return before.kind === after.kind ? ['modified'] : ['deleted', 'added']
}

/** Returns whether two states are equal. Modification times are not compared: they are no effect. */
export function isSameState(one: EntryState | null, other: EntryState | null): boolean {
  if (one === null || other === null) return one === other
  return (
    one.kind === other.kind &&
    one.mode === other.mode &&
    one.digest === other.digest &&
    one.target === other.target &&
    isSameOwner(one.owner, other.owner) &&
    isSameAttributes(one.attributes, other.attributes)
  )
}

/** An owner that is not known differs from none. */
function isSameOwner(one: EntryState['owner'], other: EntryState['owner']): boolean {
  if (one === null || other === null) return true
  return one.uid === other.uid && one.gid === other.gid
}

function isSameAttributes(one: readonly Attribute[], other: readonly Attribute[]): boolean {
  return (
    one.length === other.length &&
    one.every(([name, hex], index) => name === other[index]?.[0] && hex === other[index]?.[1])
  )
}

/**
 * Returns what a later rehearsal on the same overlay did beyond an earlier one (G-22). Both lists are
 * relative to the real tree; the result is relative to the tree that the earlier rehearsal left.
 */
export function changesSince(earlier: readonly Change[], now: readonly Change[]): Change[] {
  const before = new Map(earlier.map((change) => [change.path, change]))
  const since: Change[] = []
  for (const change of now) {
    const { path, after } = change
    const known = before.get(path)
    before.delete(path)
    const from = known === undefined ? change.before : known.after
    if (isSameState(from, after)) continue
    since.push(known === undefined ? change : { path, before: from, after })
  }
  // A path that is missing from the later list was restored to its real state.
  for (const { path, before: real, after } of before.values()) {
    if (!isSameState(after, real)) since.push({ path, before: after, after: real })
  }
  return since.sort((one, other) => (one.path < other.path ? -1 : 1))
}
