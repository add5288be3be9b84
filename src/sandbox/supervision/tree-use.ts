/**
 * Measures the disk space of directories while a possibly hostile process writes below them. Follows no
 * link, does not stop at entries that vanished, and uses descriptors for entries deeper than the longest
 * path.
 *
 * Deliberately absent: directories that this user cannot list. Lending permissions would change what is
 * being rehearsed.
 */
import { closeSync } from 'node:fs'
import { openEntry, readableNames, readableStats } from '../../machine/index.ts'

interface TreeUse {
  readonly bytes: number
  readonly entries: number
}

export const NO_USE: TreeUse = { bytes: 0, entries: 0 }

/** Well below what the kernel takes, a name of 255 bytes included. */
const PATH_LENGTH_MAX = 3000
/** More directories than this at that depth are only made to hide something. */
const DEEP_MAX = 256

/** Stops as soon as there are more entries than this. */
export function treeUse(directories: readonly string[], entriesMax: number): TreeUse {
  const descriptors: number[] = []
  let [bytes, entries] = [0, 0]
  const open = [...directories]
  try {
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const at = path.length > PATH_LENGTH_MAX ? shortened(path, descriptors) : path
      if (descriptors.length > DEEP_MAX) return { bytes: Number.POSITIVE_INFINITY, entries }
      for (const name of readableNames(at)) {
        const found = readableStats(`${at}/${name}`)
        if (found === null) continue
        bytes += found.blocks * 512
        if (++entries > entriesMax) return { bytes, entries }
        if (found.isDirectory()) open.push(`${at}/${name}`)
      }
    }
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
  return { bytes, entries }
}

function shortened(path: string, descriptors: number[]): string {
  try {
    const descriptor = openEntry(path, 'list')
    descriptors.push(descriptor)
    return `/proc/self/fd/${descriptor}`
  } catch {
    return path
  }
}
