/**
 * The disk space that staged bytes of waiting questions take (`question_quota_mb`), and, in a room of
 * the same size, those that flows hold. Each stage holds a file with its size, so that the sum is
 * known without a walk over all stages. One actor that is no person uses half of the room at most, all
 * of them three quarters, so that a person can always be asked.
 *
 * INVARIANT (bounded together): a stage writes its size before the sum is taken. Of two processes
 *   that ask at the same time at least one sees the other, so both never pass the quota unseen.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultError, isUuid, showName } from '../../base/index.ts'
import type { Change } from '../../gate/index.ts'
import { principalText } from '../../ledger/index.ts'
import { namesIfThere, readIfThere } from '../../machine/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import { measureKeep } from '../../promotion/index.ts'
import type { GateContext } from '../surface/context.ts'
import { isHeldStage, markHeld, stagePlaces } from './stage-place.ts'

const ASKED = 'asked'
const ASKER = 'asker'
/** Waiting questions of one actor that is no person. */
const QUESTIONS_MAX = 50
const MEBIBYTE = 1024 ** 2
const BLOCK_BYTES = 4096
const ANSWER_FIRST =
  'nothing was changed. A person answers questions first (`writ inbox`, `writ approve ID`, `writ deny ID`), then run it again'

/**
 * Fails with `question.quota` if the staged bytes of all questions would pass the quota, or those of
 * an actor that is no person its share.
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
  { home }: Pick<GateContext, 'home'>,
  stage: string,
  changes: readonly Change[],
  { questionQuotaMb }: Pick<GateSettings, 'questionQuotaMb'>,
): void {
  const wanted = noteSize(stage, changes)
  markHeld(stage)
  const stages = stagePlaces(home).flatMap(stagesIn).filter(isHeldStage)
  const bytes = stages.reduce((sum, each) => sum + roomOf(each), 0)
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
