/**
 * Notes what was real when the view copied a path, as soon as an entry is first seen in an upper layer
 * (S-10). That distinguishes later changes of the real tree from those of the session.
 *
 * A real entry that changed since the last refresh may be another one than the view knows, because names
 * are cached; unless the upper file was copied from this very one, and later: an upper file is born when
 * it is copied up.
 */

import { isBelow, joinRaw, parentOfRaw, type RawPath } from '../gate/index.ts'
import { namesIn } from '../machine/index.ts'
import type { Keeper } from '../sandbox/index.ts'
import {
  type Base,
  directoryMark,
  type Entry,
  hasSameRights,
  identityOf,
  linkedMark,
  lookAt,
  lookQuietly,
  type SeenEntry,
  upperKind,
  type ViewRecord,
} from './record.ts'
import type { UpperEntry, UpperTree } from './upper.ts'

export async function observe(
  tree: UpperTree,
  record: ViewRecord,
  stale: ReadonlySet<RawPath>,
  keeper: Keeper,
  isPruned = false,
): Promise<void> {
  const isStale = (path: RawPath): boolean => [...stale].some((each) => isBelow(path, each))
  const [unsure, fresh]: [UpperEntry[], UpperEntry[]] = [[], []]
  const hiding = await hidingIn(tree, keeper)
  // What was in a directory that is gone cannot be counted.
  const left = noteHidden(hiding, record, isPruned) ? ANY : namesLeft(tree, record)
  const note = ({ path, found }: UpperEntry, base: Base): void => {
    const entry = { kind: upperKind(found), base, seenNs: String(record.refreshedNs) }
    record.entries.set(path, withBelow(path, entry))
  }
  for (const [path, entry] of tree.byPath) {
    const known = record.entries.get(path)
    if (known !== undefined && isKnown(entry, known)) {
      record.entries.set(path, { ...known, kind: upperKind(entry.found) })
      continue
    }
    if (known?.kind === 'gone') {
      record.entries.set(path, { ...known, kind: upperKind(entry.found) })
      continue
    }
    const real = lookAt(path)
    // What others made in a directory that hides it was never seen by the session.
    const isUnseen = known?.kind === 'added' && real !== null
    const isUnknown = isUnseen || isStale(path)
    const base = isUnknown ? 'unknown' : baseOf(entry, real, record.refreshedNs)
    if (base === 'unsure') unsure.push(entry)
    else if (base === 'nothing' && entry.found.kind === 'file') fresh.push(entry)
    else note(entry, base)
  }
  await settleUnsure(unsure, keeper, note)
  // Then moved files are conflicts as well: what a person removed must not come back as new.
  await settleFresh(fresh, record.isNewest ? left : NONE, tree, keeper, note)
  record.isNewest = true
  const hidden = new Set([...hiding].map(({ path }) => path))
  for (const [path, { kind }] of record.entries) {
    const isHidden = kind === 'gone' || kind === 'added'
    const isUnder = hidden.has(parentOfRaw(path)) || isCovered(path, tree)
    const isThere = isHidden
      ? isUnder && !tree.byPath.has(path) && lookAt(path) !== null
      : tree.byPath.has(path)
    if (!isThere) record.entries.delete(path)
  }
}

/** Directories of the upper layers that hide the real directory at the same place. */
export async function hidingIn(tree: UpperTree, keeper: Keeper): Promise<ReadonlySet<UpperEntry>> {
  const both = [...tree.byPath.values()].filter(
    ({ found, path, isRoot }) =>
      !isRoot && found.kind === 'directory' && lookAt(path)?.kind === 'directory',
  )
  const answers = await keeper.ask(both.map(({ at }) => ({ does: 'marked', path: at })))
  const marked = new Set(both.filter((_, index) => answers[index] === '1'))
  const inBoth = new Set(both)
  const hiding = new Set<UpperEntry>()
  const enter = (entry: UpperEntry, isHidden: boolean): void => {
    const hides = isHidden || marked.has(entry)
    if (hides && inBoth.has(entry)) hiding.add(entry)
    for (const child of entry.children) if (child.found.kind === 'directory') enter(child, hides)
  }
  for (const root of tree.roots) enter(root, false)
  return hiding
}

