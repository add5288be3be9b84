/**
 * Takes indexes of git off that hold what they held, with other times noted: `git diff` writes one
 * whenever it finds a file touched. What is taken off is not promoted either, so nothing hides in it.
 */
import {
  type Change,
  holdsSameEntries,
  INDEX_BYTES_MAX,
  isIndexPath,
  isSameState,
} from '../../gate/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { Scan } from '../../tree/index.ts'
import { beforePath, insidePath, readSmall } from '../readings/scripts.ts'

export function withoutRefreshedIndexes(scan: Scan, layers: readonly Layer[]): Scan {
  const changes = scan.changes.filter((change) => !isRefreshed(change, layers))
  return changes.length === scan.changes.length ? scan : { ...scan, changes }
}

function isRefreshed({ path, before, after }: Change, layers: readonly Layer[]): boolean {
  if (before?.kind !== 'file' || after?.kind !== 'file' || !isIndexPath(path)) return false
  // Everything but the bytes has to be as it was.
  if (!isSameState({ ...before, digest: null }, { ...after, digest: null })) return false
  const [then, now] = [beforePath(path, layers), insidePath(path, layers)].map((place) =>
    place === null ? null : readSmall(place, INDEX_BYTES_MAX),
  )
  if (then == null || now == null) return false
  return holdsSameEntries(then, now)
}
