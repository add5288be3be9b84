/**
 * Indexes of git as an act put them in place. `git status` writes an index anew whenever it finds a file
 * touched, with the entries that it had; that is nobody's change. So copies are kept beside what was
 * displaced, and what a rollback finds in place of an index is taken for it when it holds the same
 * entries: it is then the state that the rollback replaces, checked like every other one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes } from '../base/index.ts'
import {
  type Change,
  holdsSameEntries,
  INDEX_BYTES_MAX,
  isIndexPath,
  type RawPath,
} from '../gate/index.ts'
import { errnoOf } from '../machine/index.ts'
import { lookAt } from './entry.ts'
import type { Exchange } from './exchange.ts'
import type { Ground } from './ground.ts'
import type { Planned, Step } from './plan.ts'
import { stepsOf } from './run.ts'

const NAME = 'index-copy-'

/** When everything is in place; one that somebody has changed by then is not kept. */
export function keepIndexCopies(exchange: Exchange, ground: Ground): void {
  for (const [index, { path, after }] of putIndexes(exchange).entries()) {
    try {
      const bytes = bytesAt(path, ground)
      if (bytes === null || digestBytes(bytes) !== after?.digest) continue
      writeFileSync(join(exchange.keep, `${NAME}${index}`), bytes, { mode: 0o600 })
    } catch (error) {
      // Without it a rollback takes an index that was written anew for somebody's change.
      if (errnoOf(error) === null) throw error
    }
  }
}

/** The same steps, back from what is there where that is only an index written anew. */
export function fromRefreshed(
  reversed: readonly Planned[],
  kept: readonly IndexCopies[],
  ground: Ground,
): readonly Planned[] {
  if (kept.every(({ size }) => size === 0)) return reversed
  const seen = new Set<RawPath>()
  return reversed.map((planned, index) => {
    const copies: IndexCopies = kept[index] ?? new Map()
    const steps = planned.steps.map((step) => {
      const [own, ...below] = step.changes
      const found = (change: Change): Change => {
        // Later parts find what earlier ones will have left, not what is there.
        const copy = seen.has(change.path) ? undefined : copies.get(change.path)
        seen.add(change.path)
        return copy === undefined ? change : refreshed(change, copy, ground)
      }
      const changes: Step['changes'] = [found(own), ...below.map(found)]
      return { ...step, changes }
    })
    return { ...planned, steps }
  })
}

function refreshed(change: Change, copy: string, ground: Ground): Change {
  const { path, before } = change
  try {
    const bytes = bytesAt(path, ground)
    if (before === null || bytes === null || !holdsSameEntries(readFileSync(copy), bytes)) {
      return change
    }
    const entry = lookAt(ground.atIfThere(path))
    if (entry === null) return change
    const { size, mtimeNs } = entry
    return { ...change, before: { ...before, digest: digestBytes(bytes), size, mtimeNs } }
  } catch {
    // Whatever cannot be read is told by who checks.
    return change
  }
}

/** By the path of an index: where the copy lies that was kept of it. */
export type IndexCopies = ReadonlyMap<RawPath, string>

export function indexCopies(plan: Exchange): IndexCopies {
  return new Map(
    putIndexes(plan).map(({ path }, index) => [path, join(plan.keep, `${NAME}${index}`)]),
  )
}

function putIndexes(exchange: Exchange): readonly Change[] {
  return stepsOf(exchange)
    .flatMap(({ changes }) => changes)
    .filter(({ path, after }) => after?.kind === 'file' && isIndexPath(path))
}

function bytesAt(path: RawPath, ground: Ground): Buffer | null {
  const address = ground.atIfThere(path)
  const entry = lookAt(address)
  if (address === null || entry?.kind !== 'file' || entry.size > INDEX_BYTES_MAX) return null
  return readFileSync(address)
}
