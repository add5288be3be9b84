/**
 * What a view is made of that lies over the real tree: directories that each hold a part of the
 * machine's tree, from its root on, as overlays write it down. Asked before anything is mounted; one
 * flat stack, never an overlay on an overlay.
 */
import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** What is there when all layers lie over one another; null for nothing, or behind a link. */
export function kindInStack(path: string, layers: readonly string[]): 'directory' | 'file' | null {
  const names = path.split('/').filter((name) => name !== '')
  let open = ['', ...layers]
  let [place, kind]: [string, Stats | null] = ['/', null]
  for (const name of names) {
    place = join(place, name)
    const found = open.map((layer) => [layer, statsOf(`${layer}${place}`)] as const)
    const top = found.findLast(([, stats]) => stats !== null)?.[1] ?? null
    if (top === null || isWhiteout(top) || top.isSymbolicLink()) return null
    kind = top
    // Below, only directories count, and none under something else that covers it.
    const from = found.findLastIndex(([, stats]) => stats !== null && !stats.isDirectory())
    open = found.flatMap(([layer, stats], index) => (index > from && stats !== null ? [layer] : []))
  }
  if (kind === null) return null
  return kind.isDirectory() ? 'directory' : 'file'
}

function isWhiteout(stats: Stats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    // A place that cannot be looked at from here cannot be looked at from inside either.
    return null
  }
}

/** The layers that have something in a root, the topmost first; without the real one. */
export function layersOver(root: string, layers: readonly string[]): readonly string[] {
  return layers
    .map((layer) => `${layer}${root}`)
    .filter((directory) => statsOf(directory)?.isDirectory() === true)
    .reverse()
}
