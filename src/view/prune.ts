/**
 * Removes upper entries that are real now, so that the real ones are seen. Nothing in use is removed,
 * and nothing out of a directory that hides the real one, unless the directory goes as a whole.
 */
import { lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { parentOfRaw, type RawPath } from '../gate/index.ts'
import { codeOf, isAbsent, nodePath } from '../machine/index.ts'
import type { Keeper } from '../sandbox/index.ts'
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
}

export async function planPrune(ground: PruneGround): Promise<PrunePlan> {
  const planner = new Planner(ground, await hidingIn(ground.tree, ground.keeper))
  for (const root of ground.tree.roots) planner.visit(root)
  return withoutLeases(planner, ground)
}

class Planner {
  readonly removed: UpperEntry[] = []
  readonly kept: UpperEntry[] = []
  readonly #ground: PruneGround
  /** Directories that hide a real entry which the session removed. */
  readonly #lacking = new Set<RawPath>()
  readonly #hiding: ReadonlySet<UpperEntry>

  constructor(ground: PruneGround, hiding: ReadonlySet<UpperEntry>) {
    this.#ground = ground
    this.#hiding = hiding
    for (const [path, { kind }] of ground.record.entries) {
      if (kind === 'gone' && lookAt(path) !== null) this.#lacking.add(parentOfRaw(path))
    }
  }

  /** Returns whether the entry goes. */
  visit(entry: UpperEntry): boolean {
    const { found, path, isRoot } = entry
    if (found.isWhiteout) return this.#whiteout(entry)
    if (found.kind !== 'directory') return this.#single(entry)
    const hidesReal = this.#hiding.has(entry) || lookAt(path)?.kind !== 'directory'
    if (hidesReal && !isRoot) return this.#whole(entry)
    let goes = 0
    for (const child of entry.children) if (this.visit(child)) goes++
    if (isRoot) return false
    return goes === entry.children.length && this.#single(entry)
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
    if (isInUse(entry, this.#ground.pins)) {
      this.kept.push(entry)
      return false
    }
    this.removed.push(entry)
    return true
  }

  /** A directory that hides the real one goes with everything in it, or stays so. */
  #whole(entry: UpperEntry): boolean {
    const { pins } = this.#ground
    const all = [...upwards(entry)]
    const real = all.filter((each) => this.#ground.isReal(each))
    const isSame = real.length === all.length && !all.some(({ path }) => this.#lacking.has(path))
    const goes = isSame && !all.some((each) => isInUse(each, pins))
    if (goes) this.removed.push(...all)
    else this.kept.push(...real)
    return goes
  }
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

/** A descriptor on its way between two processes shows in no list, but keeps a lease from being had. */
async function withoutLeases(planner: Planner, { keeper }: PruneGround): Promise<PrunePlan> {
  const files = planner.removed.filter(({ found }) => found.kind === 'file')
  const answers = await keeper.ask(files.map(({ at }) => ({ does: 'lease', path: at })))
  const open = files.filter((_, index) => answers[index] === 'r' || answers[index] === 'w')
  if (open.length === 0) return planner
  const stays = (entry: UpperEntry): boolean =>
    open.some(({ path }) => path === entry.path || path.startsWith(`${entry.path}/`))
  // What hides the real directory stays whole.
  const whole = planner.removed.filter(stays)
  const isHeld = (entry: UpperEntry): boolean =>
    stays(entry) ||
    whole.some(({ path, found }) => found.kind === 'directory' && entry.path.startsWith(`${path}/`))
  return {
    removed: planner.removed.filter((entry) => !isHeld(entry)),
    kept: [...planner.kept, ...planner.removed.filter(isHeld)],
  }
}

/** Removes upper entries; a directory comes after what it holds. */
export function removeEntries(entries: readonly UpperEntry[]): void {
  for (const { at, found } of entries) {
    try {
      if (found.kind === 'directory') rmdirSync(nodePath(at))
      else unlinkSync(nodePath(at))
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
  }
}
