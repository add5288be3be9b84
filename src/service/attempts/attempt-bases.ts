/**
 * The bases of an attempt (F-13): the stages under its sandbox. This file finds them on the ledger,
 * checks them, and lays them out as layers. A base that was promoted meanwhile is in the tree already
 * and needs no layer, but it is still recorded as a base of the attempt.
 *
 * INVARIANT (whole ground): every base of a base is promoted, or comes before it in the order. So a
 *   view never contains a stage without the stages which that stage was made on.
 */
import { join } from 'node:path'
import { type Digest, type FaultError, faultError, showName } from '../../base/index.ts'
import {
  type Change,
  type HeldBase,
  parentOfRaw,
  type RawPath,
  rawOfText,
  type StandingFold,
} from '../../gate/index.ts'
import { errnoOf, readPlainFile, removeTreeSync } from '../../machine/index.ts'
import { makeStageLayer, readStage } from '../../tree/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import { findStage } from '../stage/stage-place.ts'
import { type AttemptOrder, BASES_MAX } from '../surface/attempt-surface.ts'
import { isRoot } from '../surface/context.ts'
import { StageVoid } from '../workspace/stopped-promotion.ts'

type BaseSources = Pick<GateParts, 'context' | 'view' | 'workspace' | 'questions'>

/** The bases of an attempt, laid out as layers. */
export interface LaidBases {
  readonly bases: HeldBase[]
  /** Directories of layers, lowest first. */
  readonly layers: readonly string[]
  /** Digests of the files in them. */
  readonly known: ReadonlyMap<RawPath, Digest>
  readonly remove: () => void
}

const FILE_BYTES_MAX = 64 * 1024 * 1024
/** A base can be promoted while it is being read; then it is in the tree. */
const TRIES = 3

/** They are laid out in a directory that is made if it is missing, and removed with them. */
export async function layBases(
  sources: BaseSources,
  order: Pick<AttemptOrder, 'bases' | 'actionId'>,
  makeDirectory: () => string,
): Promise<LaidBases> {
  if (order.bases.length === 0)
    return { bases: [], layers: [], known: new Map(), remove: () => undefined }
  const directory = makeDirectory()
  const remove = (): void => removeTreeSync(directory)
  try {
    // Nothing is promoted, and so no stage goes away, while it is copied.
    return await sources.workspace.locked(async () => {
      const found = await findBases(sources, order)
      const layers: string[] = []
      for (const { stage, changes } of found) {
        if (stage === null) continue
        const layer = join(directory, `base${layers.length}`)
        const below = [...layers]
        await makeStageLayer({ stage, changes, directory: layer, below, isRoot: isRoot() })
        layers.push(layer)
      }
      return { bases: found.map(({ base }) => base), layers, known: digestsOf(found), remove }
    })
  } catch (error) {
    remove()
    throw error
  }
}

/** Of the topmost base that has the file. */
function digestsOf(found: readonly FoundBase[]): ReadonlyMap<RawPath, Digest> {
  const known = new Map<RawPath, Digest>()
  for (const { path, after } of found.flatMap(({ changes }) => changes)) {
    if (after?.digest == null) known.delete(path)
    else known.set(path, after.digest)
  }
  return known
}

interface FoundBase {
  readonly base: HeldBase
  /** Null when it is in the tree, or changes nothing. */
  readonly stage: string | null
  readonly changes: readonly Change[]
}

