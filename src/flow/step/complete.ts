/** The end of a node: it is done and leads on, or has failed and leaves by its way out. */
import { mapAt } from '../compile/spread.ts'
import { endBranches, loseGroups, openGroups, winGroups } from '../runtime/alternatives.ts'
import { waitsForWork } from '../runtime/border.ts'
import { enterLate, failNode } from '../runtime/enter.ts'
import { asksForEvidence } from '../runtime/evidence.ts'
import { hasGoneOn, isWayOut, leave } from '../runtime/leave.ts'
import { isCounted } from '../runtime/map.ts'
import { followDone } from '../runtime/phase.ts'
import { reroute } from '../runtime/review.ts'
import type { Turn } from '../runtime/turn.ts'
import { isOpen } from '../state/state.ts'

/** Nothing is missing: the node is done, and the CHECK nodes that approved it are. */
export function complete(turn: Turn, node: number): void {
  const { awaits, calls, checks, document, isCandidate, hasChoice, target } =
    turn.draft.nodeOf(node)
  const { status, hasFired } = turn.node(node)
  // It was stopped when something that it followed ran again.
  if (status === 'rejected' && turn.node(node).isLeftBehind) return
  // It led on earlier in this step, and a way back may have entered its work again since.
  if (status === 'done' && turn.draft.run.rules >= 9) return
  if (target !== -1 && waitsForWork(turn, node, target)) return
  if (status === 'done' || asksForEvidence(turn, node)) return
  // The way out that was taken before leads nowhere else any more.
  const isSkipped = turn.draft.run.rules >= 3 && status === 'rejected'
  turn.settle(node, 'done', 'complete')
  if (turn.node(node).isLeftBehind) return enterLate(turn, node)
  if (isCandidate) winGroups(turn, node)
  if (turn.draft.run.rules > 1 && (awaits.isAnySync || isAnyGoal(turn, node)))
    endBranches(turn, node)
  const isCaller = turn.draft.run.rules >= 4 && calls.length > 0
  if (hasChoice && document.kind !== 'GOAL' && !isCaller) openGroups(turn, node)
  // A person is asked, since no alternative is open.
  const isAsked = turn.draft.run.rules >= 4 && isOpen(turn.node(node).status)
  // Items begin in their turn.
  const isToLeave = !hasFired || (isSkipped && !hasGoneOn(turn, node))
  if (isToLeave && !isAsked && mapAt(turn.flow, node) === null) leaveDone(turn, node)
  else if (isCaller) followDone(turn, node)
  if (isCaller) return
  for (const check of checks) {
    if (turn.node(check).status === 'resting') turn.later({ kind: 'done', node: check })
  }
}

/** Returns whether a goal says at an edge that is no Sync that one is enough (version 9). */
function isAnyGoal({ draft }: Turn, node: number): boolean {
  const { document, incoming } = draft.nodeOf(node)
  if (draft.run.rules < 9 || document.kind !== 'GOAL') return false
  return incoming.some(({ arrival, document: edge }) => arrival === 'other' && edge.join === 'OR')
}

function leaveDone(turn: Turn, node: number): void {
  leave(turn, node, false)
  // A person skips it after the end of its phase.
  if (turn.draft.run.rules >= 5 && !turn.draft.phases.get(turn.draft.nodeOf(node).phase).isActive)
    turn.later({ kind: 'leave', node, isPhaseEnded: true })
}

export function except(turn: Turn, node: number): void {
  const { status } = turn.node(node)
  if (reroute(turn, node, 'rerouted') || status !== 'failed') return
  if (loseGroups(turn, node)) return
  // A way out that is closed keeps the run here: it was found, and a person lets the node try again.
  const hasWayOut = turn.draft.nodeOf(node).outgoing.some((edge) => isWayOut(edge, 'failure'))
  if (turn.draft.run.rules >= 4 && hasWayOut && !isCounted(turn, node))
    return turn.settle(node, 'blocked', 'its way out is closed')
  failNode(turn, node)
}
