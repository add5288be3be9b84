/**
 * Hands work to its CHECK nodes. The ways to them are judged first, with evidence from what the work
 * staged; while one is closed nothing is reviewed.
 */
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import { enter, escalate } from './enter.ts'
import { asksForEvidence, takeFields } from './evidence.ts'
import { findClosed, hold, refusalOf, rerunSpan, takeException } from './leave.ts'
import { type EdgeObstacle, mayFire, type OpenEdge, tryEdge } from './passage.ts'
import { voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

/** Submits work: enters its CHECK nodes, or approves it if it has none. */
export function submitWork(turn: Turn, node: number): void {
  const { checks, firstChecks, isJudgedLate, outgoing } = turn.draft.nodeOf(node)
  if (checks.length === 0) return turn.later({ kind: 'approve', node })
  if (turn.draft.run.rules >= 4 && asksForEvidence(turn, node, true)) return
  turn.settle(node, isJudgedLate ? 'provisional' : 'submitted', 'review')
  const closed = fireReviews(
    turn,
    node,
    outgoing.filter(({ isReview }) => isReview),
  )
  if (closed.length > 0) return holdReview(turn, node, closed)
  for (const check of firstChecks) enter(turn, check, turn.node(node).round, 'edge')
  if (isJudgedLate) turn.later({ kind: 'leave', node, isPhaseEnded: false })
}

/** Fires the ways to CHECK nodes if all are open; returns the obstacles of the others. */
function fireReviews(
  turn: Turn,
  node: number,
  ways: readonly CompiledEdge[],
): readonly EdgeObstacle[] {
  const isTogether = turn.draft.run.rules >= 4
  const round = Math.max(turn.node(node).round, 1)
  const open: OpenEdge[] = []
  const closed: EdgeObstacle[] = []
  if (isTogether) takeFields(turn, ways)
  for (const edge of ways) {
    const way = tryEdge(turn, edge, 'review')
    if (!mayFire(way)) closed.push(way)
    else if (isTogether) open.push(way)
    else turn.recordFired(way, round)
    // Earlier versions stopped at the first closed way, when those before it had fired.
    if (!isTogether && closed.length > 0) return closed
  }
  if (closed.length === 0) for (const way of open) turn.recordFired(way, round)
  return closed
}

/** Does what the first obstacle asks for. The work stays as it is where that is to wait. */
function holdReview(turn: Turn, node: number, closed: readonly EdgeObstacle[]): void {
  const isOld = turn.draft.run.rules < 4
  for (const obstacle of closed)
    findClosed(turn, node, isOld ? { ...obstacle, action: 'block' } : obstacle)
  const first = refusalOf(turn, closed) ?? closed[0]
  if (isOld || first === undefined) {
    turn.settle(node, 'blocked', 'review')
    return turn.later({ kind: 'except', node })
  }
  const { edge, action } = first
  if (action === 'escalate') return escalate(turn, node, `the way ${edge.edgeId} is closed`)
  if (action === 'rerun' || action === 'reject') {
    voidDependents(turn, node)
    turn.settle(node, 'rejected', 'the way to its check is closed')
    const scope = action === 'rerun' ? edge.document.guard_scope : undefined
    return rerunSpan(turn, node, scope ?? 'attempt')
  }
  turn.settle(node, 'blocked', 'review')
  if (takeException(turn, node) === null) return hold(turn, node)
  turn.settle(node, 'rejected', 'rerouted')
}
