/**
 * Decides which open question a newer one replaces: one of the same actor about the same intent. A
 * question about requests is not replaced, because the actor may mean both, and neither is one that
 * already has an approval.
 */
import type { ActionMemory } from './action-memory.ts'
import type { Approvals } from './approvals.ts'

interface Asked {
  /** A yes would send something, or let something be sent. */
  readonly sends: boolean
  readonly approvals?: Approvals
}

export function isSupersededBy(
  asked: Asked,
  older: ActionMemory | undefined,
  newer: ActionMemory | undefined,
): boolean {
  if (asked.sends || (asked.approvals?.given.length ?? 0) > 0) return false
  if (older === undefined || newer === undefined) return false
  if (newer.actor === null || newer.intent === null) return false
  return (
    older.actor === newer.actor &&
    older.intent === newer.intent &&
    older.isActors === newer.isActors
  )
}
