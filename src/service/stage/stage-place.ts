/**
 * Where staged bytes and pre-images of a scope lie: on the scope's filesystem, because they are moved
 * and not copied. In the state directory when that is the same filesystem, else next to the laws
 * in `.writ/stage`, which no sandbox and no diff shows.
 */
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { faultError, isUuid, showName } from '../../base/index.ts'
import type { Change } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { principalText } from '../../ledger/index.ts'
import { namesIfThere, readIfThere, syncPath } from '../../machine/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import { measureKeep } from '../../promotion/index.ts'
import { isLeftBehind, ownerMark } from '../../sandbox/index.ts'
import type { GateContext } from '../surface/context.ts'

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

/**
 * Marks a stage as held: it stays until its promotion is asked for. See `isHeldStage`. Notes which run
 * holds it, so that housekeeping can ask whether that run is open.
 */
function markHeld(stage: string, holder: StageHolder | null): void {
  const text = holder === null ? '' : JSON.stringify(holder)
  writeFileSync(join(stage, HELD), text, { mode: 0o600 })
}

/** Makes durable which run holds a stage. */
export function syncHolder(stage: string): Promise<void> {
  return syncPath(join(stage, HELD))
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

/** Null when the stage does not say: it was held without a run, or its process died while it was staged. */
export function holderOf(stage: string): StageHolder | null {
  const text = readIfThere(join(stage, HELD)) ?? ''
  try {
    // `markHeld` wrote it.
    return JSON.parse(text) as StageHolder
  } catch {
    return null
  }
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

/** Says that this process promotes a stage no more, though it lives: anybody may, from now on. */
export function leaveGoing(stage: string): void {
  const marks = namesIfThere(stage).filter((name) => name.startsWith(`${GOING}${ownerMark()}-`))
  // As if it had not promoted it for ever; see `stagesLeftGoing`.
  for (const name of marks) utimesSync(join(stage, name), 0, 0)
}

/** Returns the stages whose process is gone, left them, or has not promoted them since `beforeMs`. */
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

const ASKED = 'asked'
const ASKER = 'asker'
/** Waiting questions of one actor that is no person. */
const QUESTIONS_MAX = 50
const MEBIBYTE = 1024 ** 2
const BLOCK_BYTES = 4096
const ANSWER_FIRST =
  'nothing was changed. A person answers questions first (`writ inbox`, `writ approve ID`, `writ deny ID`), then run it again'

/**
 * The disk space that staged bytes of waiting questions take (`question_quota_mb`), and, in a room
 * of the same size, those that flows hold. Each stage holds a file with its size, so that the sum is
 * known without a walk over all stages. One actor that is no person uses half of the room at most,
 * all of them three quarters, so that a person can always be asked.
 *
 * INVARIANT (bounded together): a stage writes its size before the sum is taken. Of two processes
 * that ask at the same time at least one sees the other, so both never pass the quota unseen. Fails
 * with `question.quota` if the staged bytes of all questions would pass the quota, or those of an
 * actor that is no person its share.
 */
export function reserveRoom(
  { home, caller }: Pick<GateContext, 'home' | 'caller'>,
  stage: string,
  changes: readonly Change[],
  { questionQuotaMb }: Pick<GateSettings, 'questionQuotaMb'>,
): void {
  const wanted = noteSize(stage, changes)
  const asker = principalText(caller.principal)
  writeFileSync(join(stage, ASKER), asker, { mode: 0o600 })
  const stages = stagePlaces(home)
    .flatMap(stagesIn)
    .filter((each) => !isHeldStage(each))
  if (caller.principal.kind !== 'human') refuseShare(stages, asker, wanted, questionQuotaMb)
  const bytes = stages.reduce((sum, each) => sum + roomOf(each), 0)
  if (bytes <= questionQuotaMb * MEBIBYTE) return
  const held = `waiting questions hold ${megabytes(bytes - wanted)}, this one needs ${megabytes(wanted)} more`
  const message = `${held}, and the setting \`question_quota_mb\` allows ${questionQuotaMb} MB in all; nothing was changed. Answer questions first (\`writ inbox\`, \`writ approve ID\`, \`writ deny ID\`) or remove leftovers (\`writ gc\`), then run it again`
  throw faultError('question.quota', '', message)
}

/** Fails with `question.quota` if the staged bytes that flows hold would pass the quota. */
export function reserveHeld(
  { home, stream }: Pick<GateContext, 'home' | 'stream'>,
  stage: string,
  changes: readonly Change[],
  { questionQuotaMb }: Pick<GateSettings, 'questionQuotaMb'>,
  run: string | null,
): void {
  const wanted = noteSize(stage, changes)
  markHeld(stage, run === null ? null : { stream, run })
  const rooms = stagePlaces(home)
    .flatMap(stagesIn)
    .map((each) => ({ stage: each, room: roomOf(each) }))
  const sumOf = (some: typeof rooms): number => some.reduce((sum, { room }) => sum + room, 0)
  // Mostly all stages together fit, and none has to be asked whether it is held.
  if (sumOf(rooms) <= questionQuotaMb * MEBIBYTE) return
  const bytes = sumOf(rooms.filter((each) => isHeldStage(each.stage)))
  if (bytes <= questionQuotaMb * MEBIBYTE) return
  const held = `runs of flows hold ${megabytes(bytes - wanted)} that are not promoted yet, this attempt needs ${megabytes(wanted)} more`
  const message = `${held}, and the setting \`question_quota_mb\` allows ${questionQuotaMb} MB; nothing was changed. End runs first (\`writ flow status\`, \`writ flow resume RUN\`) or remove leftovers (\`writ gc\`), then run it again`
  throw faultError('question.quota', '', message)
}

/** Writes the size into the stage and returns it. */
function noteSize(stage: string, changes: readonly Change[]): number {
  const wanted = changes.reduce((sum, { after }) => sum + wholeBlocks(after?.size ?? 0), 0)
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  writeFileSync(join(stage, ASKED), String(wanted), { mode: 0o600 })
  return wanted
}

/** An actor that is no person leaves half of the room, all of them together a quarter, and asks no more than a person can answer. */
function refuseShare(
  stages: readonly string[],
  asker: string,
  wanted: number,
  questionQuotaMb: number,
): void {
  const askers = stages.map((each) => [each, readIfThere(join(each, ASKER)) ?? ''] as const)
  const own = askers.flatMap(([each, name]) => (name === asker ? [each] : []))
  const bytes = own.reduce((sum, each) => sum + roomOf(each), 0)
  const share = questionQuotaMb / 2
  if (own.length > QUESTIONS_MAX) {
    const message = `${showName(asker)} has ${own.length - 1} questions waiting, and one actor may have ${QUESTIONS_MAX}; ${ANSWER_FIRST}`
    throw faultError('question.quota', '', message)
  }
  if (bytes <= share * MEBIBYTE) {
    const all = askers.flatMap(([each, name]) => (/^(?:human:|$)/.test(name) ? [] : [each]))
    refuseTogether(all, wanted, questionQuotaMb)
    return
  }
  const held = `waiting questions of ${showName(asker)} hold ${megabytes(bytes - wanted)}, this one needs ${megabytes(wanted)} more`
  const message = `${held}, and one actor may use half of \`question_quota_mb\`, ${share} MB; ${ANSWER_FIRST}`
  throw faultError('question.quota', '', message)
}

function refuseTogether(stages: readonly string[], wanted: number, questionQuotaMb: number): void {
  const bytes = stages.reduce((sum, each) => sum + roomOf(each), 0)
  const share = (questionQuotaMb * 3) / 4
  if (bytes <= share * MEBIBYTE) return
  const held = `waiting questions of all actors hold ${megabytes(bytes - wanted)}, this one needs ${megabytes(wanted)} more`
  const message = `${held}, and together they may use three quarters of \`question_quota_mb\`, ${share} MB; ${ANSWER_FIRST}`
  throw faultError('question.quota', '', message)
}

/** Returns the stages at a place, by path; none if there is no such place. */
export function stagesIn(place: string): readonly string[] {
  return namesIfThere(place)
    .filter(isUuid)
    .map((name) => join(place, name))
}

/** Stages of earlier versions do not tell their size. */
function roomOf(stage: string): number {
  const told = Number(readIfThere(join(stage, ASKED)) ?? Number.NaN)
  return Number.isFinite(told) ? told : measureKeep(stage)
}

function wholeBlocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEBIBYTE)} MB`
}
