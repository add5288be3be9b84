/**
 * Decides which differences block the rollback of one act. Two kinds do not: a path that is already as it
 * was before the act needs no restoring, and an empty directory holds nothing that could be lost.
 */
import { rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type Change,
  displayOfRaw,
  type EntryState,
  isBelow,
  joinRaw,
  type RawPath,
} from '../../gate/index.ts'
import { errnoOf, quote } from '../../machine/index.ts'
import {
  type Address,
  hashFile,
  isOfState,
  joinAddress,
  lookAt,
  namesIn,
  readTarget,
  type TreeEntry,
} from '../entries/entry.ts'
import type { Ground } from '../entries/ground.ts'
import {
  type ExchangeStep,
  isInPlace,
  type PlannedSteps,
  putsTree,
  stageDifferences,
} from '../entries/plan.ts'

/** Returns the steps without those whose path is already as the step would leave it. */
export function withoutDone(
  steps: readonly ExchangeStep[],
  ground: Ground,
): readonly ExchangeStep[] {
  return steps.filter((step) => isInPlace(step) || !isDone(step, ground))
}

function isDone({ path, changes: [own, ...below] }: ExchangeStep, ground: Ground): boolean {
  const address = ground.atIfThere(path)
  if (own.after === null) return address === null || lookAt(address) === null
  if (address === null || below.length > 0) return false
  // Attributes are compared in a batch, later: a path that has some on either side is not done yet.
  if ([own.before, own.after].some((state) => (state?.attributes.length ?? 0) > 0)) return false
  return isOfState(address, own.after, false)
}

/** Returns those of the paths where an empty directory is and a whole directory would come. */
export function emptyInTheWay(
  steps: readonly ExchangeStep[],
  different: readonly RawPath[],
  ground: Ground,
): readonly RawPath[] {
  const coming = new Set(
    steps
      .filter((step) => putsTree(step) && step.changes[0].before === null)
      .map(({ path }) => path),
  )
  return different.filter((path) => {
    const address = coming.has(path) ? ground.atIfThere(path) : null
    if (address === null || lookAt(address)?.kind !== 'directory') return false
    return namesIn(address).length === 0
  })
}

/** Removes them; returns those that hold something by now. */
export function removeEmpty(paths: readonly RawPath[], ground: Ground): readonly RawPath[] {
  return paths.filter((path) => {
    const address = ground.atIfThere(path)
    try {
      if (address !== null) rmdirSync(address)
      return false
    } catch (error) {
      if (errnoOf(error) === null) throw error
      return true
    }
  })
}

const COMMANDS_MAX = 5

/** What a person types to get out of a conflict: each path is made as it was before the act. */
export function conflictHint(
  actionId: string,
  steps: readonly ExchangeStep[],
  different: readonly RawPath[],
): string {
  const commands = different.slice(0, COMMANDS_MAX).flatMap((path) => {
    const step = steps.find((one) => isBelow(path, one.path))
    return step === undefined ? [] : [wayOut(step, path)]
  })
  const lines = [...new Set(commands)].map((command) => `\n    ${command}`)
  const more = different.length > COMMANDS_MAX ? ', which names the next paths' : ''
  const again = `\`writ rollback ${actionId}\`${more}`
  if (lines.length === 0) {
    return `undo overwrites nothing of others. Make each path as it was before the act, then type ${again}`
  }
  return `undo overwrites nothing of others. Type this to move aside what is in the way:${lines.join('')}\n  then ${again}`
}

/**
 * Moves away what is there, and copies the kept entry to its place. An entry that others put into a
 * directory of the act is moved out of that directory.
 */
function wayOut({ path, put, changes }: ExchangeStep, different: RawPath): string {
  const [own] = changes
  const [name, kept] = [displayOfRaw(path), put]
  if (changes.every((one) => one.path !== different)) {
    const others = displayOfRaw(different)
    return `mv -n ${quote(others)} ${quote(join(dirname(name), `${basename(others)}.mine`))}`
  }
  const away = `mv -n ${quote(name)} ${quote(`${name}.mine`)}`
  return kept === null || own.after === null ? away : `${away}; cp -a ${quote(kept)} ${quote(name)}`
}

interface AsKept {
  /** The same steps, which put entries back in their present state. */
  readonly reversed: readonly PlannedSteps[]
  /** Entries that were added since, and come back with their directory. */
  readonly added: readonly RawPath[]
  /** Entries that changed since they were displaced. */
  readonly altered: readonly RawPath[]
}

/**
 * Compares the pre-images with what was displaced. A process whose working directory was taken away can
 * still create files in it, and one that had a file open could write to it. Added entries come back with
 * their directory, so nothing is lost. Other changed entries are put back only if a person wants them
 * as they are.
 */
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
