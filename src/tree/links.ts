/**
 * Hard links. An overlay splits a linked file of the real tree when one of its names is written to: the
 * other names keep the old bytes, which they would not on the real tree. writ finds such a split and asks
 * a person.
 *
 * Links among written files form groups, named after their first path.
 */
import type { Change, RawPath } from '../gate/index.ts'
import type { EntryStats } from '../machine/index.ts'
import type { TreeFindings } from './findings.ts'
import { isInside, type Pair, type SideEntry } from './layer-walk.ts'

/** A change with the pair that it was made from. A dropped one is the same on both sides. */
export interface Linked {
  readonly pair: Pair
  readonly change: Change
  readonly isDropped: boolean
}

/** Whether one of the files on its two sides has other names. */
export function isLinked({ before, after }: Pair): boolean {
  return [before, after].some(
    (side) => side !== null && side.stats.nlink > 1 && side.stats.isFile(),
  )
}

/** The name of the group of each linked file, by its inode: the first of the paths that have it. */
export function linkGroups(sides: Iterable<readonly [RawPath, EntryStats]>): Map<string, RawPath> {
  const first = new Map<string, RawPath>()
  for (const [path, stats] of sides) {
    if (stats.nlink < 2 || !stats.isFile()) continue
    const { inode } = stats
    const known = first.get(inode)
    if (known === undefined || path < known) first.set(inode, path)
  }
  return first
}

export function findSplits(
  linked: readonly Linked[],
  scope: readonly RawPath[],
  findings: TreeFindings,
): void {
  const changed = linked.filter(({ isDropped }) => !isDropped)
  const groups = groupsBefore(changed)
  const moved = movedFrom(groups, changed)
  for (const [inode, group] of groups) splitsOfGroup(group, moved.get(inode) ?? [], findings)
  splitsOfKept(linked, scope, findings)
}

function groupsBefore(changed: readonly Linked[]): ReadonlyMap<string, readonly Linked[]> {
  const groups = new Map<string, Linked[]>()
  for (const each of changed) {
    const stats = each.pair.before?.stats
    if (stats === undefined || !stats.isFile() || stats.nlink < 2) continue
    put(groups, stats.inode, each)
  }
  return groups
}

function put(lists: Map<string, Linked[]>, key: string, each: Linked): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [each])
  else list.push(each)
}

/**
 * What is left of a linked file has to be one file: its names that were written, those that it was moved
 * to, and the real one where a name did not change.
 */
function splitsOfGroup(
  group: readonly Linked[],
  moved: readonly Linked[],
  findings: TreeFindings,
): void {
  const written = group.filter(({ change }) => change.after?.kind === 'file')
  const left = new Set([...written, ...moved].map(({ pair }) => pair.after?.stats.inode))
  const names = group[0]?.pair.before?.stats.nlink ?? 0
  if (left.size + (group.length < names ? 1 : 0) < 2) return
  for (const { pair } of written) {
    findings.add('diff.link_split', pair.path, 'has other names that keep the old content')
  }
  for (const { pair } of moved) {
    findings.add('diff.link_split', pair.path, 'was moved away from its other names')
  }
}

/** The new names of linked files that were taken away or written over, by the inode before. */
function movedFrom(
  groups: ReadonlyMap<string, readonly Linked[]>,
  changed: readonly Linked[],
): ReadonlyMap<string, readonly Linked[]> {
  const moved = new Map<string, Linked[]>()
  const clues = new Map<string, string>()
  for (const [inode, group] of groups) {
    for (const { pair, change } of group) {
      const size = change.before?.size ?? 0
      for (const clue of cluesOf(pair.before, size > 0)) clues.set(clue, inode)
    }
  }
  if (clues.size === 0) return moved
  for (const each of changed) {
    const { before, after } = each.pair
    if (after?.stats.isFile() !== true) continue
    // What a file had before at the same place tells nothing about where it came from.
    const known = new Set(cluesOf(before, true))
    const found = cluesOf(after, true).filter((clue) => !known.has(clue))
    const inode = found.map((clue) => clues.get(clue)).find((one) => one !== undefined)
    if (inode !== undefined) put(moved, inode, each)
  }
  return moved
}

/**
 * An overlay does not tell where a file came from. A moved one has the content of before or, where it was
 * written to as well, the time at which it was last read; a new file has neither.
 *
 * Known limit: one that was moved, then read, then written has neither too, nor has one whose other name
 * is read by another program meanwhile.
 */
function cluesOf(side: SideEntry | null, isContentTelling: boolean): readonly string[] {
  if (side === null) return []
  const { digest, stats } = side
  return [...(isContentTelling ? [`content ${digest}`] : []), `read ${stats.atimeNs}`]
}

/** A new name of a file that is otherwise as it was becomes a copy. */
function splitsOfKept(
  linked: readonly Linked[],
  scope: readonly RawPath[],
  findings: TreeFindings,
): void {
  const kept = new Set<string>()
  for (const { pair, isDropped } of linked) {
    const stats = pair.after?.stats
    if (!isDropped || stats === undefined || stats.nlink < 2 || !stats.isFile()) continue
    if (isInside(pair.path, scope)) kept.add(stats.inode)
  }
  if (kept.size === 0) return
  for (const { pair, isDropped } of linked) {
    const stats = pair.after?.stats
    if (isDropped || stats === undefined || !kept.has(stats.inode)) continue
    findings.add('diff.link_split', pair.path, 'is another name of a file that did not change')
  }
}
