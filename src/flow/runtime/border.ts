/**
 * The border of a phase. What a phase leads to begins once its time floor has passed and its log is written
 * (F-4, F-11): by an edge, as an alternative, or as the CHECK of work that lies in another phase.
 *
 * Such a CHECK is waited for by the phase that it is outside of, so the phase cannot end before it. The
 * phase comes to its border instead: nothing of it is under way but work that waits for CHECK nodes
 * elsewhere. Its floor is judged and its log is written there, and again when it ends.
 *
 * Work that waits for CHECK nodes that it calls is at the border too: these judge it before its phase ends.
 *
 * Ways out of a failure go at once, and a call is a part of the phase of its caller: what the CHECK nodes of a
 * caller lead on to waits for its calls as well.
 */
import { isCallFirst } from '../compile/calls.ts'
import type { CompiledEdge, CompiledNode, CompiledSpan } from '../compile/compiled-flow.ts'
import { NO_EDGE } from '../state/state.ts'
import { isToBeJudged } from './stage.ts'
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
 * Returns the nodes of a phase that are staged and wait for CHECK nodes that they call. The phase has not ended
 * then, unless one of these calls itself leads out of it. Earlier rules ended it first, and once more after.
 */
export function callersIn(turn: Turn, { index: phase, nodes }: CompiledSpan): readonly number[] {
  if (turn.draft.run.rules < 6 || turn.flow.callNodes.length === 0) return []
  const callers = nodes.filter((node) => isToBeJudged(turn, node) && !turn.node(node).hasFired)
  return callers.length > 0 && leadsOutByCall(turn, phase) ? [] : callers
}

/** Returns whether a caller makes its calls at the border, and has not tried to. */
export function callsAtBorder({ draft }: Turn, node: number): boolean {
  const { awaited, failedCalls, isHeld } = draft.nodes.get(node)
  return draft.nodeOf(node).callsLate && awaited === 0 && failedCalls.length === 0 && !isHeld
}

/**
 * Returns whether a node of a phase has ways within it that wait for its calls: the phase has not ended
 * then. A call that itself leads out of the phase goes first, since it returns after the phase has ended.
 */
export function waitsForCalls(turn: Turn, { index: phase, nodes }: CompiledSpan): boolean {
  return hasWaysBehindCalls(turn, nodes) && !leadsOutByCall(turn, phase)
}

/**
 * Returns how many nodes keep a phase from its end. While a call has come to a way out of the phase, CHECK nodes
 * that rest until the calls of their work have returned do not (version 8), nor do those of phases that wait for
 * each other's end (version 9): each would wait for the other.
 */
export function openIn(turn: Turn, phase: number): number {
  const { open, judging } = turn.draft.phases.get(phase)
  if (turn.draft.run.rules >= 9 && open > 0 && waitsInCircle(turn, phase)) return 0
  if (turn.draft.run.rules < 8 || open !== judging.length || !leadsOutByCall(turn, phase))
    return open
  return open - judging.filter((node) => isBehindCalls(turn, node)).length
}

/**
 * Returns the phase for whose end alone a CHECK rests that has approved, since its work is in place; -1 if it
 * waits for something else (version 9).
 */
export function phaseAwaited(turn: Turn, node: number): number {
  const { target } = turn.draft.nodeOf(node)
  if (turn.draft.run.rules < 9 || target === -1 || turn.node(node).status !== 'resting') return -1
  const isInPlace = turn.node(target).status === 'done' && !mayCross(turn, target, node)
  return isInPlace && areCallsOver(turn, target) ? turn.draft.nodeOf(target).phase : -1
}

/** Returns whether phases are kept from their end by nothing but CHECK nodes that wait for one another's end. */
function waitsInCircle(turn: Turn, first: number): boolean {
  const phases = new Set([first])
  for (const phase of phases) {
    const { open, blocked, judging, pending } = turn.draft.phases.get(phase)
    const isWaiting = open === judging.length && open > 0 && blocked === 0
    if (!isWaiting || (pending !== null && phase !== first)) return false
    for (const node of judging) {
      const awaited = phaseAwaited(turn, node)
      if (awaited === -1) return false
      phases.add(awaited)
    }
  }
  return true
}

/** Returns whether a CHECK rests until its work is promoted after the calls of the work, or these have returned. */
function isBehindCalls(turn: Turn, node: number): boolean {
  const { target } = turn.draft.nodeOf(node)
  if (target === -1 || turn.node(node).status !== 'resting') return false
  return turn.node(target).awaited > 0 || isToBeJudged(turn, target)
}

