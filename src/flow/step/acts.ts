/** What the gate answered: a stage is promoted or refused, and an act is undone or stays. */

import { block } from '../runtime/enter.ts'
import { resumeWaysBack } from '../runtime/leave.ts'
import { followPlaced, followPromotion, leaveUndone } from '../runtime/stage.ts'
import type { Turn } from '../runtime/turn.ts'
import type { EventOf } from '../state/event.ts'
import { isBackKept, isKeptByReview } from '../state/firings.ts'
import { isOpen } from '../state/state.ts'
import { complete } from './complete.ts'
import { answers } from './stale.ts'

export function afterPromotion(turn: Turn, node: number, event: EventOf<'promoted'>): void {
  if (turn.draft.run.ended !== null || !answers(turn.answered, event)) return
  const isLeft = turn.draft.run.rules >= 6 && turn.node(node).isLeftBehind
  if (isLeft && event.action_id === null) turn.settle(node, 'rejected', 'left behind')
  else if (event.action_id === null) {
    const { why, about = [] } = event
    const values = why === undefined ? {} : { codes: why, ...(about.length > 0 && { about }) }
    block(turn, node, 'flow.promotion_refused', values)
    followPlaced(turn, node, false)
  } else {
    complete(turn, node)
    followPromotion(turn, node)
    followPlaced(turn, node, true)
  }
  if (isLeft || turn.draft.run.rules >= 9) resumeWaysBack(turn)
}

/** Enters the target of a Rollback edge once every pending rollback to it has succeeded. */
export function afterRollback(turn: Turn, node: number, event: EventOf<'rolled_back'>): void {
  const command = turn.answered
  const { rest = [] } = command?.type === 'roll_back' ? command : {}
  if (!event.is_restored) {
    // What was not undone yet stays as it is.
    for (const other of new Set(rest.map(({ node_id }) => turn.draft.nodeNamed(node_id))))
      if (other !== node) turn.settle(other, keptStatus(turn, other), 'rollback failed')
    const values = event.why === undefined ? {} : { why: event.why }
    return block(turn, node, 'flow.rollback_failed', values)
  }
  if (!rest.some(({ node_id }) => node_id === event.node_id)) leaveUndone(turn, node)
  if (command?.type !== 'roll_back') return
  const [next, ...later] = rest
  if (next !== undefined) {
    const { back_to, round } = command
    return turn.command({ type: 'roll_back', ...next, back_to, round, rest: later })
  }
  for (let index = 0; index < turn.flow.nodes.length; index++) {
    const { pending } = turn.node(index)
    if (pending?.type === 'roll_back' && pending.back_to === command.back_to) return
  }
  const target = turn.draft.nodeNamed(command.back_to)
  turn.later({ kind: 'enter', node: target, round: command.round, cause: 'back' })
  if (turn.draft.run.rules >= 6) resumeWaysBack(turn)
}

/** What a node is at whose acts were not undone: its last version may be a rejected one that was never promoted. */
function keptStatus(turn: Turn, node: number): 'done' | 'rejected' {
  const { stage, isLocked } = turn.node(node).work
  const isOpen = turn.draft.run.rules >= 8 && isLocked
  return isOpen && (stage === null || stage.actionId === null) ? 'rejected' : 'done'
}

/** Returns the nodes under review to which a way back waits for the verdict. */
export function reviewedBacks({ draft }: Turn): readonly number[] {
  const { rules, backs } = draft.run
  if (rules < 10) return []
  return backs.flatMap(({ node }) => (isKeptByReview(draft, node) ? [node] : []))
}

/** Goes the ways back to nodes whose reviews have ended: no attempt is left, so a person is asked. */
export function resumeReviewed(turn: Turn, nodes: readonly number[]): void {
  const { draft } = turn
  for (const { edge, node, round } of draft.run.backs) {
    const way = draft.edgeOf(edge)
    const isGone = draft.fired.get(edge) === 0 || draft.nodes.get(way.source).isLeftBehind
    const isKept = isBackKept(draft, way, node) || isOpen(draft.nodes.get(node).status)
    if (nodes.includes(node) && !isGone && !isKept)
      turn.first({ kind: 'enter', node, round, cause: 'back', edge })
  }
}
