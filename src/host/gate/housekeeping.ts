/**
 * What nobody needs any more: pre-images past their time or beyond the quota, and stages whose question
 * is long over. Runs after promotions, at most once an hour; what is kept is never needed less than
 * the record says.
 */
import { lstatSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isUuid } from '../../base/index.ts'
import type { PromotedAction } from '../../gate/index.ts'
import type { KnownHome } from '../home/home.ts'
import {
  directoriesInUse,
  dropPreimages,
  droppable,
  measureKeep,
  removeTree,
  UNDO_PERIOD_MS,
  UNDO_QUOTA_BYTES,
} from '../promotion/index.ts'
import { isHeldStage, preimagesOf, stagePlaces } from './stage-place.ts'

const HOUR_MS = 60 * 60 * 1000
const STAMP = '.swept'
const RETENTION = { periodMs: UNDO_PERIOD_MS, quotaBytes: UNDO_QUOTA_BYTES }

export function keepHouse(
  home: KnownHome,
  promoted: readonly PromotedAction[],
  confirmationMs: number,
  nowMs: number,
): void {
  // What was interrupted and waits for a human needs its bytes, however long that takes.
  const inUse = directoriesInUse(home.state)
  for (const place of stagePlaces(home)) {
    if (!isDue(place, nowMs)) continue
    dropOldStages(place, nowMs - confirmationMs - HOUR_MS, inUse)
    const kept = promoted.flatMap(({ actionId, promotedAt }) => {
      const keep = preimagesOf(place, actionId)
      if (inUse.has(keep) || lstatSync(keep, { throwIfNoEntry: false }) === undefined) return []
      return [{ actionId, promotedAtMs: Date.parse(promotedAt), bytes: measureKeep(keep) }]
    })
    for (const { actionId } of droppable(kept, RETENTION, nowMs)) {
      dropPreimages(preimagesOf(place, actionId))
    }
  }
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

/** A run that holds its stages for longer is not coming back. */
const HELD_MS = 30 * 24 * HOUR_MS

/** A stage is named by its sandbox; its question ended long ago, or never came to be. */
function dropOldStages(place: string, beforeMs: number, inUse: ReadonlySet<string>): void {
  for (const name of readdirSync(place)) {
    const stage = join(place, name)
    if (!isUuid(name) || inUse.has(stage)) continue
    const keptMs = isHeldStage(stage) ? HELD_MS : 0
    if (statSync(stage).mtimeMs >= beforeMs - keptMs) continue
    removeTree(stage)
  }
}
