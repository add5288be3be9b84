/**
 * Where staged bytes and pre-images of a scope lie: on the scope's filesystem, because they are moved
 * and not copied. In the state directory when that is the same filesystem, else next to the laws
 * in `.writ/stage`, which no sandbox and no diff shows.
 */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { faultError, isUuid, showName } from '../../base/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { namesIfThere, readIfThere, writeWhole } from '../../machine/index.ts'
import { isLeftBehind, ownerMark } from '../../sandbox/index.ts'

const STAGE = 'stage'
const PREIMAGES = 'preimages'

/** Both places, the likelier one first. */
export function stagePlaces({ state, directory }: KnownHome): readonly string[] {
  return [`${state}/${STAGE}`, `${directory}/${STAGE}`]
}

/** The place on the filesystem of a real directory; made if it is missing. */
export function stagePlaceFor(home: KnownHome, root: string): string {
  const { dev } = statSync(root)
  // Where `.writ` is gone it is made again.
  const own = existsSync(home.directory) ? home.directory : dirname(home.directory)
  const parents = [home.state, own]
  const index = parents.findIndex((parent) => statSync(parent).dev === dev)
  const place = index < 0 ? undefined : stagePlaces(home)[index]
  if (place === undefined) {
    const message = `${showName(root)} lies on another filesystem than this home and its state`
    const hint = 'make a home there: `writ init` in that directory'
    throw faultError('promote.unsupported_fs', root, message, hint)
  }
  mkdirSync(place, { recursive: true, mode: 0o700 })
  return place
}

export function stageOf(place: string, sandboxId: string): string {
  return join(place, sandboxId)
}

const HELD = 'held'

/** Marks a stage as held: it stays until its promotion is asked for. See `isHeldStage`. */
export function markHeld(stage: string): void {
  writeFileSync(join(stage, HELD), '', { mode: 0o600 })
}

/** Reads the mark in the stage, because housekeeping may not know the run that holds it. */
export function isHeldStage(stage: string): boolean {
  return existsSync(join(stage, HELD))
}

/** The run that a stage is held for, by its stream. */
interface StageHolder {
  readonly stream: string
  readonly run: string
}

/** Notes in a held stage which run holds it, so that housekeeping can ask whether that run is open. */
export function noteHolder(stage: string, holder: StageHolder): void {
  if (isHeldStage(stage)) writeWhole(join(stage, HELD), JSON.stringify(holder), 0o600)
}

/** Null when the stage does not say: it was held without a run, or its process died before saying so. */
export function holderOf(stage: string): StageHolder | null {
  const text = readIfThere(join(stage, HELD)) ?? ''
  // What is there was written whole, by `noteHolder`.
  return text === '' ? null : (JSON.parse(text) as StageHolder)
}

/** Names which process promotes a stage, and which act: names are durable with the directory. */
const GOING = 'going-'

interface GoingStage {
  readonly stage: string
  readonly actionId: string
}

/** Says in a stage that this process promotes it as soon as the decision is on the record. */
export function markGoing(stage: string, actionId: string): void {
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  writeFileSync(join(stage, `${GOING}${ownerMark()}-${actionId}`), '', { mode: 0o600 })
}

/** Returns the stages whose process is gone, or has not promoted them since `beforeMs`. */
export function stagesLeftGoing(home: KnownHome, beforeMs: number): readonly GoingStage[] {
  return stagePlaces(home)
    .flatMap((place) =>
      namesIfThere(place)
        .filter(isUuid)
        .map((name) => join(place, name)),
    )
    .flatMap((stage) =>
      namesIfThere(stage)
        .filter((name) => name.startsWith(GOING))
        .filter((name) => isLeftBehind(name, GOING) || changedMs(join(stage, name)) < beforeMs)
        .map((name) => ({ stage, actionId: name.slice(name.indexOf('-', GOING.length) + 1) })),
    )
}

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
}

export function preimagesOf(place: string, id: string): string {
  return join(place, PREIMAGES, id)
}

/** Whose pre-images lie at a place. */
export function preimageNames(place: string): readonly string[] {
  const folder = join(place, PREIMAGES)
  return existsSync(folder) ? readdirSync(folder) : []
}

/** The stage of a rehearsal that another process may have made; null when it is gone. */
export function findStage(
  home: KnownHome,
  sandboxId: string,
): { place: string; stage: string } | null {
  for (const place of stagePlaces(home)) {
    const stage = stageOf(place, sandboxId)
    if (existsSync(stage)) return { place, stage }
  }
  return null
}

/** The pre-images of an action; null when they are gone. */
export function findPreimages(home: KnownHome, id: string): { place: string; keep: string } | null {
  for (const place of stagePlaces(home)) {
    const keep = preimagesOf(place, id)
    if (existsSync(keep)) return { place, keep }
  }
  return null
}
