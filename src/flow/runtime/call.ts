/**
 * Calls: a node with `call: true` is entered for each edge that leads there, one after another, and
 * returns to the edge's source, whose other ways wait for it.
 *
 * A call begins in a round of its own, so that what the call node leads to is walked each time. It
 * has ended when nothing of its region is under way, stopped or still to be tried. It has failed when
 * something there is not done, or an Exception edge was taken and no way back made up for it: the
 * caller then stays where it is, or leaves by an Exception edge of its own. If a way back leads to a CHECK
 * that has rejected what the caller made, the caller runs again and calls again.
 */
import { isCallFirst } from '../compile/calls.ts'
import type { CalledNode, CompiledEdge } from '../compile/compiled-flow.ts'
import { isOpen, isRejectedVersion, type NodeStatus } from '../state/state.ts'
import { fire, hold, leave, takeException } from './leave.ts'
import { firstOpen } from './passage.ts'
import { waysOutOf } from './review.ts'
import { dismissApprovals, judgingCalls, runAgain, voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

/** Ends calls that have come to their end, and begins the next ones in line. */
export function settleCalls(turn: Turn): void {
  for (const called of turn.flow.callNodes) {
    const { call, calls } = turn.node(called.node)
    if (call === -1 && calls.length === 0) continue
    if (!isAtRest(turn, called)) continue
    if (call !== -1) endCall(turn, called, turn.draft.edgeOf(call))
    const [next] = turn.node(called.node).calls
    if (next !== undefined && !turn.isBusy()) begin(turn, turn.draft.edgeOf(next))
  }
}

function begin(turn: Turn, { index: edge, edgeId: edge_id, target }: CompiledEdge): void {
  const round = turn.draft.run.round + 1
  turn.record({ kind: 'called', edge_id, round })
  turn.later({ kind: 'enter', node: target, round, cause: 'call', edge })
}

const STOPPED: ReadonlySet<NodeStatus> = new Set(['blocked', 'provisional', 'approved'])

/** Returns whether nothing of a region is under way, stopped, or has ways that are still to be tried. */
function isAtRest(turn: Turn, { node: called, region }: CalledNode): boolean {
  const { call, callRound } = turn.node(called)
  const isOfCall = (node: number): boolean => call !== -1 && turn.node(node).round >= callRound
  return region.every((node) => {
    const { status, isHeld, awaited, isLeftBehind } = turn.node(node)
    const { phase } = turn.draft.nodeOf(node)
    if (isOpen(status) || STOPPED.has(status) || isHeld || awaited > 0) return false
    const { pending, isBlocked, isActive } = turn.draft.phases.get(phase)
    // What an earlier call left behind has no way until it is entered again.
    if (status !== 'done' || (isLeftBehind && turn.draft.run.rules >= 8)) return true
    if (pending !== null || isBlocked) return false
    // What an earlier call has come to keeps no other one.
    if (turn.draft.run.rules >= 8 && !isOfCall(node)) return true
    return !isActive || !leavesAtEnd(turn, node)
  })
}

/** Returns whether a node has ways out of its phase that are tried at its end; by version 8, and were not yet. */
function leavesAtEnd({ draft }: Turn, node: number): boolean {
  const { waysOut, calls, callsLate } = draft.nodeOf(node)
  const ways = waysOut.length > 0 ? waysOut : callsLate ? calls : []
  const isTaken = ways.some(({ index }) => draft.fired.get(index) > 0)
  return ways.length > 0 && !(isTaken && draft.run.rules >= 8)
}

function endCall(turn: Turn, { node, region }: CalledNode, edge: CompiledEdge): void {
  const { edgeId: edge_id, source } = edge
  const { callRound } = turn.node(node)
  const undone = region.filter((one) => turn.node(one).round >= callRound && !isWell(turn, one))
  const outcome = undone.length === 0 ? 'done' : 'failed'
  turn.record({ kind: 'returned', edge_id, outcome })
  // Its phase may have waited for the call.
  if (turn.draft.run.rules >= 4) turn.touch(source)
  const { status, awaited } = turn.node(source)
  const isDone = status === 'done' || status === 'provisional' || status === 'approved'
  if (!isDone) return
  if (outcome === 'done') {
    if (awaited === 0 && isCallFirst(edge)) goOn(turn, source)
    return
  }
  if (isRejectedByCall(turn, source) && repairOf(turn, node) !== null)
    return runAgain(turn, source, 'review')
  const values = { called: turn.idOf(node), not_done: undone.map((one) => turn.idOf(one)) }
  const node_id = turn.idOf(source)
  turn.find({ code: 'flow.call_failed', node_id, edge_id, action: 'block', values })
  hold(turn, source)
  const ways = isRejectedByCall(turn, source) ? waysOutOf(turn, [source]) : []
  const { way } = firstOpen(turn, ways, 'review')
  if (way !== null) fire(turn, way)
  const isLeft = way !== null || takeException(turn, source) !== null
  if (isLeft) leaveCaller(turn, source)
}

/** Gives up the version of a caller that has left by its way out: it waits for no approval any longer. */
function leaveCaller(turn: Turn, caller: number): void {
  const { rules } = turn.draft.run
  if (rules >= 8 && turn.node(caller).status !== 'done') {
    voidDependents(turn, caller)
    turn.settle(caller, 'rejected', 'rerouted')
  }
  // What its CHECK nodes lead on to is not reached by this version.
  if (rules >= 4) dismissApprovals(turn, caller)
}

/**
 * Returns the way back to a call node by which its call asked for another version of the caller; null if
 * none was taken, and by earlier rules, which left the caller blocked then.
 */
export function repairOf({ draft }: Turn, called: number): CompiledEdge | null {
  if (draft.run.rules < 5) return null
  const { callRound } = draft.nodes.get(called)
  const { incoming } = draft.nodeOf(called)
  const isTaken = ({ isBack, index, source }: CompiledEdge): boolean =>
    isBack && draft.fired.get(index) > 0 && draft.nodes.get(source).round >= callRound
  return incoming.find(isTaken) ?? null
}

/** Returns whether a CHECK that the node called has rejected what the node made. */
export function isRejectedByCall(turn: Turn, node: number): boolean {
  const calls = judgingCalls(turn, node)
  const { work, failedCalls } = turn.node(node)
  if (turn.draft.run.rules < 4 || calls.length === 0) return false
  if (work.verdict === 'REJECT') return true
  // Another CHECK that the node called may have approved since.
  const hasFailed = calls.some(({ index }) => failedCalls.includes(index))
  return turn.draft.run.rules >= 6 && hasFailed && isRejectedVersion(work)
}

function isWell(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  if (status === 'rejected' || status === 'failed') return false
  return !turn.draft
    .nodeOf(node)
    .outgoing.some(
      ({ index, document }) => document.class === 'Exception' && turn.draft.fired.get(index) > 0,
    )
}

/** The caller's other ways: within its phase, out of it if it has ended, and those of its CHECK nodes. */
function goOn(turn: Turn, caller: number): void {
  leave(turn, caller, false)
  const { phase } = turn.draft.nodeOf(caller)
  if (!turn.draft.phases.get(phase).isActive)
    turn.later({ kind: 'leave', node: caller, isPhaseEnded: true })
}
