/**
 * The disk space that staged bytes of waiting questions take (`question_quota_mb`). Each stage of a
 * question holds a file with its size, so that the sum is known without a walk over all stages.
 *
 * INVARIANT (bounded together): a stage writes its size before the sum is taken. Of two processes
 *   that ask at the same time at least one sees the other, so both never pass the quota unseen.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fault, isUuid } from '../../base/index.ts'
import type { Change } from '../../gate/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import { namesIfThere, readIfThere } from '../home/file.ts'
import type { KnownHome } from '../home/known-home.ts'
import { measureKeep, PromotionFailure } from '../promotion/index.ts'
import { isHeldStage, stagePlaces } from './stage-place.ts'

const ASKED = 'asked'
const MEBIBYTE = 1024 ** 2
const BLOCK_BYTES = 4096

/** Fails with `question.quota` if the staged bytes of all questions would pass the quota. */
export function reserveRoom(
  home: KnownHome,
  stage: string,
  changes: readonly Change[],
  { questionQuotaMb }: Pick<GateSettings, 'questionQuotaMb'>,
): void {
  const wanted = changes.reduce((sum, { after }) => sum + wholeBlocks(after?.size ?? 0), 0)
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  writeFileSync(join(stage, ASKED), String(wanted), { mode: 0o600 })
  const bytes = stagePlaces(home)
    .flatMap(stagesIn)
    .filter((each) => !isHeldStage(each))
    .reduce((sum, each) => sum + roomOf(each), 0)
  if (bytes <= questionQuotaMb * MEBIBYTE) return
  const held = `waiting questions hold ${megabytes(bytes - wanted)}, this one needs ${megabytes(wanted)} more`
  const message = `${held}, and the setting \`question_quota_mb\` allows ${questionQuotaMb} MB in all; nothing was changed. Answer questions first (\`writ inbox\`, \`writ approve ID\`, \`writ deny ID\`) or remove leftovers (\`writ gc\`), then run it again`
  throw new PromotionFailure(fault('question.quota', '', null, { message }))
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