/**
 * Notes what hiding directories hide. A name that is older than the last refresh was seen then, so the
 * session has removed it since; but right after pruning, everything that is hidden was added by others.
 * Returns whether the session removed any.
 */
function noteHidden(
  hiding: ReadonlySet<UpperEntry>,
  record: ViewRecord,
  isPruned: boolean,
): boolean {
  let isAnyGone = false
  for (const { path: directory, children } of hiding) {
    const shown = new Set(children.map(({ path }) => path))
    for (const path of entriesIn(directory)) {
      const known = record.entries.get(path)
      if (shown.has(path) || known?.kind === 'gone' || known?.kind === 'added') continue
      const real = lookAt(path)
      if (real === null) continue
      const isOld = !isPruned && BigInt(real.ctimeNs) < record.refreshedNs
      // What is in a directory changes its times.
      const base = known?.kind === 'directory' ? identityOf(real) : known?.base
      const entry: Entry = {
        kind: isOld || typeof base === 'object' ? 'gone' : 'added',
        base: typeof base === 'object' ? base : identityOf(real),
        seenNs: String(record.refreshedNs),
      }
      record.entries.set(path, withBelow(path, entry))
      if (entry.kind === 'gone') isAnyGone = true
    }
  }
  return isAnyGone
}

/** More of them are not noted: a removal of those waits as a conflict when their ctime moves. */
const LINKED_MAX = 10_000

/**
 * Adds which directories the session removed or replaced together with a real one. A directory that is
 * not among them was moved or made there by others, with everything in it. Files with several names are
 * added too: a promotion that removes another name moves their ctime.
 */
export function withBelow(path: RawPath, entry: Entry): Entry {
  const { kind, base, seenNs } = entry
  if (kind === 'directory' || kind === 'added') return entry
  if (typeof base !== 'object' || base.kind !== 'directory') return entry
  const below: string[] = []
  let linked = 0
  const open = [...entriesIn(path)]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const real = lookQuietly(each)
    if (real === null || BigInt(real.ctimeNs) >= BigInt(seenNs)) continue
    if (real.kind === 'directory') {
      below.push(directoryMark(real))
      open.push(...entriesIn(each))
    } else if (real.links > 1 && linked++ < LINKED_MAX) below.push(linkedMark(each, real))
  }
  return { ...entry, below }
}

export function entriesIn(path: RawPath): readonly RawPath[] {
  try {
    return namesIn(path).map((name) => joinRaw(path, name))
  } catch {
    // Gone, or closed to this user, to whom the scan reports it.
    return []
  }
}

/** Whether the session removed or replaced a directory above the path. */
export function isCovered(path: RawPath, tree: UpperTree): boolean {
  for (let up = parentOfRaw(path); up !== '/'; up = parentOfRaw(up)) {
    const entry = tree.byPath.get(up)
    if (entry !== undefined) return entry.found.kind !== 'directory'
  }
  return false
}

/**
 * What was below a directory of the view need not be what was real when the directory went. Everything
 * else is a later form of what was copied once.
 */
function isKnown({ found }: UpperEntry, known: Entry): boolean {
  if (known.kind === 'gone' || known.kind === 'added') return false
  const isOtherKind = (known.kind === 'directory') !== (upperKind(found) === 'directory')
  return !isOtherKind || known.base === 'unknown'
}

/** Files that changed in the real tree between the last refresh and the copy. */
async function settleUnsure(
  entries: readonly UpperEntry[],
  keeper: Keeper,
  note: (entry: UpperEntry, base: Base) => void,
): Promise<void> {
  const answers = await keeper.ask(
    entries.map(({ at, path }) => ({ does: 'origin', path: at, other: path })),
  )
  for (const [index, entry] of entries.entries()) {
    const real = answers[index] === '=' ? lookAt(entry.path) : null
    note(entry, real === null ? 'unknown' : identityOf(real))
  }
}

