/**
 * The border of a phase. What a phase leads to begins once its time floor has passed and its log is written
 * (F-4, F-11): by an edge, as an alternative, or as the CHECK of work that lies in another phase.
 *
 * Such a CHECK is waited for by the phase that it is outside of, so the phase cannot end before it. The
 * phase comes to its border instead: nothing of it is under way but work that waits for CHECK nodes
 * elsewhere. Its floor is judged and its log is written there, and again when it ends.
 *
 * Ways out of a failure go at once, and a call is a part of the phase of its caller.
 */
import type { Turn } from './turn.ts'

/** Returns whether a node may begin, or go on, that another one leads to. */
export function mayCross({ draft }: Turn, from: number, to: number): boolean {
  const { phase } = draft.nodeOf(from)
  if (draft.run.rules < 4 || phase === draft.nodeOf(to).phase) return true
  return !draft.phases.get(phase).isActive
}

/** Returns whether nothing of a phase is under way, and some CHECK outside of it is still to begin. */
export function isAtBorder(turn: Turn, phase: number): boolean {
  const { open, judging } = turn.draft.phases.get(phase)
  if (turn.draft.run.rules < 4 || open > judging.length) return false
  return (
    judging.every((node) => isJudgedElsewhere(turn, node)) &&
    judging.some((node) => leadsOutside(turn, node))
  )
}

function isJudgedElsewhere(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  const { target } = turn.draft.nodeOf(node)
  return status === 'submitted' || (status === 'resting' && turn.node(target).status !== 'done')
}

/** Returns whether a CHECK of another phase is to judge the work, or follows a CHECK that has approved. */
export function leadsOutside(turn: Turn, node: number): boolean {
  const { firstChecks, outgoing, phase } = turn.draft.nodeOf(node)
  const isOutside = (check: number): boolean => turn.draft.nodeOf(check).phase !== phase
  if (turn.node(node).status !== 'resting')
    return firstChecks.some((check) => turn.node(check).isDue && isOutside(check))
  return outgoing.some(
    ({ isReview, target, index }) =>
      isReview && isOutside(target) && turn.draft.fired.get(index) === 0,
  )
}
