/**
 * What a rehearsal changed, path by path, with everything that is compared, carried and restored
 * (G-13a). One change a path: a directory that became a file is one change whose kinds differ, and
 * counts as a deletion and an addition. A list of changes is sorted by raw path and holds each path
 * once.
 *
 * The manifest of a diff: JSON Lines in canonical form, sorted by path bytes. Each line holds
 * everything of both sides that is compared, promoted or restored.
 */
import { canonicalJson, type Digest, digestBytes, isDigest } from '../../base/index.ts'
import type { DiffEntry, SandboxResult } from '../../contracts/index.ts'
import { decodeBase64, encodeBase64 } from '../../ledger/index.ts'
import {
  bytesOfRaw,
  displayOfRaw,
  type RawPath,
  rawOfBytes,
  rawOfText,
  textOfRaw,
} from '../paths/raw-path.ts'

/** How many entries a result lists by itself. */
export const INLINE_ENTRIES_MAX = 200

/** The lines of a manifest, each with its line break. */
export function* manifestLines(
  changes: Iterable<Change>,
  discarded: ReadonlySet<RawPath> = new Set(),
): Generator<string> {
  for (const change of changes) {
    const mark = discarded.has(change.path) ? { discarded: true } : {}
    const line = { ...pathKeys('path', change.path), ...mark }
    const before = change.before === null ? null : stateLine(change.before)
    const after = change.after === null ? null : stateLine(change.after)
    yield `${canonicalJson({ ...line, before, after })}\n`
  }
}

/** The digest of a manifest that is small enough to be held; larger ones are hashed as written. */
export function manifestDigest(
  changes: Iterable<Change>,
  discarded?: ReadonlySet<RawPath>,
): Digest {
  return digestBytes([...manifestLines(changes, discarded)].join(''))
}

export interface Manifest {
  readonly changes: readonly Change[]
  readonly discarded: ReadonlySet<RawPath>
}

/** Reads the lines of a manifest; null when one of them is not of its form. */
export function readManifest(lines: Iterable<string>): Manifest | null {
  const changes: Change[] = []
  const discarded = new Set<RawPath>()
  for (const line of lines) {
    if (line === '') continue
    const row = readLine(line)
    if (row === null) return null
    changes.push(row.change)
    if (row.discarded) discarded.add(row.change.path)
  }
  return { changes, discarded }
}

function pathKeys<Name extends string>(name: Name, path: RawPath): Record<Name, string> {
  const text = textOfRaw(path)
  // A computed key is of type string; it is `name`.
  const shown = { [name]: text ?? displayOfRaw(path) } as Record<Name, string>
  return text === null ? { ...shown, [`${name}_base64`]: encodeBase64(bytesOfRaw(path)) } : shown
}