async function findBases(
  { context, view, questions }: BaseSources,
  { bases, actionId }: Pick<AttemptOrder, 'bases' | 'actionId'>,
): Promise<readonly FoundBase[]> {
  if (bases.length > BASES_MAX) {
    throw wrongOrder(actionId, `more than ${BASES_MAX} stages lie under one view`)
  }
  const standing = await view.standing()
  const found: FoundBase[] = []
  for (const id of bases) {
    const promoted = promotedManifest(standing, id)
    if (promoted !== null) {
      found.push({ base: { action_id: id, manifest: promoted }, stage: null, changes: [] })
      continue
    }
    const mark = standing.heldMark(id)
    const record = mark === null ? null : await questions.record(id)
    if (mark === null || record === null) throw new StageVoid('void', id)
    checkGround(standing, id, mark.bases, found)
    const { manifest } = record.result.diff
    const place = findStage(context.home, record.result.sandbox_id)
    if (place === null && record.changes.length > 0) throw new StageVoid('void', id)
    const stage = record.changes.length === 0 ? null : (place?.stage ?? null)
    found.push({ base: { action_id: id, manifest }, stage, changes: record.changes })
  }
  return found
}

/** Returns the manifest of a promoted act; null if it was not promoted or was rolled back. */
function promotedManifest(standing: StandingFold, id: string): string | null {
  const action = standing.promotion(id)
  return action !== null && action.rolledBackBy === null ? action.promotion.manifest : null
}

function checkGround(
  standing: StandingFold,
  id: string,
  ground: readonly HeldBase[],
  before: readonly FoundBase[],
): void {
  if (before.some(({ base }) => base.action_id.toLowerCase() === id.toLowerCase())) {
    throw wrongOrder(id, `the stage of ${showName(id)} is named twice`)
  }
  const { state, base } = standing.footing(ground)
  if (state === 'void') throw new StageVoid(state, id)
  for (const { action_id } of ground) {
    const isThere = before.some(({ base: each }) => each.action_id === action_id)
    if (isThere || promotedManifest(standing, action_id) !== null) continue
    throw wrongOrder(id, `it is based on ${showName(base)}, which does not come before it`)
  }
}

function wrongOrder(at: string, message: string): FaultError {
  return faultError('attempt.order', at, message)
}

/** A file of the tree as it is with these stages on it; null when there is none. */
export async function readThrough(
  sources: BaseSources,
  bases: readonly string[],
  root: string,
  path: string,
): Promise<Uint8Array | null> {
  for (let tries = TRIES; ; tries--) {
    const found = await findBases(sources, { bases, actionId: path })
    try {
      for (const { stage, changes } of [...found].reverse()) {
        const read = stage === null ? undefined : await readIn(stage, changes, rawOfText(path))
        if (read !== undefined) return read
      }
      return readPlainFile(root, path.slice(root.length), FILE_BYTES_MAX)
    } catch (error) {
      // A FaultError has `fault`; it is undefined on any other error.
      const { fault: failed } = error as { readonly fault?: { readonly code: string } }
      if (tries <= 1 || failed?.code !== 'stage.missing') throw error
    }
  }
}

/** Undefined when the stage says nothing about the path. */
async function readIn(
  stage: string,
  changes: readonly Change[],
  path: RawPath,
): Promise<Uint8Array | null | undefined> {
  const byPath = new Map(changes.map((change) => [change.path, change]))
  const own = byPath.get(path)
  if (own?.after?.kind === 'file') return readStaged(stage, path)
  if (own !== undefined) return null
  for (let parent = parentOfRaw(path); parent !== '/'; parent = parentOfRaw(parent)) {
    const change = byPath.get(parent)
    // The directory above was removed, replaced or created, so no older entry below it is left.
    if (change !== undefined && !staysDirectory(change)) return null
  }
  return undefined
}

function staysDirectory({ before, after }: Change): boolean {
  return before?.kind === 'directory' && after?.kind === 'directory'
}

async function readStaged(stage: string, path: RawPath): Promise<Uint8Array | null> {
  const { entries } = readStage(stage)
  const place = entries.find((entry) => entry.path === path)?.place
  if (place === undefined) return null
  try {
    return readPlainFile(stage, Buffer.from(place, 'latin1').toString('utf8'), FILE_BYTES_MAX)
  } catch (error) {
    // The work took the right to read it from its owner: it is there, and has no text to show.
    if (errnoOf(error) === 'EACCES') return null
    throw error
  }
}