/** Returns whether a call is under way that has come to a way out of a phase. */
function leadsOutByCall(turn: Turn, phase: number): boolean {
  return turn.flow.callNodes.some(
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
  const { phase: own, waysOut, callsLate, checks } = turn.draft.nodeOf(node)
  if (own !== phase || turn.node(node).status !== 'done') return false
  // A CHECK of another phase that has approved waits for the end of this one.
  const isAwaited = (check: number): boolean =>
    turn.draft.nodeOf(check).phase !== phase && turn.node(check).status === 'resting'
  const isCrossed = turn.draft.run.rules >= 8 && checks.some(isAwaited)
  return waysOut.length > 0 || callsLate || isCrossed
}

function isJudgedElsewhere(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  const { target } = turn.draft.nodeOf(node)
  if (status !== 'resting') return status === 'submitted'
  // A called CHECK that rests waits for no phase.
  if (target === -1 || turn.node(target).status !== 'done') return target !== -1
  if (phaseAwaited(turn, node) !== -1) return true
  return turn.draft.run.rules >= 8 && isBehindCalls(turn, node)
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

/** The ways within a phase that were closed, when the phase has ended and the node was not left by it. */
export function closedWithin(
  turn: Turn,
  { waysWithin, waysOut }: CompiledNode,
  isPhaseEnded: boolean,
): readonly CompiledEdge[] {
  if (turn.draft.run.rules < 5 || !isPhaseEnded || waysOut.length === 0) return []
  return waysWithin.filter((edge) => edge.isForward && !isDecision(edge))
}

/** Returns the edges of a node that are tried now. */
export function waysAt(
  turn: Turn,
  node: CompiledNode,
  isPhaseEnded: boolean,
): readonly CompiledEdge[] {
  const all = waysInPhase(turn, node, isPhaseEnded)
  const isJudged = turn.draft.run.rules >= 6 && isOfReview(turn, node)
  const ways = isJudged ? all.filter((edge) => !goesOnRejectOnly(turn, node, edge)) : all
  return node.document.kind === 'GOAL' ? ways.filter((edge) => !endsGoal(turn, edge)) : ways
}

/**
 * The edges that are tried now. Of a node with ways within its phase and out of it, all Decision edges are
 * judged together, ways back within the phase are tried again before the node leaves it, and a way back
 * without a guard waits until no way on is open.
 */
function waysInPhase(
  turn: Turn,
  { waysWithin, waysOut, outgoing }: CompiledNode,
  isPhaseEnded: boolean,
): readonly CompiledEdge[] {
  const isSplit = waysWithin.length > 0 && waysOut.length > 0
  if (turn.draft.run.rules < 4 || !isSplit)
    return withoutFreeBack(turn, isPhaseEnded ? waysOut : waysWithin, outgoing)
  const ways = outgoing.filter((edge) => waysWithin.includes(edge) || waysOut.includes(edge))
  const taken = ways.filter(({ index }) => turn.draft.fired.get(index) > 0)
  const mayGoBack = isPhaseEnded || !waysOut.some(({ isForward }) => isForward)
  const now = ways.filter((edge) => {
    if (isDecision(edge)) return !taken.some(isDecision)
    const isNow = edge.isLeaving === isPhaseEnded
    if (!edge.isBack || (isNow && edge.guard !== null)) return isNow
    return taken.length === 0 && mayGoBack && (isNow || isPhaseEnded)
  })
  return turn.draft.run.rules < 6 ? now : withoutFreeBack(turn, now, outgoing)
}

/** Returns whether a node is a CHECK of other work, the end of the CHECK nodes of a map, or work with a CHECK. */
function isOfReview({ flow, draft }: Turn, { index, target, checks, document }: CompiledNode) {
  if (target !== -1 || draft.run.rules < 8) return target !== -1
  const isCalled = document.kind === 'CHECK' && document.call === true
  const isFollower = flow.maps.some(({ followers }) => followers.includes(index))
  return isCalled || checks.length > 0 || isFollower
}

/**
 * Returns whether a way back is taken on REJECT, and not when a CHECK has approved: out of an item of a map,
 * since it goes once for all items, and without a guard. Rules before version 8 took the latter if the work
 * itself had no way on that was open.
 */
function goesOnRejectOnly(
  { flow, draft }: Turn,
  { index, target }: CompiledNode,
  edge: CompiledEdge,
): boolean {
  if (!edge.isBack) return false
  const item = target === -1 ? undefined : flow.items.get(index)
  if (item !== undefined && item !== flow.items.get(edge.target)) return true
  if (draft.run.rules >= 8) return edge.guard === null
  const isOpen = ({ isForward, isReview, isCall, guard, index: way }: CompiledEdge): boolean =>
    isForward && !isReview && !isCall && (guard === null || draft.fired.get(way) > 0)
  return edge.guard === null && draft.nodeOf(target).outgoing.some(isOpen)
}

/** Returns whether a way back would take back what a goal at the end of the flow has reached. */
function endsGoal({ draft }: Turn, edge: CompiledEdge): boolean {
  if (draft.run.rules < 5 || !isFreeBack(edge)) return false
  return !draft.nodeOf(edge.source).outgoing.some(({ isForward }) => isForward)
}

/** Leaves ways back without a guard out if a way on has fired: to the next CHECK, or to an alternative. */
function withoutFreeBack(
  { draft }: Turn,
  ways: readonly CompiledEdge[],
  outgoing: readonly CompiledEdge[],
): readonly CompiledEdge[] {
  if (draft.run.rules < 5 || !ways.some(isFreeBack)) return ways
  const isGone = outgoing.some(
    ({ isForward, isCall, index }) => isForward && !isCall && draft.fired.get(index) > 0,
  )
  return isGone ? ways.filter((edge) => !isFreeBack(edge)) : ways
}

function isFreeBack({ isBack, guard }: CompiledEdge): boolean {
  return isBack && guard === null
}

export function isDecision({ document }: CompiledEdge): boolean {
  return document.class === 'Decision'
}
