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
 */
import { chmodSync, mkdirSync, renameSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Change,
  isBelow,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import type { Layer } from '../sandbox/driver.ts'
import { type CopiedAttributes, copyAcross, type Load, moveAcross, removeAll } from './carry.ts'
import type { CopiesAhead } from './copies-ahead.ts'
import { makeDurable } from './durable.ts'
import { asFailure } from './failure.ts'
import { codeOf, type Foothold, holdDirectory, Loans, nodePath } from './footing.ts'
import type { Emptied } from './layer-walk.ts'
import { Pace } from './pace.ts'
import { type Expected, settle } from './settle.ts'
import { isSameDevice, lendForCopying, nameIn, type Share, share } from './share.ts'
import { type Captured, type StagedEntry, stagedPath, writeStage } from './stage.ts'

export interface CaptureOptions {
  /** Owners are carried, and every entry can be read. */
  readonly isRoot: boolean
  /** Directories that were emptied and made anew, as the scan found them. */
  readonly emptied?: readonly Emptied[]
  /** Copies that were begun for this stage. */
  readonly ahead?: CopiesAhead
}

/** `stage` is made here, for this process's user alone; it lies on the scope's filesystem. */
export async function captureChanges(
  changes: readonly Change[],
  layers: readonly Layer[],
  stage: string,
  { isRoot, emptied = [], ahead }: CaptureOptions,
): Promise<Captured> {
  const held: Foothold[] = []
  const loans = new Loans(isRoot)
  const hold = (path: string): Foothold => {
    const foothold = holdDirectory(path)
    held.push(foothold)
    return foothold
  }
  try {
    mkdirSync(stage, { recursive: true, mode: 0o700 })
    const shares = share(changes, layers)
    const expected: Expected[] = []
    for (const part of shares) {
      for (const each of await carry(part, stage, hold, loans, ahead)) expected.push(each)
    }
    loans.giveBack()
    const captured = {
      stage,
      entries: nameUnits(stage, listEntries(shares)),
      emptied: concerned(emptied, changes),
    }
    const moved = placed(captured, expected)
    const cleared = Promise.all(shares.map(({ name }) => removeEmptied(join(stage, name))))
    // Heard of below.
    cleared.catch(() => undefined)
    try {
      await settle(moved)
      await secure(captured, moved)
    } finally {
      // Nobody else begins while it is at work.
      await cleared
    }
    return captured
  } catch (error) {
    throw asFailure(error, 'stage.tool', stage)
  } finally {
    loans.giveBack()
    for (const foothold of held) foothold.close()
  }
}

/** Everything was taken out of it. Removing it can wait for the disk, so it goes beside us. */
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

async function carry(
  part: Share,
  stage: string,
  hold: (path: string) => Foothold,
  loans: Loans,
  ahead: CopiesAhead | undefined,
): Promise<readonly Expected[]> {
  const { layer, changes, units } = part
  const nameOf = (path: RawPath) => nameIn(layer, path)
  const names = changes.map(({ path }) => nameOf(path))
  const copied = (await ahead?.take(layer, names)) ?? null
  if (copied !== null) return expectedOf(changes, nameOf, copied.target, false, copied.attributes)
  const directory = join(stage, part.name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const load: Load = {
    upper: hold(layer.upper),
    target: hold(directory),
    names,
    units: [...units].map(nameOf),
  }
  const isMoved = isSameDevice(layer, stage) && (await moveAcross(load, new Pace()))
  if (isMoved) return expectedOf(changes, nameOf, load.target, true, null)
  lendForCopying(load, loans)
  return expectedOf(changes, nameOf, load.target, false, await copyAcross(load))
}

function expectedOf(
  changes: readonly Change[],
  nameOf: (path: RawPath) => RawPath,
  target: Foothold,
  isMoved: boolean,
  attributes: CopiedAttributes | null,
): readonly Expected[] {
  return changes.flatMap(({ path, after }) => {
    if (after === null) return []
    const name = nameOf(path)
    const has = attributes?.get(name)
    const at = joinRaw(target.prefix, name)
    return [{ path, at, state: after, isMoved, ...(has === undefined ? {} : { has }) }]
  })
}

function listEntries(shares: readonly Share[]): readonly StagedEntry[] {
  const entries = shares.flatMap(({ layer, name, changes, units }) =>
    changes.map(({ path }) => {
      const below = layer.root === '/' ? path : path.slice(rawOfText(layer.root).length)
      return { path, place: `${name}${below}` as RawPath, isUnit: units.has(path) }
    }),
  )
  return entries.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/**
 * Every unit gets a short name of its own right below the stage, so that whoever promotes it meets no
 * odd bytes on the way. What is in a unit keeps its names.
 */
function nameUnits(stage: string, entries: readonly StagedEntry[]): readonly StagedEntry[] {
  const ground = rawOfText(stage)
  const places = new Map<RawPath, RawPath>()
  let count = 0
  return entries.map(({ path, place, isUnit }) => {
    // A directory comes before what is in it, though not right before.
    const within = places.get(parentOfRaw(path))
    const named =
      isUnit || within === undefined ? rawOfText(`u${count++}`) : joinRaw(within, nameOfRaw(path))
    if (isUnit) moveUnit(joinRaw(ground, place), joinRaw(ground, named))
    places.set(path, named)
    return { path, isUnit, place: named }
  })
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

/** The same entries where they lie now. */
function placed(captured: Captured, expected: readonly Expected[]): readonly Expected[] {
  const places = new Map(captured.entries.map((entry) => [entry.path, entry]))
  return expected.map((each) => {
    const entry = places.get(each.path)
    return entry === undefined ? each : { ...each, at: stagedPath(captured, entry) }
  })
}

/** Bytes, the list of them, and the names of both. */
async function secure(captured: Captured, expected: readonly Expected[]): Promise<void> {
  const { stage } = captured
  const list = writeStage(captured)
  const directories = new Set<RawPath>()
  for (const { at } of expected) {
    directories.add(parentOfRaw(at))
  }
  const files = expected.flatMap(({ at, state }) => (state.kind === 'symlink' ? [] : [at]))
  // All at once, which is one turn of the disk: before they are durable nobody is told of the stage.
  const own = [list, rawOfText(stage), rawOfText(dirname(stage))]
  await makeDurable([...new Set([...files, ...directories, ...own])], stage)
}