function stateLine(state: EntryState): Record<string, unknown> {
  const { kind, mode, size, digest, target, attributes, owner, mtimeNs, linkGroup } = state
  return {
    kind,
    mode: octal(mode),
    size,
    mtime_ns: mtimeNs,
    ...(digest === null ? {} : { digest }),
    ...(target === null ? {} : pathKeys('target', target)),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(owner === null ? {} : { uid: owner.uid, gid: owner.gid }),
    ...(linkGroup === null ? {} : { link_group: linkGroup }),
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

// biome-ignore lint/suspicious/noExplicitAny: what was read is judged key by key below
type Read = any

function readLine(line: string): { change: Change; discarded: boolean } | null {
  let row: Read
  try {
    row = JSON.parse(line)
  } catch {
    return null
  }
  const path = readPath(row, 'path')
  const before = readState(row?.before)
  const after = readState(row?.after)
  if (path === null || before === undefined || after === undefined) return null
  return { change: { path, before, after }, discarded: row.discarded === true }
}

function readPath(row: Read, name: string): RawPath | null {
  const encoded: unknown = row?.[`${name}_base64`]
  if (typeof encoded === 'string') {
    const bytes = decodeBase64(encoded)
    return bytes === null ? null : rawOfBytes(bytes)
  }
  const text: unknown = row?.[name]
  return typeof text === 'string' ? rawOfText(text) : null
}

const KINDS = ['file', 'directory', 'symlink'] as const

/** Undefined when the state is not of its form. */
function readState(row: Read): EntryState | null | undefined {
  if (row === null) return null
  const kind = KINDS.find((known) => known === row?.kind)
  if (kind === undefined || !/^[0-7]{4}$/.test(String(row.mode))) return undefined
  if (!Number.isSafeInteger(row.size) || typeof row.mtime_ns !== 'string') return undefined
  const digest: unknown = row.digest ?? null
  if (digest !== null && !(typeof digest === 'string' && isDigest(digest))) return undefined
  const target = 'target' in row ? readPath(row, 'target') : null
  const attributes = readAttributes(row.attributes ?? [])
  if (attributes === null || (kind === 'symlink') !== (target !== null)) return undefined
  const hasOwner = Number.isSafeInteger(row.uid) && Number.isSafeInteger(row.gid)
  return {
    kind,
    mode: Number.parseInt(row.mode, 8),
    size: row.size,
    digest,
    target,
    attributes,
    owner: hasOwner ? { uid: row.uid, gid: row.gid } : null,
    mtimeNs: row.mtime_ns,
    linkGroup: typeof row.link_group === 'string' ? row.link_group : null,
  }
}

function readAttributes(rows: Read): readonly Attribute[] | null {
  if (!Array.isArray(rows)) return null
  const isAttribute = (row: Read): boolean =>
    Array.isArray(row) && row.length === 2 && row.every((part) => typeof part === 'string')
  return rows.every(isAttribute) ? rows.map(([name, hex]): Attribute => [name, hex]) : null
}

type DiffLists = Pick<SandboxResult['diff'], 'added' | 'modified' | 'deleted'>

/**
 * The entries that a result lists itself: deletions first, then modifications, then additions. An
 * answer that is not recorded may list them all.
 */
export function inlineDiff(
  changes: readonly Change[],
  entriesMax: number = INLINE_ENTRIES_MAX,
): DiffLists {
  const lists: DiffLists = { added: [], modified: [], deleted: [] }
  let left = entriesMax
  for (const list of ['deleted', 'modified', 'added'] as const) {
    for (const change of changes) {
      if (left === 0) return lists
      if (!listsOf(change).includes(list)) continue
      lists[list].push(diffEntry(change, list))
      left--
    }
  }
  return lists
}

/** Returns the entry of a change in one list. A path whose kind changed has two: deleted and added. */
export function diffEntry(change: Change, list: 'added' | 'modified' | 'deleted'): DiffEntry {
  const shown = list === 'deleted' ? change.before : change.after
  // `listsOf` puts a change into a list only if it has that side.
  const { kind, mode, size, digest, target } = shown as EntryState
  const before = list === 'modified' ? (change.before?.digest ?? null) : null
  return {
    ...pathKeys('path', change.path),
    kind,
    mode: octal(mode),
    size,
    ...(list === 'deleted' && digest !== null ? { before: digest } : {}),
    ...(before === null ? {} : { before }),
    ...(list !== 'deleted' && digest !== null ? { after: digest } : {}),
    ...(target === null ? {} : { target: displayOfRaw(target) }),
    class: 'staged',
  }
}

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

/** What happened to the entry, in one word. */
export function verbOf(change: Change): string {
  const lists = listsOf(change)
  return lists.length > 1 ? 'replaced' : (lists[0] ?? '')
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

const SET_ID = 0o6000

/** Returns whether a file would run with more rights. Ignores directories: their setgid bit passes on the group and grants no rights. */
export function isPrivileged({ after }: Change): boolean {
  if (after?.kind !== 'file') return false
  if ((after.mode & SET_ID) !== 0) return true
  return after.attributes.some(([name]) => name === 'security.capability')
}
