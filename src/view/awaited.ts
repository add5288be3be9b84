/**
 * Changes that wait for an answer. Another process makes them real while the processes inside go on, so
 * a later look has to know two things: what became real is what the session changes from then on, and
 * what the session made and removed before the yes is removed again.
 */
import { readlinkSync, rmdirSync, unlinkSync } from 'node:fs'
import { parentOfRaw, type RawPath } from '../gate/index.ts'
import { codeOf, digestFiles, isAbsent, nodePath, Pace } from '../machine/index.ts'
import type { ViewGround } from './ground.ts'
import { hidingIn, isCovered, withBelow } from './observe.ts'
import type { Pins } from './pins.ts'
import {
  type AwaitedChange,
  type Base,
  identityOf,
  isUnchanged,
  lookAt,
  type SeenEntry,
} from './record.ts'
import { mergedAt, type UpperTree } from './upper.ts'

/**
 * Notes which of the awaited changes became real; `isReal` tells those that surely did, also where
 * others changed them since. Returns whether the upper layers changed.
 */
export async function noteAwaited(
  ground: ViewGround,
  tree: UpperTree,
  pins: Pins,
  isReal: (path: RawPath) => boolean,
): Promise<boolean> {
  const { record, keeper } = ground
  const removed: { path: RawPath; base: Base }[] = []
  // From the leaves up: a directory is removed after what it holds.
  for (const [path, awaited] of [...record.awaited].sort(([one], [other]) =>
    one < other ? 1 : -1,
  )) {
    const { isNew, after } = awaited
    const known = record.entries.get(path)
    const real = lookAt(path)
    const isOld = typeof known?.base === 'object' && real !== null && isUnchanged(known.base, real)
    const isMade = !isOld && (await hasState(path, real, awaited))
    if (!isMade && !isReal(path)) continue
    record.awaited.delete(path)
    const base = !isMade ? 'unknown' : real === null ? 'nothing' : identityOf(real)
    if (tree.byPath.has(path) && known !== undefined) {
      record.entries.set(path, { ...known, base, ...(after === null ? {} : { kept: after }) })
    } else if (isNew && isMade && after !== null) removed.push({ path, base })
  }
  if (removed.length === 0) return false
  const hiding = new Set([...(await hidingIn(tree, keeper))].map(({ path }) => path))
  const seenNs = String(await ground.laterNs())
  // The kernel may still know that nothing was there.
  for (const layer of ground.layers) await keeper.remount(layer)
  for (const { path, base } of removed) {
    const isHidden = hiding.has(parentOfRaw(path)) || isCovered(path, tree)
    if (!isHidden && !removeShown(ground, path, pins)) continue
    record.entries.set(path, { kind: isHidden ? 'gone' : 'whiteout', base, seenNs })
    noteAbove(ground, path, tree)
  }
  return true
}

/** The session knew the directories above a path of its own, though the yes moved their times. */
function noteAbove({ record }: ViewGround, path: RawPath, tree: UpperTree): void {
  if (!isCovered(path, tree)) return
  const seenNs = String(record.refreshedNs)
  for (let up = parentOfRaw(path); up !== '/'; up = parentOfRaw(up)) {
    const real = lookAt(up)
    if (real?.kind !== 'directory') return
    const isTop = tree.byPath.has(up)
    const kind = isTop ? 'whiteout' : 'gone'
    record.entries.set(up, withBelow(up, { kind, base: identityOf(real), seenNs }))
    if (isTop) return
  }
}

/** Removes an entry in the view itself; false if it is in use or holds what others put there. */
function removeShown(ground: ViewGround, path: RawPath, pins: Pins): boolean {
  const layer = ground.layerOf(path)
  const real = lookAt(path)
  if (layer === undefined || real === null) return false
  if (pins.isPinned(path) || pins.holdsInode(BigInt(real.inode))) return false
  const at = nodePath(mergedAt(layer, path))
  try {
    if (real.kind === 'directory') rmdirSync(at)
    else unlinkSync(at)
    return true
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'ENOTEMPTY') return false
    throw error
  }
}

/** Whether the real entry is exactly what was waited for. */
async function hasState(
  path: RawPath,
  real: SeenEntry | null,
  { after }: AwaitedChange,
): Promise<boolean> {
  if (real === null || after === null) return real === null && after === null
  if (real.kind !== after.kind) return false
  if (real.kind === 'symlink') {
    return readlinkSync(nodePath(path), 'buffer').toString('latin1') === after.target
  }
  if (real.mode !== after.mode) return false
  if (real.kind === 'directory') return true
  let found: string | null = null
  const size = Number(real.size)
  const settle = (digest: string | null): void => {
    found = digest
  }
  await digestFiles([{ path, size, settle }], new Pace())
  return found !== null && found === after.digest
}
