/**
 * After a migration: ways that were closed are tried by the new guards, and what the new version waits
 * for no longer, or leads to besides, is entered.
 */
import type { CompiledEdge, CompiledFlow } from '../compile/compiled-flow.ts'
import { arrive } from './enter.ts'
import { fire, leave, retryWays } from './leave.ts'
import { mayFire, tryEdge } from './passage.ts'
import type { Turn } from './turn.ts'

export function afterMigration(turn: Turn, before: CompiledFlow): void {
  for (const { index, outgoing } of turn.flow.nodes) {
    const { status, isHeld, hasFired } = turn.node(index)
    if (isHeld) retryWays(turn, index)
    else if (status === 'done' && !hasFired) leave(turn, index, false)
    else if (status === 'done') for (const edge of outgoing) goOn(turn, edge, before)
  }
}

/** An edge that has fired leads on if its target waits for nothing else now; a new one is tried. */
function goOn(turn: Turn, edge: CompiledEdge, before: CompiledFlow): void {
  if (!edge.isForward || edge.isReview || edge.isCall) return
  const round = turn.draft.fired.get(edge.index)
  if (round > 0) return arrive(turn, edge, round)
  const { phase } = turn.draft.nodeOf(edge.source)
  const isLater = edge.isLeaving && turn.draft.phases.get(phase).isActive
  // Of a decision that was made, a new way is none.
  if (before.edgeById.has(edge.edgeId) || edge.document.class === 'Decision' || isLater) return
  const way = tryEdge(turn, edge, 'done')
  if (mayFire(way)) fire(turn, way)
}
