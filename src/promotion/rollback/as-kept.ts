/**
 * Compares the pre-images with what was displaced. A process whose working directory was taken away can
 * still create files in it, and one that had a file open could write to it. Added entries come back with
 * their directory, so nothing is lost. Other changed entries are put back only if a person wants them
 * as they are.
 */
import { type Change, type EntryState, joinRaw, type RawPath } from '../../gate/index.ts'
import {
  type Address,
  hashFile,
  joinAddress,
  lookAt,
  namesIn,
  readTarget,
  type TreeEntry,
} from '../entries/entry.ts'
import type { ExchangeStep, PlannedSteps } from '../entries/plan.ts'
import { stageDifferences } from '../entries/stage.ts'

interface AsKept {
  /** The same steps, which put entries back in their present state. */
  readonly reversed: readonly PlannedSteps[]
  /** Entries that were added since, and come back with their directory. */
  readonly added: readonly RawPath[]
  /** Entries that changed since they were displaced. */
  readonly altered: readonly RawPath[]
}

export function asKept(reversed: readonly PlannedSteps[]): AsKept {
  const added: RawPath[] = []
  const altered: RawPath[] = []
  /** What a path is left as where that is not what the older acts knew. */
  const left = new Map<RawPath, EntryState | null>()
  const parts = reversed.map((planned) => {
    for (const path of planned.unstaged) altered.push(path)
    const steps = planned.steps.map((step) => {
      const found = new Kept(step)
      if (found.isUnchanged && left.size === 0) return step
      for (const { path } of found.added) added.push(path)
      for (const path of found.altered) altered.push(path)
      return { ...step, changes: found.changes(left) }
    })
    return { ...planned, steps }
  })
  return { reversed: parts, added, altered }
}

class Kept {
  readonly #step: ExchangeStep
  readonly isUnchanged: boolean
  readonly added: readonly Change[]
  readonly altered: readonly RawPath[]

  constructor(step: ExchangeStep) {
    this.#step = step
    const different = stageDifferences(step)
    this.isUnchanged = different.length === 0
    const known = this.isUnchanged ? [] : step.changes
    const expected = new Set(known.flatMap(({ path, after }) => (after === null ? [] : [path])))
    this.altered = different.filter((path) => expected.has(path))
    this.added = different
      .filter((path) => !expected.has(path))
      .flatMap((path) => [...this.#everythingAt(path)])
  }

  changes(left: Map<RawPath, EntryState | null>): ExchangeStep['changes'] {
    const altered = new Set(this.altered)
    const now = (change: Change): Change => {
      const known = left.get(change.path)
      const before = known === undefined ? change.before : known
      if (!altered.has(change.path)) return { ...change, before }
      const after = stateAt(this.#address(change.path))
      left.set(change.path, after)
      return { ...change, before, after }
    }
    const [own, ...below] = this.#step.changes
    return [now(own), ...below.map(now), ...this.added]
  }

  #address(path: RawPath): Address {
    const { put, path: top } = this.#step
    const place = put ?? ''
    return path === top ? place : joinAddress(place, path.slice(top.length + 1))
  }

  *#everythingAt(top: RawPath): Generator<Change> {
    const open = [top]
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      const address = this.#address(path)
      const after = stateAt(address)
      if (after === null) continue
      yield { path, before: null, after }
      if (after.kind !== 'directory') continue
      for (const name of namesIn(address)) open.push(joinRaw(path, name))
    }
  }
}

/** Returns the state of an entry; null if there is none, or one of a kind that changes cannot hold. */
function stateAt(address: Address): EntryState | null {
  const entry = lookAt(address)
  if (entry === null || entry.kind === null) return null
  return stateOf(address, entry, entry.kind)
}

/** Attributes travel with the entry; they are compared in the real tree only. */
function stateOf(address: Address, entry: TreeEntry, kind: EntryState['kind']): EntryState {
  return {
    kind,
    mode: entry.mode,
    size: kind === 'file' ? entry.size : 0,
    digest: kind === 'file' ? hashFile(address) : null,
    target: kind === 'symlink' ? readTarget(address) : null,
    attributes: [],
    owner: { uid: entry.uid, gid: entry.gid },
    mtimeNs: entry.mtimeNs,
    linkGroup: null,
  }
}
