/**
 * The bytes that a session left in the real tree. An entry is the session's own only while the real
 * tree still has these bytes: after a person edits it, or puts another file in its place, it is the
 * person's.
 */
import type { Change, EntryState, RawPath } from '../../gate/index.ts'
import type { MovedHead } from '../../service/index.ts'

/** By raw path, a word for the bytes. */
type Bytes = Readonly<Record<string, string>>

export interface LeftBytes {
  /** Of entries that the session created. */
  readonly made: Bytes
  /** Of entries that were there, and that the session changed. */
  readonly wrote: Bytes
}

/** A path with words for its bytes before and after; null for nothing. */
export type LeftRow = readonly [path: string, before: string | null, after: string | null]

export function leftRows(changes: readonly Change[]): readonly LeftRow[] {
  return changes.map(({ path, before, after }) => [path, bytesWord(before), bytesWord(after)])
}

function bytesWord(state: EntryState | null): string | null {
  return state === null ? null : `${state.kind} ${state.digest ?? state.target ?? ''}`
}

/** Adds what an act left. An entry stays the session's if it was, with the bytes that the act replaced. */
export function withLeft(left: LeftBytes, rows: readonly LeftRow[]): LeftBytes {
  const [made, wrote] = [{ ...left.made }, { ...left.wrote }]
  for (const [path, before, after] of rows) {
    const isOwn = before === null || made[path] === before
    delete made[path]
    delete wrote[path]
    if (after !== null) (isOwn ? made : wrote)[path] = after
  }
  return { made, wrote }
}

/** The changes of entries whose bytes in the real tree are those that the session left, by kind. */
export function ownChanges({ made, wrote }: LeftBytes, changes: readonly Change[]) {
  const own = { made: new Set<RawPath>(), wrote: new Set<RawPath>() }
  for (const { path, before } of changes) {
    const word = bytesWord(before)
    if (word === null) continue
    if (made[path] === word) own.made.add(path)
    if (made[path] === word || wrote[path] === word) own.wrote.add(path)
  }
  return own
}

/** The real links that the session made. */
export function madeLinks({ made }: LeftBytes): readonly RawPath[] {
  const rows = Object.entries(made).filter(([, word]) => word.startsWith('symlink '))
  // The keys are raw paths.
  return rows.map(([path]) => path as RawPath)
}

export type Heads = Readonly<Record<string, MovedHead>>
/** The commits of HEAD, by git directory. */
export type Commits = Readonly<Record<string, string | null>>

/** Notes the commits that an act of the session left as HEAD. A commit of others becomes the base. */
export function withHeads(heads: Heads, before: Commits, after: Commits): Heads {
  const next = { ...heads }
  for (const [directory, commit] of Object.entries(after)) {
    const known = heads[directory] ?? { base: null, own: [] }
    const old = before[directory] ?? null
    const isOwn = old !== null && known.own.includes(old)
    const base = isOwn ? known.base : old
    const isNew = commit !== null && commit !== base && !known.own.includes(commit)
    const own = isNew ? [...known.own, commit] : known.own
    next[directory] = { base, own }
  }
  return next
}

/** Counts what is HEAD now as the session's, unless it is as before: an earlier process left it. */
export function withEarlierHeads(heads: Heads, now: Commits): Heads {
  const bases = Object.fromEntries(Object.entries(heads).map(([name, { base }]) => [name, base]))
  return withHeads(heads, bases, now)
}
