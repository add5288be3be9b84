/**
 * How much an actor did recently, from facts: the amount that grants limit by the hour, and the bytes
 * that are kept to undo its acts.
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Amount } from '../comparison/grants.ts'
import type { StandingFold } from './standing.ts'

const HOUR_MS = 60 * 60 * 1000

/** Returns how much an actor's acts created, changed and deleted in the hour before a moment. */
export function hourUse(standing: StandingFold, actor: string, nowMs: number): Amount {
  let [files, bytes] = [0, 0]
  for (const { actionId, promotedAt, promotion } of standing.promotedNewestFirst()) {
    if (nowMs - (parseIsoMomentMs(promotedAt) ?? 0) >= HOUR_MS) break
    if (standing.actorOf(actionId) !== actor) continue
    files += promotion.paths
    bytes += promotion.bytes
  }
  return { files, bytes }
}

/** Returns the bytes that are kept to undo those acts of an actor that no human approved. */
export function undoUse(standing: StandingFold, actor: string, nowMs: number): number {
  let bytes = 0
  for (const { actionId, undoUntil, rolledBackBy } of standing.promotedNewestFirst()) {
    if (nowMs >= (parseIsoMomentMs(undoUntil) ?? 0)) break
    if (rolledBackBy !== null || standing.actorOf(actionId) !== actor) continue
    bytes += standing.unapproved(actionId) ?? 0
  }
  return bytes
}
