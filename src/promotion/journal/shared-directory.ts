/**
 * Directories that an act would make and that exist by then, in the same state: another act or another
 * process made them meanwhile. That is no conflict; each entry that comes into them is checked by itself.
 *
 * Such a directory is shared: the act that was promoted later keeps a list of those it found. When the
 * act that made one is rolled back the directory stays, for the act that shares it, which takes it
 * away when it is rolled back itself and nothing else is in there.
 *
 * INVARIANT (the stage stays whole): entries that go in one by one are linked into a folder of their
 *   own, not moved out of the staged tree, so that a failed promotion can be tried again.
 */
import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Change,
  type EntryState,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  textOfRaw,
} from '../../gate/index.ts'
import {
  readAttributes,
  readIfThere,
  removeTreeSync,
  syncDirectory,
  writeWhole,
} from '../../machine/index.ts'
import { isLike, lookAt, namesIn, type TreeEntry } from '../entries/entry.ts'
import type { Ground } from '../entries/ground.ts'
import { byPath, type Place, type PlanPlaces } from '../entries/plan.ts'
import { AFTER_TIMES, type Exchange } from './exchange.ts'

/** What is left to be done once directories that are there are left alone. */
interface Adoption {
  readonly changes: readonly Change[]
  readonly places: PlanPlaces
  /** The changes that would have made them. */
  readonly shared: readonly Change[]
}

export async function adoptDirectories(
  changes: readonly Change[],
  places: PlanPlaces,
  stage: string,
  ground: Ground,
): Promise<Adoption> {
  const found = await directoriesThere(changes, ground)
  if (found.size > 0) leaveOut(found, changes)
  if (found.size === 0) return { changes, places, shared: [] }
  return new DirectorySplit(places, stage, found).of(changes)
}

/**
 * What is below a directory that is not adopted itself comes along with that. Names that are no text
 * cannot be linked one by one; there it stays a conflict.
 */
function leaveOut(found: Set<RawPath>, changes: readonly Change[]): void {
  for (const { path } of changes)
    if (textOfRaw(nameOfRaw(path)) === null) found.delete(parentOfRaw(path))
  const made = new Set(changes.filter(({ before }) => before === null).map(({ path }) => path))
  // Paths are sorted, so that a directory comes before what is in it.
  for (const path of found) {
    const parent = parentOfRaw(path)
    if (made.has(parent) && !found.has(parent)) found.delete(path)
  }
}

/** Directories that would be made, and are there with the same mode, owner and attributes. */
async function directoriesThere(changes: readonly Change[], ground: Ground): Promise<Set<RawPath>> {
  const missing = new Set<RawPath>()
  const alike: Change[] = []
  for (const change of changes) {
    const { path, before, after } = change
    if (before !== null || after?.kind !== 'directory') continue
    const entry = missing.has(parentOfRaw(path)) ? null : lookAt(ground.atIfThere(path))
    if (entry === null) missing.add(path)
    else if (isLike(entry, after) && isOwn(entry, after)) alike.push(change)
  }
  const { byPath, unreadable } = await readAttributes(
    alike.map(({ path }) => path),
    'real',
  )
  const same = alike.filter(({ path, after }) => {
    const attributes = JSON.stringify(byPath.get(path)?.kept ?? [])
    return !unreadable.includes(path) && attributes === JSON.stringify(after?.attributes ?? [])
  })
  return new Set(same.map(({ path }) => path))
}

/** An ordinary user's list names no owners: the entries that they make are their own. */
function isOwn({ uid }: TreeEntry, { owner }: EntryState): boolean {
  return owner !== null || uid === process.getuid?.()
}

const SPLIT = 'split'

/** Takes staged trees apart where their topmost directory is there already. */
class DirectorySplit {
  readonly #places: Map<RawPath, Place>
  readonly #stage: string
  readonly #found: ReadonlySet<RawPath>
  /** By directory that is left alone: the place of the staged directory whose entries go into it. */
  readonly #opened = new Map<RawPath, string>()
  #linked = 0

  constructor(places: PlanPlaces, stage: string, found: ReadonlySet<RawPath>) {
    this.#places = new Map(places)
    this.#stage = stage
    this.#found = found
  }

