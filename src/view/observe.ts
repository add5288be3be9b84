/**
 * Notes what was real when the view copied a path, as soon as an entry is first seen in an upper layer
 * (S-10). That distinguishes later changes of the real tree from those of the session.
 *
 * An upper file is born when it is copied up: a real file that changed later is not the one that was
 * copied. A real entry that changed since the last refresh may be another one than the view knows,
 * because names are cached, unless the upper file says that it was copied from this very one.
 */

import { isBelow, parentOfRaw, type RawPath } from '../gate/index.ts'
import type { Keeper } from '../sandbox/index.ts'
import {
  type Base,
  type Entry,
  hasSameRights,
  identityOf,
  lookAt,
  type SeenEntry,
  type ViewRecord,
} from './record.ts'
import type { UpperEntry, UpperTree } from './upper.ts'

export async function observe(
  tree: UpperTree,
  record: ViewRecord,
  stale: ReadonlySet<RawPath>,
  keeper: Keeper,
): Promise<void> {
  const isStale = (path: RawPath): boolean => [...stale].some((each) => isBelow(path, each))
  const unsure: UpperEntry[] = []
  const note = ({ path }: UpperEntry, base: Base): void => {
    record.entries.set(path, { base, seenNs: String(record.refreshedNs) })
  }
  for (const [path, entry] of tree.byPath) {
    if (record.entries.has(path)) continue
    const base = isStale(path) ? 'unknown' : baseOf(entry, lookAt(path), record.refreshedNs)
    if (base === 'unsure') unsure.push(entry)
    else note(entry, base)
  }
  await settleUnsure(unsure, keeper, note)
  for (const [path, entry] of record.entries) {
    if (!tree.byPath.has(path) && !isGoneInside(path, entry, tree)) record.entries.delete(path)
  }
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

/** Whether the entry became real and was then removed in a directory that hides the real one. */
function isGoneInside(path: RawPath, { kept }: Entry, tree: UpperTree): boolean {
  return kept !== undefined && tree.byPath.has(parentOfRaw(path)) && lookAt(path) !== null
}

function baseOf(
  { found }: UpperEntry,
  real: SeenEntry | null,
  refreshedNs: bigint,
): Base | 'unsure' {
  if (real === null) return 'nothing'
  const changedNs = BigInt(real.ctimeNs)
  const isOld = changedNs < refreshedNs
  if (found.isWhiteout) return isOld ? identityOf(real) : 'unknown'
  if (found.kind === 'directory' && real.kind === 'directory') {
    const isKnown = changedNs < found.bornNs || hasSameRights(found, real)
    return isKnown ? identityOf(real) : 'unknown'
  }
  if (changedNs >= found.bornNs) return 'unknown'
  if (isOld) return identityOf(real)
  return found.kind === 'file' && real.kind === 'file' ? 'unsure' : 'unknown'
}
