/** Which edges of a node are tried, while its phase goes on and when it has ended. */
import type { CompiledEdge, CompiledNode } from '../compile/compiled-flow.ts'
import type { Turn } from './turn.ts'

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
  const ways = waysInPhase(turn, node, isPhaseEnded)
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
  return ways.filter((edge) => {
    if (isDecision(edge)) return !taken.some(isDecision)
    const isNow = edge.isLeaving === isPhaseEnded
    if (!edge.isBack || (isNow && edge.guard !== null)) return isNow
    return taken.length === 0 && mayGoBack && (isNow || isPhaseEnded)
  })
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