const ANY = Number.POSITIVE_INFINITY
/** For `left`: no file counts as moved. */
const NONE = -1

/** How many files the session may have moved since it was last looked at: names that are gone since. */
function namesLeft(tree: UpperTree, { entries }: ViewRecord): number {
  let count = 0
  for (const [path, { found }] of tree.byPath) {
    if (entries.get(path)?.kind === upperKind(found)) continue
    const real = lookAt(path)
    // Also where a file has taken the name of the directory.
    if (real?.kind === 'directory' && found.kind !== 'directory') return ANY
    if (real?.kind === 'file' && found.kind !== 'file') count++
  }
  for (const [path, { kind }] of entries) if (kind === 'file' && !tree.byPath.has(path)) count++
  return count
}

/**
 * Files without a real one. The session made such a file, or moved or linked one there; otherwise the
 * real file was removed after it was copied. In a user namespace the kernel says that a file was copied
 * and not from which one, so a moved file is recognised by names that are gone, or by a real file with the
 * same time and size.
 */
async function settleFresh(
  entries: readonly UpperEntry[],
  left: number,
  tree: UpperTree,
  keeper: Keeper,
  note: (entry: UpperEntry, base: Base) => void,
): Promise<void> {
  if (entries.length === 0) return
  const others = [...tree.byPath.values()].flatMap((entry) => {
    const real = entry.found.kind === 'directory' ? null : lookAt(entry.path)
    return real?.kind === 'file' ? [{ ...entry, real }] : []
  })
  const copies = await copiesOf([...entries, ...others], keeper)
  const links = new Set(others.map(({ found }) => found.inode))
  const copied = entries.filter(({ path, found }) => copies.has(path) && !links.has(found.inode))
  const isEnough = new Set(copied.map(({ found }) => found.inode)).size <= left
  const again = others.filter(({ path, found }) => found.kind === 'file' && !copies.has(path))
  const isMoved = ({ found }: UpperEntry): boolean =>
    left === NONE
      ? false
      : others.some(({ real }) => real.mtimeNs === found.mtimeNs && real.size === found.size) ||
        // A name that was made again after the copy.
        again.some((other) => other.found.bornNs > found.bornNs)
  const removed = new Set(isEnough ? [] : copied.filter((entry) => !isMoved(entry)))
  for (const entry of entries) note(entry, removed.has(entry) ? 'unknown' : 'nothing')
}

/** Paths of the upper files that the kernel copied from real ones. */
async function copiesOf(
  entries: readonly UpperEntry[],
  keeper: Keeper,
): Promise<ReadonlySet<RawPath>> {
  const files = entries.filter(({ found }) => found.kind === 'file')
  const says = await keeper.ask(
    files.map(({ at, path }) => ({ does: 'origin', path: at, other: path })),
  )
  return new Set(files.filter((_, index) => says[index] !== '-').map(({ path }) => path))
}

/**
 * Everything that is seen for the first time came after the last refresh. So a real entry that is older
 * than that is the one that the session knew.
 */
function baseOf(
  { found }: UpperEntry,
  real: SeenEntry | null,
  refreshedNs: bigint,
): Base | 'unsure' {
  if (real === null) return 'nothing'
  const changedNs = BigInt(real.ctimeNs)
  if (changedNs < refreshedNs) return identityOf(real)
  const isBoth = found.kind === real.kind && !found.isWhiteout
  if (isBoth && found.kind === 'directory') {
    const isKnown = changedNs < found.bornNs || hasSameRights(found, real)
    return isKnown ? identityOf(real) : 'unknown'
  }
  return isBoth && found.kind === 'file' && changedNs < found.bornNs ? 'unsure' : 'unknown'
}
