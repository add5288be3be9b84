/**
 * How much an actor did of late, by the facts: what grants bound by the hour, and what is kept to take
 * its acts back.
 */
import { parseIsoMomentMs } from '../base/index.ts'
import type { Amount } from './grants.ts'
import type { StandingFold } from './standing.ts'

const HOUR_MS = 60 * 60 * 1000

/** What the acts of an actor created, changed and deleted within the hour before a moment. */
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

/** The room that is kept to take back what an actor did and no human approved, in bytes. */
export function undoUse(standing: StandingFold, actor: string, nowMs: number): number {
  let bytes = 0
  for (const { actionId, undoUntil, rolledBackBy } of standing.promotedNewestFirst()) {
    if (nowMs >= (parseIsoMomentMs(undoUntil) ?? 0)) break
    if (rolledBackBy !== null || standing.actorOf(actionId) !== actor) continue
    bytes += standing.unapproved(actionId) ?? 0
  }
  return bytes
}
