/**
 * Removes upper entries that are real now, so that the real ones are seen. Nothing in use is removed.
 *
 * A directory that hides the real one and is not in use becomes a merge with it: what the session
 * removed gets a whiteout, and everything else of the real directory is seen again.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, lstatSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { joinRaw, parentOfRaw, type RawPath } from '../gate/index.ts'
import {
  codeOf,
  holdDirectory,
  isAbsent,
  LentPermissions,
  nodePath,
  removeTreeSync,
  statsOf,
} from '../machine/index.ts'
import type { Keeper, KeeperTask } from '../sandbox/index.ts'
import { hidingIn } from './observe.ts'
import type { Pins } from './pins.ts'
import { lookAt, type ViewRecord } from './record.ts'
import { mergedAt, type UpperEntry, type UpperTree, upwards } from './upper.ts'

interface PruneGround {
  readonly tree: UpperTree
  readonly pins: Pins
  readonly record: ViewRecord
  readonly keeper: Keeper
  /** Whether the upper entry is what is real, or became real as it is. */
  isReal(entry: UpperEntry): boolean
}

interface PrunePlan {
  /** Entries to remove, every directory after what it holds. */
  readonly removed: readonly UpperEntry[]
  /** Entries that are real and stay. */
  readonly kept: readonly UpperEntry[]
  /** Directories that hide the real ones no longer. */
  readonly merged: readonly UpperEntry[]
  /** What the keeper does before anything is removed: after a kill in between, nothing is lost. */
  readonly tasks: readonly KeeperTask[]
}

/** A descriptor on its way between two processes shows in no list, but keeps a lease from being had. */
export async function planPrune(ground: PruneGround): Promise<PrunePlan> {
  const hiding = await hidingIn(ground.tree, ground.keeper)
  const first = new Planner(ground, hiding, new Set())
  const below = first.merged.flatMap((entry) => [...upwards(entry)])
  const files = [...new Set([...first.removed, ...below])].filter(
    ({ found }) => found.kind === 'file',
  )
  const answers = await ground.keeper.ask(files.map(({ at }) => ({ does: 'lease', path: at })))
  const open = files.filter((_, index) => answers[index] === 'r' || answers[index] === 'w')
  if (open.length === 0) return first
  return new Planner(ground, hiding, new Set(open.flatMap(({ path }) => [...pathsUp(path)])))
}

class Planner implements PrunePlan {
  readonly removed: UpperEntry[] = []
  readonly kept: UpperEntry[] = []
  readonly merged: UpperEntry[] = []
  readonly tasks: KeeperTask[] = []
  readonly #ground: PruneGround
  readonly #hiding: ReadonlySet<UpperEntry>
  readonly #open: ReadonlySet<RawPath>
  /** Real entries that the session removed, by the directory that hides them. */
  readonly #gone = new Map<RawPath, RawPath[]>()

  constructor(ground: PruneGround, hiding: ReadonlySet<UpperEntry>, open: ReadonlySet<RawPath>) {
    this.#ground = ground
    this.#hiding = hiding
    this.#open = open
    for (const [path, { kind }] of ground.record.entries) {
      if (kind !== 'gone' || lookAt(path) === null) continue
      const above = parentOfRaw(path)
      this.#gone.set(above, [...(this.#gone.get(above) ?? []), path])
    }
    for (const root of ground.tree.roots) this.#visit(root)
  }

  /** Returns whether the entry goes. */
  #visit(entry: UpperEntry): boolean {
    const { found, path, isRoot } = entry
    if (found.isWhiteout) return this.#whiteout(entry)
    if (found.kind !== 'directory') return this.#single(entry)
    if (isRoot) return this.#merge(entry, false)
    if (!this.#hiding.has(entry)) {
      // Without a real directory nothing below it is real.
      return lookAt(path)?.kind === 'directory' && this.#merge(entry, true)
    }
    if (this.#isInUse(entry)) return this.#keep(entry)
    const goes = this.#merge(entry, true)
    this.tasks.push({ does: 'unmark', path: entry.at })
    if (!goes) this.merged.push(entry)
    return goes
  }