  of(changes: readonly Change[]): Adoption {
    const [rest, shared]: [Change[], Change[]] = [[], []]
    removeTreeSync(join(this.#stage, SPLIT))
    for (const change of changes) {
      const place = this.#placeOf(change)
      const isLeft = this.#found.has(change.path)
      if (isLeft && place !== undefined) this.#opened.set(change.path, place)
      else if (place !== undefined) this.#put(change, place)
      if (isLeft) shared.push(change)
      else rest.push(change)
    }
    if (this.#linked > 0) {
      syncDirectory(join(this.#stage, SPLIT))
      syncDirectory(this.#stage)
    }
    return { changes: rest, places: this.#places, shared }
  }

  /** Where the staged bytes of a path lie; nothing for what comes along with its directory. */
  #placeOf({ path, after }: Change): string | undefined {
    const own = this.#places.get(path)
    if (own !== undefined || after === null) return own?.place
    const opened = this.#opened.get(parentOfRaw(path))
    return opened === undefined ? undefined : join(opened, textOfRaw(nameOfRaw(path)) ?? '')
  }

  #put({ path, after }: Change, place: string): void {
    if (this.#places.has(path) || after === null) return
    if (after.kind === 'directory') {
      this.#places.set(path, { place, unit: 'tree' })
      return
    }
    const folder = join(this.#stage, SPLIT)
    if (this.#linked === 0) mkdirSync(folder, { mode: 0o700 })
    const link = join(folder, String(this.#linked++))
    linkSync(place, link)
    this.#places.set(path, { place: link, unit: 'entry' })
  }
}

const SHARED = 'shared.json'
const MADE = 'made.json'
/** Files of this page among an act's pre-images. */
export const SHARED_FILES: readonly string[] = [SHARED, MADE]

/** Durable before the intent: the pre-images of an act tell what it shares. */
export function noteShared(keep: string, shared: readonly Change[]): void {
  if (shared.length > 0) writeWhole(join(keep, SHARED), JSON.stringify(shared), 0o600)
}

export function sharedBy(keep: string): readonly Change[] {
  // Both files are written whole, by this page.
  return JSON.parse(readIfThere(join(keep, SHARED)) ?? '[]') as Change[]
}

function madeBy(keep: string): readonly RawPath[] {
  // Only this file writes it: a list of raw paths.
  return JSON.parse(readIfThere(join(keep, MADE)) ?? '[]') as RawPath[]
}

/** Who takes a directory away that the act which made it leaves behind. */
export interface DirectorySuccessor {
  readonly keep: string
  readonly path: RawPath
}

/** Other acts that can be rolled back, each with the directories that it shares. */
export class Sharers {
  readonly #keeps = new Map<RawPath, string>()

  /** The acts that are rolled back together share nothing with those that stay. */
  constructor(keeps: readonly string[]) {
    const own = new Set(keeps)
    for (const place of new Set(keeps.map((keep) => dirname(keep)))) {
      for (const name of readdirSync(place).sort()) {
        const keep = join(place, name)
        // An act without after-times was not promoted, or not yet: it shares nothing.
        if (own.has(keep) || !existsSync(join(keep, AFTER_TIMES))) continue
        for (const { path } of sharedBy(keep)) this.#keeps.set(path, keep)
      }
    }
  }

  /** Returns the heir of a directory; null if no other act shares it. */
  heirOf(path: RawPath): DirectorySuccessor | null {
    const keep = this.#keeps.get(path)
    return keep === undefined ? null : { keep, path }
  }
}

/**
 * Returns the directories that acts inherited by the rollback of others and that can go with them: no
 * other act shares them, and nothing else is in them.
 */
export function inheritedBy(
  keeps: readonly string[],
  changes: readonly Change[],
  ground: Ground,
  stays: (path: RawPath) => boolean,
): readonly Change[] {
  const inherited = keeps.flatMap((keep) => {
    const made = new Set(madeBy(keep))
    return made.size === 0 ? [] : sharedBy(keep).filter(({ path }) => made.has(path))
  })
  if (inherited.length === 0) return []
  const alone = inherited.filter(({ path }) => !stays(path)).sort(byPath)
  const goes = new Set(changes.filter(({ after }) => after !== null).map(({ path }) => path))
  const going: Change[] = []
  // The deepest first: a directory may hold another that goes as well.
  for (const change of alone.reverse()) {
    const address = ground.atIfThere(change.path)
    const entry = lookAt(address)
    if (address === null || entry?.kind !== 'directory') continue
    if (change.after === null || !isLike(entry, change.after)) continue
    if (!namesIn(address).every((name) => goes.has(joinRaw(change.path, name)))) continue
    goes.add(change.path)
    going.push(change)
  }
  return going.reverse()
}

/** Hands directories over to those who share them; may be done again. */
export function handOver({ heirs = [] }: Pick<Exchange, 'heirs'>): void {
  for (const { keep, path } of heirs) {
    if (readIfThere(join(keep, SHARED)) === null) continue
    const made = new Set([...madeBy(keep), path])
    writeWhole(join(keep, MADE), JSON.stringify([...made]), 0o600)
  }
}
