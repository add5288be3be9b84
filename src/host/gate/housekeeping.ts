/**
 * What nobody needs any more: pre-images past their time or beyond the quota, and stages whose question
 * is long over. Runs after promotions, at most once an hour; what is kept is never needed less than
 * the record says.
 *
 * INVARIANT (an open run keeps its stages): what is staged for a run of a flow stays as long as that
 *   run can go on, however long that is.
 */
import { lstatSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isUuid } from '../../base/index.ts'
import type { PromotedAction } from '../../gate/index.ts'
import type { RetentionSettings } from '../../policy/index.ts'
import {
  directoriesInUse,
  dropPreimages,
  droppable,
  type Kept,
  measureKeep,
  type Retention,
  removeTree,
} from '../promotion/index.ts'
import type { GateContext } from './context.ts'
import { OpenRuns } from './open-runs.ts'
import { holderOf, isHeldStage, preimageNames, preimagesOf, stagePlaces } from './stage-place.ts'

const HOUR_MS = 60 * 60 * 1000
const STAMP = '.swept'

export async function keepHouse(
  { home, ledger }: Pick<GateContext, 'home' | 'ledger'>,
  actOf: ActOf,
  confirmationMs: number,
  retention: Retention,
  nowMs: number,
): Promise<void> {
  // What was interrupted and waits for a human needs its bytes, however long that takes.
  const inUse = directoriesInUse(home.state)
  for (const place of stagePlaces(home)) {
    if (!isDue(place, nowMs)) continue
    await dropOldStages(ledger, place, nowMs - confirmationMs - HOUR_MS, inUse)
    const kept = keptPreimages(place, actOf).filter(
      ({ actionId }) => !inUse.has(preimagesOf(place, actionId)),
    )
    for (const { actionId } of droppable(kept, retention, nowMs)) {
      dropPreimages(preimagesOf(place, actionId))
    }
  }
}

/** How long an act can be taken back, and the room for it, as the laws say. */
export function undoRetention({ undoDays, undoQuotaMb }: RetentionSettings): Retention {
  return { periodMs: undoDays * 24 * HOUR_MS, quotaBytes: undoQuotaMb * 1024 ** 2 }
}

/** The act that pre-images are of, by the name of their directory; null when nobody knows. */
export type ActOf = (name: string) => KeptAct | null

export interface KeptAct extends PromotedAction {
  /** An actor's, which no human approved. */
  readonly isUnapproved: boolean
}

/** What is kept of the acts that were promoted, and the room that it takes. */
export function keptPreimages(place: string, actOf: ActOf): readonly Kept[] {
  return preimageNames(place).flatMap((actionId) => {
    const act = actOf(actionId)
    if (act === null) return []
    const bytes = measureKeep(preimagesOf(place, actionId))
    const promotedAtMs = Date.parse(act.promotedAt)
    const { isUnapproved } = act
    return [{ actionId, promotedAtMs, undoUntilMs: Date.parse(act.undoUntil), bytes, isUnapproved }]
  })
}

function isDue(place: string, nowMs: number): boolean {
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return false
  const stamp = join(place, STAMP)
  const swept = statSync(stamp, { throwIfNoEntry: false })
  if (swept !== undefined && nowMs - swept.mtimeMs < HOUR_MS) return false
  writeFileSync(stamp, '', { mode: 0o600 })
  utimesSync(stamp, nowMs / 1000, nowMs / 1000)
  return true
}

/** What is held for a run that has ended, or for none that is known, is not asked for after so long. */
const HELD_MS = 30 * 24 * HOUR_MS

/** A stage is named by its sandbox; its question ended long ago, or never came to be. */
async function dropOldStages(
  ledger: GateContext['ledger'],
  place: string,
  beforeMs: number,
  inUse: ReadonlySet<string>,
): Promise<void> {
  for (const name of readdirSync(place)) {
    const stage = join(place, name)
    if (!isUuid(name) || inUse.has(stage)) continue
    const keptMs = isHeldStage(stage) ? HELD_MS : 0
    if (statSync(stage).mtimeMs >= beforeMs - keptMs) continue
    const holder = holderOf(stage)
    // The run may be of another stream than whoever tidies up.
    const isAwaited =
      holder !== null && (await new OpenRuns({ ledger, stream: holder.stream }).has(holder.run))
    if (!isAwaited) removeTree(stage)
  }
}
