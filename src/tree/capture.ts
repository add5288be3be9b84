/**
 * Rehearsed bytes are set aside before anyone is asked (G-13b): the sandbox can then go, and a
 * promotion after an approval or a restart needs nothing but the stage.
 *
 * INVARIANT (staged is scanned): every staged entry has the kind, bytes, mode, target, attributes, time
 *   and owner that its change says, or capturing fails. Bytes that were copied are hashed again; bytes
 *   that were moved are the scanned file itself.
 * INVARIANT (durable when returned): bytes, the list of them, and their names are synced.
 *
 * Directories that are in both trees are not staged: their change says all there is to put on them.
 *
 * `share` divides changes among layers, and names the directory of each layer in the stage. A path belongs to the
 * innermost layer that contains it: that layer was written to.
 */
import { chmodSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invariant } from '../base/index.ts'
import {
  type Change,
  type EntryState,
  isBelow,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../gate/index.ts'
import {
  asFailure,
  codeOf,
  flatPath,
  type HeldDirectory,
  holdDirectory,
  LentPermissions,
  makeDurable,
  nodePath,
  Pace,
  statsOf,
} from '../machine/index.ts'
import type { Layer } from '../sandbox/index.ts'
import { copyAcross, type Load, moveAcross, removeAll } from './carry.ts'
import type { Emptied } from './layer-walk.ts'
import { type Expected, settle } from './settle.ts'
import { type Captured, type StagedEntry, writeStage } from './stage.ts'

interface CaptureOptions {
  /** Owners are carried, and every entry can be read. */
  readonly isRoot: boolean
  /** Directories that the rehearsal emptied and made again, as the scan found them. */
  readonly emptied?: readonly Emptied[]
}

/** `stage` is made here, for this process's user alone; it lies on the scope's filesystem. */
export async function captureChanges(
  changes: readonly Change[],
  layers: readonly Layer[],
  stage: string,
  { isRoot, emptied = [] }: CaptureOptions,
): Promise<void> {
  const held: HeldDirectory[] = []
  const lent = new LentPermissions(isRoot)
  const hold = (path: string): HeldDirectory => {
    const directory = holdDirectory(path)
    held.push(directory)
    return directory
  }
  try {
    mkdirSync(stage, { recursive: true, mode: 0o700 })
    const shares = share(changes, layers)
    const entries: Staged[] = []
    for (const part of shares) {
      const isMoved = await carry(part, stage, hold, lent)
      for (const change of part.changes) entries.push(new Staged(stage, part, change, isMoved))
    }
    lent.giveBack()
    entries.sort((one, other) => (one.path < other.path ? -1 : 1))
    nameUnits(stage, entries)
    const captured = { stage, entries, emptied: concerned(emptied, changes) }
    const cleared = Promise.all(shares.map(({ name }) => removeEmptied(join(stage, name))))
    // Heard of below.
    cleared.catch(() => undefined)
    try {
      await settle(entries)
      await secure(captured, entries)
    } finally {
      // Waits, so that the caller starts nothing while the removal runs.
      await cleared
    }
  } catch (error) {
    throw asFailure(error, 'stage.tool', stage)
  } finally {
    lent.giveBack()
    for (const directory of held) directory.close()
  }
}

/** Removes a directory whose entries were moved out. Asynchronous, because it can wait for the disk. */
async function removeEmptied(directory: string): Promise<void> {
  try {
    await rmdir(directory)
  } catch {
    removeAll(rawOfText(directory))
  }
}

/** Of the emptied directories those in which something would change. */
function concerned(emptied: readonly Emptied[], changes: readonly Change[]): readonly Emptied[] {
  return emptied.filter(({ path }) => changes.some((change) => isBelow(change.path, path)))
}

/** An entry on its way into the stage: its place, and the state that it must have. */
class Staged implements StagedEntry, Expected {
  readonly path: RawPath
  readonly state: EntryState
  readonly isUnit: boolean
  readonly isMoved: boolean
  /** Of a unit until it is named: where it was carried to. */
  place: RawPath
  readonly #stage: string

  constructor(stage: string, { layer, name, units }: Share, change: Change, isMoved: boolean) {
    const { path, after } = change
    invariant(after !== null, 'what is gone is not staged')
    const below = nameIn(layer, path)
    this.path = path
    this.state = after
    this.isUnit = units.has(path)
    this.isMoved = isMoved
    // Joins raw names: a character is a byte.
    this.place = (this.isUnit ? `${name}/${below}` : '') as RawPath
    this.#stage = stage
  }

  get at(): RawPath {
    return joinRaw(rawOfText(this.#stage), this.place)
  }
}

/** Returns whether the scanned files themselves are in the stage; otherwise copies are. */
async function carry(
  part: Share,
  stage: string,
  hold: (path: string) => HeldDirectory,
  lent: LentPermissions,
): Promise<boolean> {
  const { layer, changes, units } = part
  const nameOf = (path: RawPath) => nameIn(layer, path)
  const names = changes.map(({ path }) => nameOf(path))
  const directory = join(stage, part.name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const load: Load = {
    upper: hold(layer.upper),
    target: hold(directory),
    names,
    units: [...units].map(nameOf),
  }
  if (isSameDevice(layer, stage) && (await moveAcross(load, new Pace()))) return true
  lendForCopying(load, lent)
  await copyAcross(load)
  return false
}

/**
 * Gives every unit a short name of its own directly in the stage, so that a promotion reaches it by a
 * plain path. Entries inside a unit keep their names.
 */
function nameUnits(stage: string, entries: readonly Staged[]): void {
  const ground = rawOfText(stage)
  const places = new Map<RawPath, RawPath>()
  let count = 0
  for (const entry of entries) {
    const { path, isUnit, place, state } = entry
    // A directory comes before what is in it, though not right before.
    const within = places.get(parentOfRaw(path))
    entry.place =
      isUnit || within === undefined ? rawOfText(`u${count++}`) : flatPath(within, nameOfRaw(path))
    if (isUnit) moveUnit(joinRaw(ground, place), joinRaw(ground, entry.place))
    if (state.kind === 'directory') places.set(path, entry.place)
  }
}

/** A directory that its owner may not write cannot be moved; its mode is set afterwards. */
function moveUnit(from: RawPath, to: RawPath): void {
  try {
    renameSync(nodePath(from), nodePath(to))
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error
    chmodSync(nodePath(from), 0o700)
    renameSync(nodePath(from), nodePath(to))
  }
}

/** Bytes, the list of them, and the names of both. */
async function secure(captured: Captured, expected: readonly Expected[]): Promise<void> {
  const { stage } = captured
  const list = writeStage(captured)
  const own = [list, rawOfText(stage), rawOfText(dirname(stage))]
  // All at once, which takes one flush of the disk. The stage is used only after they are durable.
  await makeDurable({ [Symbol.iterator]: () => placesOf(expected, own) }, stage)
}

/** Everything that has to be durable by itself; a directory more than once. */
function* placesOf(expected: readonly Expected[], own: readonly RawPath[]): Generator<RawPath> {
  yield* own
  for (const { at, state } of expected) {
    yield parentOfRaw(at)
    if (state.kind !== 'symlink') yield at
  }
}

/** The changes of one layer that have to be staged. */
interface Share {
  readonly layer: Layer
  /** Its directory in the stage. */
  readonly name: string
  readonly changes: readonly Change[]
  readonly units: ReadonlySet<RawPath>
}

function share(changes: readonly Change[], layers: readonly Layer[]): readonly Share[] {
  const inner = [...layers].sort((one, other) => other.root.length - one.root.length)
  const parts = new Map<Layer, Change[]>()
  for (const change of changes) {
    if (!isStaged(change)) continue
    const layer = inner.find(({ root }) => isBelow(change.path, rawOfText(root)))
    if (layer === undefined) continue
    const part = parts.get(layer)
    if (part === undefined) parts.set(layer, [change])
    else part.push(change)
  }
  return [...parts].map(([layer, part]) => {
    const directories = new Set(
      part.flatMap(({ path, after }) => (after?.kind === 'directory' ? [path] : [])),
    )
    const units = part.filter(({ path }) => !directories.has(parentOfRaw(path)))
    const sorted = part.sort((one, other) => (one.path < other.path ? -1 : 1))
    return {
      layer,
      name: String(layers.indexOf(layer)),
      changes: sorted,
      units: new Set(units.map(({ path }) => path)),
    }
  })
}

function isStaged({ before, after }: Change): boolean {
  if (after === null) return false
  return after.kind !== 'directory' || before?.kind !== 'directory'
}

/** The name of a path below the root of its layer. */
function nameIn({ root }: Layer, path: RawPath): RawPath {
  return path.slice(rawOfText(root === '/' ? '' : root).length + 1) as RawPath
}

function isSameDevice({ upperDevice }: Layer, stage: string): boolean {
  return upperDevice !== null && statSync(stage).dev === upperDevice
}

/**
 * Everything on the way to each name, and the name itself. Files are lent the right to write too: a
 * copy is made with the mode of its source, and takes attributes only if it may be written.
 */
function lendForCopying(
  { upper, names }: Pick<Load, 'upper' | 'names'>,
  lent: LentPermissions,
): void {
  const done = new Set<string>()
  const lend = (part: string) => {
    if (done.has(part)) return
    done.add(part)
    // Parts of raw names, below a raw prefix.
    const at = `${upper.prefix}/${part}` as RawPath
    const stats = statsOf(at)
    if (stats === null || stats.isSymbolicLink()) return
    lent.lend(stats, at, stats.isDirectory() ? 0o700 : 0o600)
  }
  lend('.')
  for (const name of names) {
    for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1)) {
      lend(name.slice(0, end))
    }
    lend(name)
  }
}
