/** What lies in the upper layers now, as a tree; the cost depends on what was written. */
import { joinRaw, type RawPath, rawOfText } from '../gate/index.ts'
import { codeOf, isAbsent, LentPermissions, namesIn, statsOf } from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'
import { lookAt, type SeenEntry } from './record.ts'

export interface UpperEntry {
  /** The real path, which is the path inside. */
  readonly path: RawPath
  /** Where the upper layer has it. */
  readonly at: RawPath
  readonly layer: Layer
  readonly isRoot: boolean
  readonly found: SeenEntry
  readonly children: UpperEntry[]
  /** It holds more, too deep to be reached by a path. */
  isCut: boolean
}

export interface UpperTree {
  readonly roots: readonly UpperEntry[]
  readonly byPath: ReadonlyMap<RawPath, UpperEntry>
}

export function readUpper(
  layers: readonly Layer[],
  exclude: ReadonlySet<RawPath>,
  isRoot: boolean,
): UpperTree {
  const byPath = new Map<RawPath, UpperEntry>()
  const lent = new LentPermissions(isRoot)
  try {
    const roots = layers.flatMap((layer) => {
      const found = lookAt(rawOfText(layer.upper))
      if (found === null) return []
      const [path, at] = [rawOfText(layer.root), rawOfText(layer.upper)]
      return [{ path, at, layer, isRoot: true, found, children: [], isCut: false }]
    })
    const open: UpperEntry[] = [...roots]
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      byPath.set(entry.path, entry)
      if (entry.found.kind !== 'directory') continue
      for (const child of childrenOf(entry, lent)) {
        if (exclude.has(child.path)) continue
        entry.children.push(child)
        open.push(child)
      }
    }
    return { roots, byPath }
  } finally {
    lent.giveBack()
  }
}

function childrenOf(entry: UpperEntry, lent: LentPermissions): readonly UpperEntry[] {
  return listed(entry, lent).flatMap((name) => {
    const [path, at] = [joinRaw(entry.path, name), joinRaw(entry.at, name)]
    const found = looked(entry, at)
    if (found === null) return []
    return [{ path, at, layer: entry.layer, isRoot: false, found, children: [], isCut: false }]
  })
}

function listed(entry: UpperEntry, lent: LentPermissions): readonly RawPath[] {
  const { at } = entry
  try {
    const stats = statsOf(at)
    if (stats !== null) lent.lend(stats, at)
    return namesIn(at)
  } catch (error) {
    if (isAbsent(error)) return []
    cutAt(entry, error)
    return []
  }
}

function looked(above: UpperEntry, at: RawPath): SeenEntry | null {
  try {
    return lookAt(at)
  } catch (error) {
    cutAt(above, error)
    return null
  }
}

function cutAt(entry: UpperEntry, error: unknown): void {
  if (codeOf(error) !== 'ENAMETOOLONG') throw error
  entry.isCut = true
}

/** Where the overlay itself shows a path of a layer. */
export function mergedAt(layer: Layer, path: RawPath): RawPath {
  // Both are raw: the rest of a path behind its root.
  return `${layer.merged}${path.slice(rawOfText(layer.root).length)}` as RawPath
}

/** Where the upper layer would have a path. */
export function upperAt(layer: Layer, path: RawPath): RawPath {
  // Both are raw, as above.
  return `${layer.upper}${path.slice(rawOfText(layer.root).length)}` as RawPath
}

/** Every entry below one, itself included, from the leaves up. */
export function* upwards(entry: UpperEntry): Generator<UpperEntry> {
  const found: UpperEntry[] = []
  const open = [entry]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    found.push(each)
    open.push(...each.children)
  }
  yield* found.reverse()
}

/** Inode and ctime of an upper entry: equal ones mean that nothing touched it. */
export function markOf({ inode, ctimeNs }: SeenEntry): string {
  return `${inode}:${ctimeNs}`
}
