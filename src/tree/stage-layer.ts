/**
 * A stage as a layer for overlays: everything that it would put in place lies in a directory that
 * mirrors the machine's tree, and what it would take away is a whiteout there. The view through such
 * layers is the tree as it would be after their promotion, in their order.
 *
 * Files are copied and not linked: the file of a stage becomes the real one, which others may write to
 * in place while a rehearsal still reads through the layer. Copies share blocks where the filesystem can.
 *
 * Directories that stay where they are carry over what the layers below show of them.
 */
import { chmodSync, chownSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, joinRaw, parentOfRaw, type RawPath, rawOfText } from '../gate/index.ts'
import {
  asFailure,
  type HeldDirectory,
  holdDirectory,
  LentPermissions,
  nodePath,
  removeTreeSync,
  runTool,
  statsOf,
  toolFailure,
} from '../machine/index.ts'
import { copyAcross } from './carry.ts'
import { readStage, stagedPath } from './stage.ts'

interface StageLayer {
  /** The stage whose layer it is. */
  readonly stage: string
  /** What its promotion would change; sorted by path. */
  readonly changes: readonly Change[]
  /** Made here. */
  readonly directory: string
  /** The layers that it lies on, lowest first; below them is the real tree. */
  readonly below: readonly string[]
  readonly isRoot: boolean
}

export async function makeStageLayer(layer: StageLayer): Promise<void> {
  const held: HeldDirectory[] = []
  const hold = (path: string): HeldDirectory => {
    const directory = holdDirectory(path)
    held.push(directory)
    return directory
  }
  try {
    mkdirSync(layer.directory, { recursive: true, mode: 0o700 })
    const kept = keptDirectories(layer.changes)
    for (const path of kept) mkdirSync(placeIn(layer, path), { recursive: true, mode: 0o700 })
    await putEntries(layer, hold)
    await putWhiteouts(layer)
    await copyAttributes(layer, kept, hold)
    await turnDirectories(layer)
  } catch (error) {
    throw asFailure(error, 'stage.tool', layer.directory)
  } finally {
    for (const directory of held) directory.close()
  }
}

function placeIn({ directory }: StageLayer, path: RawPath): string | Buffer {
  // Two raw paths joined; the second begins with a slash.
  return nodePath(`${rawOfText(directory)}${path}` as RawPath)
}

/** Directories that are in the tree before and after and on the way to what changes; outer first. */
function keptDirectories(changes: readonly Change[]): readonly RawPath[] {
  const staged = new Set(changes.filter(isStaged).map(({ path }) => path))
  const gone = new Set(changes.flatMap(({ path, after }) => (after === null ? [path] : [])))
  const kept = new Set<RawPath>()
  for (const { path, after } of changes) {
    if (after?.kind === 'directory' && !staged.has(path)) kept.add(path)
    for (let parent = parentOfRaw(path); parent !== '/'; parent = parentOfRaw(parent)) {
      if (staged.has(parent) || gone.has(parent)) break
      kept.add(parent)
    }
  }
  return [...kept].sort()
}

/** It lies in the stage; a directory that stays where it is does not. */
function isStaged({ before, after }: Change): boolean {
  if (after === null) return false
  return after.kind !== 'directory' || before?.kind !== 'directory'
}

