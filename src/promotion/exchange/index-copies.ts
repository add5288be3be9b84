/**
 * Copies of git's indexes as an act put them in place. `git status` rewrites an index with the same entries
 * when it finds a file touched, which is no change that a rollback should refuse. So a promotion keeps a
 * copy of each index among the displaced entries. If a rollback finds an index with the same entries as
 * the copy, it takes that index as the state to replace, and checks it like every other one.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes } from '../../base/index.ts'
import {
  type Change,
  holdsSameEntries,
  INDEX_BYTES_MAX,
  isIndexPath,
  type RawPath,
} from '../../gate/index.ts'
import { errnoOf } from '../../machine/index.ts'
import { lookAt } from '../entries/entry.ts'
import type { Ground } from '../entries/ground.ts'
import type { ExchangeStep, PlannedSteps } from '../entries/plan.ts'
import type { Exchange } from '../journal/exchange.ts'
import { stepsOf } from './run.ts'

const NAME = 'index-copy-'

/** Copies the indexes once everything is in place, except those that have changed by then. */
export function keepIndexCopies(exchange: Exchange, ground: Ground): void {
  for (const [index, { path, after }] of putIndexes(exchange).entries()) {
    try {
      const bytes = bytesAt(path, ground)
      if (bytes === null || digestBytes(bytes) !== after?.digest) continue
      writeFileSync(join(exchange.keep, `${NAME}${index}`), bytes, { mode: 0o600 })
    } catch (error) {
      // Without the copy a rollback refuses an index that git has rewritten.
      if (errnoOf(error) === null) throw error
    }
  }
}

/** Returns the steps, with each index that git only rewrote as the state before its change. */
export function fromRefreshed(
  reversed: readonly PlannedSteps[],
  kept: readonly IndexCopies[],
  ground: Ground,
): readonly PlannedSteps[] {
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
      const changes: ExchangeStep['changes'] = [found(own), ...below.map(found)]
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
    // The check that follows reports what cannot be read.
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
