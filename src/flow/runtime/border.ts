/**
 * The border of a phase. What a phase leads to begins once its time floor has passed and its log is written
 * (F-4, F-11): by an edge, as an alternative, or as the CHECK of work that lies in another phase.
 *
 * Such a CHECK is waited for by the phase that it is outside of, so the phase cannot end before it. The
 * phase comes to its border instead: nothing of it is under way but work that waits for CHECK nodes
 * elsewhere. Its floor is judged and its log is written there, and again when it ends.
 *
 * Ways out of a failure go at once, and a call is a part of the phase of its caller: what the CHECK nodes of a
 * caller lead on to waits for its calls as well.
 */
import { isCallFirst } from '../compile/calls.ts'
import type { CompiledSpan } from '../compile/compiled-flow.ts'
import { NO_EDGE } from '../state/state.ts'
import type { Turn } from './turn.ts'

/** Returns whether a node may begin, or go on, that another one leads to. */
export function mayCross({ draft }: Turn, from: number, to: number): boolean {
  const { phase } = draft.nodeOf(from)
  if (draft.run.rules < 4 || phase === draft.nodeOf(to).phase) return true
  return !draft.phases.get(phase).isActive
}

/** Returns whether a call failed that the other ways of a node wait for, and nothing let it be made again. */
export function hasFailedCall({ draft }: Turn, node: number): boolean {
  const { failedCalls } = draft.nodes.get(node)
  return failedCalls.some((edge) => edge === NO_EDGE || isCallFirst(draft.edgeOf(edge)))
}

/**
 * Returns whether every call that a node has to make has returned and none has failed, so that what the
 * node leads on to next to its edges may begin.
 */
export function areCallsOver(turn: Turn, node: number): boolean {
  const { draft } = turn
  const { calls } = draft.nodeOf(node)
  if (draft.run.rules < 4 || calls.length === 0) return true
  const { awaited } = draft.nodes.get(node)
  const isMade = calls.every(
    ({ document, index }) => document.class !== 'Gate' || draft.fired.get(index) > 0,
  )
  return awaited === 0 && !hasFailedCall(turn, node) && isMade
}

/**
 * Returns whether a CHECK may not lead on yet, and lets it rest then: it does so after the end of the phase of
 * the work that it judged, and after the work's calls.
 */
export function waitsForWork(turn: Turn, check: number, work: number): boolean {
  const isBack = areCallsOver(turn, work)
  if (isBack && mayCross(turn, work, check)) return false
  const { hasFired } = turn.node(work)
  const { status } = turn.node(check)
  // The work has left by its way out.
  if (hasFailedCall(turn, work) && hasFired)
    turn.settle(check, 'rejected', 'a call of its work failed')
  else if (status !== 'resting')
    turn.settle(check, 'resting', isBack ? 'the phase of its work' : 'the calls of its work')
  return true
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

/**
 * Returns whether a node of a phase has ways within it that wait for its calls: the phase has not ended
 * then. A call that itself leads out of the phase goes first, since it returns after the phase has ended.
 */
export function waitsForCalls(turn: Turn, { index: phase, nodes }: CompiledSpan): boolean {
  if (!hasWaysBehindCalls(turn, nodes)) return false
  return !turn.flow.callNodes.some(
    ({ node, region }) =>
      turn.node(node).call !== -1 && region.some((inside) => leadsOut(turn, inside, phase)),
  )
}

/** Returns whether one of these nodes has ways within its phase that wait for its calls. */
export function hasWaysBehindCalls({ draft }: Turn, nodes: readonly number[]): boolean {
  if (draft.run.rules < 4 || draft.run.calling + draft.run.stuck === 0) return false
  return nodes.some((node) => {
    const { status, awaited, failedCalls, isHeld } = draft.nodes.get(node)
    const isMade = status === 'done' || (draft.run.rules >= 5 && status === 'approved')
    if (!isMade || (awaited === 0 && !(isHeld && failedCalls.length > 0))) return false
    return draft.nodeOf(node).waysWithin.some(({ index }) => draft.fired.get(index) === 0)
  })
}

function leadsOut(turn: Turn, node: number, phase: number): boolean {
  const { phase: own, waysOut, callsLate } = turn.draft.nodeOf(node)
  return own === phase && turn.node(node).status === 'done' && (waysOut.length > 0 || callsLate)
}

function isJudgedElsewhere(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  const { target } = turn.draft.nodeOf(node)
  if (status !== 'resting') return status === 'submitted'
  // A called CHECK that rests waits for no phase.
  return target !== -1 && turn.node(target).status !== 'done'
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
