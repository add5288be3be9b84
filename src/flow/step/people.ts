/** What a person answered: a question, or that a stopped node may try again. */

import { isRejectedByCall } from '../runtime/call.ts'
import { run } from '../runtime/enter.ts'
import { asksForEvidence } from '../runtime/evidence.ts'
import { goBackAsked, retryWays } from '../runtime/leave.ts'
import { giveUpItem, reopenItem } from '../runtime/map.ts'
import { writeLog } from '../runtime/phase.ts'
import { giveUpReview } from '../runtime/review.ts'
import { enterAgain, runAgain, takeBack } from '../runtime/stage.ts'
import { findUnentered } from '../runtime/stall.ts'
import type { Turn } from '../runtime/turn.ts'
import type { EventOf } from '../state/event.ts'
import { unblockedBy } from '../state/state.ts'

export function afterHuman(turn: Turn, node: number, { answer }: EventOf<'human_answer'>): void {
  if (answer === 'abandon' && giveUpItem(turn, node, 'a person gave it up')) return
  if (answer === 'abandon') {
    turn.settle(node, 'failed', 'abandoned by a human')
    return giveUpReview(turn, node, 'failed')
  }
  const isInput = turn.answered?.type === 'ask_human' && turn.answered.why === 'input'
  if (answer === 'provided' && isInput) {
    turn.settle(node, 'running', 'input provided')
    if (turn.draft.nodeOf(node).isBare)
      return turn.command({ type: 'pass', node_id: turn.idOf(node) })
    return run(turn, node, 0)
  }
  takeBack(turn, node, answer)
  if (!goBackAsked(turn, node)) enterAgain(turn, node)
}

/** Tries the closed edges of a held node again after a human's answer, or reruns the node. */
export function afterUnblock(turn: Turn, node: number): void {
  const again = reopenItem(turn, node)
  if (again !== node) return runAgain(turn, again, 'unblocked')
  const { phase } = turn.draft.nodeOf(node)
  const span = turn.flow.phases[phase]
  // Only the log is missing: it is written again, and no work is run again.
  if (turn.draft.run.rules >= 3 && turn.draft.phases.get(phase).isLogFailed && span !== undefined)
    return writeLog(turn, span)
  if (!isLeavingHeld(turn, node) && findUnentered(turn, node)) return
  // A version that a called CHECK rejected is not put to it again.
  if (!turn.node(node).isHeld || isRejectedByCall(turn, node))
    return runAgain(turn, unblockedBy(turn.draft, node), 'unblocked')
  const isReview = turn.node(node).status === 'blocked' || turn.node(node).status === 'resting'
  if (!asksForEvidence(turn, node, isReview)) return retryWays(turn, node)
  // A person may have corrected an evidence file: tries the edges once the host has read it again.
  turn.record({ kind: 'released', node_id: turn.idOf(node) })
}

/** Returns whether a node is done and only its ways are closed: a CHECK that was passed with skipped work too. */
function isLeavingHeld(turn: Turn, node: number): boolean {
  const { status, isHeld } = turn.node(node)
  return turn.draft.run.rules >= 10 && status === 'done' && isHeld
}