  /** Returns whether a directory goes with everything in it. */
  #merge(entry: UpperEntry, mayGo: boolean): boolean {
    const gone = this.#hiding.has(entry) ? (this.#gone.get(entry.path) ?? []) : []
    for (const path of gone) {
      this.tasks.push({ does: 'whiteout', path: joinRaw(entry.at, nameOf(path)) })
    }
    let goes = gone.length === 0 && !entry.isCut
    for (const child of entry.children) if (!this.#visit(child)) goes = false
    return goes && mayGo && this.#single(entry)
  }

  #whiteout(entry: UpperEntry): boolean {
    const { record, pins } = this.#ground
    const real = lookAt(entry.path)
    // Another process may have made the name again after the session removed it.
    const isMadeAgain = record.entries.get(entry.path)?.base === 'nothing'
    if (real !== null && (!isMadeAgain || pins.holdsInode(BigInt(real.inode)))) return false
    this.removed.push(entry)
    return true
  }

  #single(entry: UpperEntry): boolean {
    if (!this.#ground.isReal(entry)) return false
    if (this.#isInUse(entry)) {
      this.kept.push(entry)
      return false
    }
    this.removed.push(entry)
    return true
  }

  /** A directory in use goes on hiding the real one, with everything in it. */
  #keep(entry: UpperEntry): boolean {
    this.tasks.push({ does: 'mark', path: entry.at })
    this.kept.push(...[...upwards(entry)].filter((each) => this.#ground.isReal(each)))
    return false
  }

  #isInUse(entry: UpperEntry): boolean {
    return this.#open.has(entry.path) || isInUse(entry, this.#ground.pins)
  }
}

function* pathsUp(path: RawPath): Generator<RawPath> {
  for (let each = path; each !== '/'; each = parentOfRaw(each)) yield each
}

function nameOf(path: RawPath): RawPath {
  // A part of a raw path is raw.
  return path.slice(path.lastIndexOf('/') + 1) as RawPath
}

/** By path, or by the inode of any of its sides: watches and other names have no path. */
export function isInUse({ path, found, layer }: UpperEntry, pins: Pins): boolean {
  if (pins.isPinned(path) || pins.holdsInode(BigInt(found.inode))) return true
  const real = lookAt(path)
  if (real !== null && pins.holdsInode(BigInt(real.inode))) return true
  return pins.holdsInode(shownInode(mergedAt(layer, path)))
}

function shownInode(path: RawPath): bigint | null {
  try {
    return lstatSync(nodePath(path), { bigint: true }).ino
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'EACCES') return null
    throw error
  }
}

/**
 * Removes upper entries; a directory comes after what it holds. The session may have closed a directory
 * to its own user.
 */
export function removeEntries(entries: readonly UpperEntry[], isRoot: boolean): void {
  const lent = new LentPermissions(isRoot)
  const going = new Set(entries.map(({ at }) => at))
  const above = new Set(entries.map(({ at }) => parentOfRaw(at)))
  try {
    for (const at of [...above].sort()) {
      const stats = statsOf(at)
      if (stats === null) continue
      if (!going.has(at)) lent.lend(stats, at)
      else if (!isRoot && (stats.mode & PRIVATE) !== PRIVATE) chmodSync(nodePath(at), PRIVATE)
    }
    for (const { at, found, isCut } of entries) {
      if (isCut) removeDeep(at)
      else removeEntry(at, found.kind === 'directory')
    }
  } finally {
    lent.giveBack()
  }
}

const PRIVATE = 0o700

/** Goes by a short path: that of the directory above, which is held open, and a plain name. */
function removeDeep(at: RawPath): void {
  const above = holdDirectory(nodePath(parentOfRaw(at)))
  try {
    const place = `${above.prefix}/.writ-${randomUUID()}`
    renameSync(nodePath(at), place)
    removeTreeSync(place)
  } finally {
    above.close()
  }
}

function removeEntry(at: RawPath, isDirectory: boolean): void {
  try {
    if (isDirectory) rmdirSync(nodePath(at))
    else unlinkSync(nodePath(at))
  } catch (error) {
    if (!isAbsent(error)) throw error
  }
}