/** All at once, with exact times, attributes and links, and then each to its place. */
async function putEntries(layer: StageLayer, hold: (path: string) => HeldDirectory): Promise<void> {
  const captured = readStage(layer.stage)
  if (captured.entries.length === 0) return
  const lent = new LentPermissions(layer.isRoot)
  const copies = join(layer.directory, COPIES)
  mkdirSync(copies, { mode: 0o700 })
  const [source, target] = [hold(layer.stage), hold(copies)]
  const states = new Map(layer.changes.map(({ path, after }) => [path, after]))
  try {
    for (const entry of captured.entries) {
      const at = stagedPath(captured, entry)
      const stats = statsOf(at)
      if (stats !== null && !stats.isSymbolicLink()) {
        lent.lend(stats, at, stats.isDirectory() ? 0o700 : 0o600)
      }
    }
    const names = captured.entries.map(({ place }) => place)
    await copyAcross({ upper: source, target, names, units: [] })
  } finally {
    lent.giveBack()
  }
  for (const { path, place, isUnit } of captured.entries) {
    if (!isUnit) continue
    renameSync(nodePath(joinRaw(rawOfText(copies), place)), placeIn(layer, path))
  }
  removeTreeSync(copies)
  // From the leaves up: a directory gets its mode after its entries have theirs.
  for (const { path } of [...captured.entries].reverse()) {
    const state = states.get(path)
    if (state == null || state.kind === 'symlink') continue
    chmodSync(placeIn(layer, path), state.mode)
  }
}

/** No name of the tree: paths of the machine begin with a slash, and this is below the layer. */
const COPIES = '.copies'

/** One device, and a name of it for each that is gone; below a directory that is gone none is needed. */
async function putWhiteouts(layer: StageLayer): Promise<void> {
  const afters = new Map(layer.changes.map(({ path, after }) => [path, after]))
  const gone = layer.changes.filter(({ path, after }) => {
    const parent = afters.get(parentOfRaw(path))
    return after === null && (parent === undefined || parent?.kind === 'directory')
  })
  if (gone.length === 0) return
  const device = join(layer.directory, COPIES)
  const { status, stderr } = await runTool('mknod', [device, 'c', '0', '0'])
  if (status !== 0) {
    throw toolFailure('mknod', layer.directory, stderr)
  }
  for (const { path } of gone) linkSync(device, placeIn(layer, path))
  rmSync(device)
}

/** Modes, owners, attributes and times, from the topmost layer below that has the directory. */
async function copyAttributes(
  layer: StageLayer,
  kept: readonly RawPath[],
  hold: (path: string) => HeldDirectory,
): Promise<void> {
  const sources = new Map<string, RawPath[]>()
  for (const path of kept) {
    const source = layer.below.findLast((each) => isDirectoryAt(each, path)) ?? '/'
    // A raw path without its slash is a raw name.
    sources.set(source, [...(sources.get(source) ?? []), path.slice(1) as RawPath])
  }
  const target = hold(layer.directory)
  for (const [source, names] of sources) {
    await copyAcross({ upper: hold(source), target, names, units: [], isLive: true })
  }
}

function isDirectoryAt(layer: string, path: RawPath): boolean {
  // Two raw paths joined, as in `placeIn`.
  return statsOf(`${rawOfText(layer)}${path}` as RawPath)?.isDirectory() === true
}

/** Directories that stay and get another mode, owner or attributes; outer ones last. */
async function turnDirectories(layer: StageLayer): Promise<void> {
  const turned = layer.changes.filter(
    (change) => change.after?.kind === 'directory' && !isStaged(change),
  )
  for (const { path, before, after } of turned.reverse()) {
    if (before === null || after === null) continue
    const place = placeIn(layer, path)
    if (after.owner !== null) chownSync(place, after.owner.uid, after.owner.gid)
    const wanted = new Map(after.attributes)
    for (const [name] of before.attributes) {
      if (!wanted.has(name)) await setAttribute(['-x', name], layer, path)
    }
    for (const [name, hex] of wanted) {
      await setAttribute(['-n', name, '-v', `0x${hex}`], layer, path)
    }
    chmodSync(place, after.mode)
  }
}

/** Names and paths are bytes, so they go in by xargs. */
async function setAttribute(
  words: readonly string[],
  layer: StageLayer,
  path: RawPath,
): Promise<void> {
  const args = [...words, '--', `${rawOfText(layer.directory)}${path}`]
  const stdin = Buffer.from(args.map((word) => `${word}\u0000`).join(''), 'latin1')
  const { status, stderr } = await runTool('xargs', ['--null', 'setfattr'], { stdin })
  if (status === 0 || words[0] === '-x') return
  throw toolFailure('setfattr', layer.directory, stderr)
}
