/**
 * Hard links. An overlay splits a linked file of the real tree when one of its names is written to:
 * the others keep the old bytes, which they would not have done in earnest. Such a split is found, and
 * a human is asked.
 *
 * Links among what was written are groups, called after their first path.
 */
import type { Change, RawPath } from '../gate/index.ts'
import type { EntryStats } from '../machine/index.ts'
import type { Findings } from './findings.ts'
import { isInside, type Pair } from './layer-walk.ts'

/** A change beside what it was made from; dropped ones are the same on both sides. */
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
  findings: Findings,
): void {
  const changed = linked.filter(({ isDropped }) => !isDropped)
  const groups = groupsBefore(changed)
  for (const group of groups.values()) splitsOfGroup(group, findings)
  splitsByMove(changed, groups, findings)
  splitsOfKept(linked, scope, findings)
}

function groupsBefore(changed: readonly Linked[]): ReadonlyMap<string, readonly Linked[]> {
  const groups = new Map<string, Linked[]>()
  for (const each of changed) {
    const stats = each.pair.before?.stats
    if (stats === undefined || !stats.isFile() || stats.nlink < 2) continue
    const group = groups.get(stats.inode)
    if (group === undefined) groups.set(stats.inode, [each])
    else group.push(each)
  }
  return groups
}

/** All names are there, and what is left of them is still one file. */
function isWhole(group: readonly Linked[]): boolean {
  const names = group[0]?.pair.before?.stats.nlink ?? 0
  const left = group.flatMap(({ pair }) => (pair.after === null ? [] : [pair.after.stats.inode]))
  return group.length === names && new Set(left).size <= 1
}

function splitsOfGroup(group: readonly Linked[], findings: Findings): void {
  if (isWhole(group)) return
  for (const { pair, change } of group) {
    if (change.after?.kind !== 'file') continue
    findings.add('diff.link_split', pair.path, 'has other names that keep the old content')
  }
}

/** A linked file that was moved is deleted here and added there, as a file of its own. */
function splitsByMove(
  changed: readonly Linked[],
  groups: ReadonlyMap<string, readonly Linked[]>,
  findings: Findings,
): void {
  const moved = new Map<string, readonly Linked[]>()
  for (const group of groups.values()) {
    for (const { change } of group) {
      const digest = change.after === null ? change.before?.digest : null
      if (typeof digest === 'string' && change.before?.size !== 0) moved.set(digest, group)
    }
  }
  if (moved.size === 0) return
  const targets = new Map<string, Linked[]>()
  for (const each of changed) {
    const { before, after } = each.change
    if (before !== null || after?.digest == null || !moved.has(after.digest)) continue
    targets.set(after.digest, [...(targets.get(after.digest) ?? []), each])
  }
  for (const [digest, added] of targets) {
    const group = moved.get(digest) ?? []
    const names = group[0]?.pair.before?.stats.nlink ?? 0
    const inodes = new Set(added.map(({ pair }) => pair.after?.stats.inode))
    if (group.length === names && inodes.size === 1) continue
    for (const { pair } of added) {
      findings.add('diff.link_split', pair.path, 'was moved away from its other names')
    }
  }
}

/** A new name of a file that is otherwise as it was becomes a copy. */
function splitsOfKept(
  linked: readonly Linked[],
  scope: readonly RawPath[],
  findings: Findings,
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
