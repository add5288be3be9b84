/** Shows one entry again of a directory that the session removed; everything else in it stays removed. */
import { chmodSync, lchownSync, mkdirSync } from 'node:fs'
import { joinRaw, parentOfRaw, type RawPath } from '../gate/index.ts'
import { namesIn, nodePath } from '../machine/index.ts'
import type { ViewGround } from './ground.ts'
import { withBelow } from './observe.ts'
import { removeEntries } from './prune.ts'
import { identityOf, lookAt } from './record.ts'
import { type UpperEntry, type UpperTree, upperAt } from './upper.ts'

/** The upper entry in whose place the real tree has a directory above the path, if one hides it. */
export function coverOf(path: RawPath, tree: UpperTree): UpperEntry | undefined {
  for (let up = parentOfRaw(path); up !== '/'; up = parentOfRaw(up)) {
    const entry = tree.byPath.get(up)
    if (entry !== undefined) return entry.found.kind === 'directory' ? undefined : entry
  }
  return undefined
}

/**
 * Puts directories in the place of the whiteout of `removed`, down to the path, with a whiteout for each
 * other real name in them. Those that others changed meanwhile stay conflicts.
 */
export async function reveal(
  { record, keeper, options }: ViewGround,
  removed: UpperEntry,
  path: RawPath,
  inConflict: ReadonlySet<RawPath>,
): Promise<void> {
  const seenNs = record.entries.get(removed.path)?.seenNs ?? '0'
  removeEntries([removed], options.isRoot)
  record.entries.delete(removed.path)
  const made: [RawPath, number][] = []
  for (const directory of directoriesTo(path, removed.path)) {
    const at = upperAt(removed.layer, directory)
    const real = lookAt(directory)
    if (real?.kind !== 'directory') break
    mkdirSync(nodePath(at))
    if (options.isRoot) lchownSync(nodePath(at), real.uid, real.gid)
    const others = namesIn(directory).filter((name) => {
      const each = joinRaw(directory, name)
      return each !== path && !path.startsWith(`${each}/`)
    })
    await keeper.ask(others.map((name) => ({ does: 'whiteout', path: joinRaw(at, name) })))
    made.unshift([at, real.mode])
    record.entries.set(directory, { kind: 'directory', base: identityOf(real), seenNs })
    for (const name of others) {
      const each = joinRaw(directory, name)
      const found = lookAt(each)
      if (found === null) continue
      const base = inConflict.has(each) ? 'unknown' : identityOf(found)
      record.entries.set(each, withBelow(each, { kind: 'whiteout', base, seenNs }))
    }
  }
  // Last: the real directory may be closed to its own user.
  for (const [at, mode] of made) chmodSync(nodePath(at), mode)
}

/** The directories above a path, from `top` down. */
function directoriesTo(path: RawPath, top: RawPath): readonly RawPath[] {
  const found: RawPath[] = []
  for (let up = parentOfRaw(path); up.length >= top.length; up = parentOfRaw(up)) found.unshift(up)
  return found
}
