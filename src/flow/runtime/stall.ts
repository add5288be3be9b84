/**
 * A stalled run: nothing is under way, no person is asked, and no node is blocked, yet some node
 * waits for another one. Such a node is blocked, with a finding that says what it waits for, so that
 * every stop has a reason and a way out.
 *
 * A run that has nothing left to do is stalled too where it missed a goal: where a failure or a REJECT led
 * away from a goal and to no other one, where a node on the way to a goal was led to and not entered, or was
 * done and not left, and where no goal was reached at all. A goal is not missed if no way that is left leads
 * to it, since a decision or an alternative went another way.
 */
import type { CompiledEdge, CompiledNode } from '../compile/compiled-flow.ts'
import { isStuckStatus } from '../state/draft.ts'
import { backBy, leadsAway } from '../state/firings.ts'
import { isOpen } from '../state/state.ts'
import { phaseAwaited } from './border.ts'
import { block, isAwaited } from './enter.ts'
import { hasGoneOn, nodesAfter } from './leave.ts'
import { isGivenUp } from './map.ts'
import { missingApprovals } from './review.ts'
import type { Turn } from './turn.ts'

/** Blocks the nodes at which the run is stalled; false when it is not. */
export function findStalled(turn: Turn): boolean {
  const { open, stuck, acting, waiting, spansPending, ended, isRefused } = turn.draft.run
  const calling = turn.draft.run.rules >= 8 ? turn.draft.run.calling : 0
  if (open + stuck + calling === 0 || acting + waiting + spansPending > 0) return false
  if (ended !== null || isRefused || isExplained(turn)) return false
  const idle = turn.flow.nodes.filter(({ index }) => isWaitingForNothing(turn, index))
  // What is approved and in place goes on when the others do: it is not run again for them.
  const causes = idle.filter(({ index }) => phaseAwaited(turn, index) === -1)
  const stalled = causes.length > 0 ? causes : idle
  for (const { index } of stalled) block(turn, index, 'flow.stalled', stallValues(turn, index))
  return stalled.length > 0
}

/** Something has a finding already, and goes on when a person lets it. */
function isExplained(turn: Turn): boolean {
  const { nodes, phases } = turn.flow
  return (
    nodes.some(({ index }) => {
      const { status, isHeld } = turn.node(index)
      return status === 'blocked' || isHeld
    }) || phases.some(({ index }) => turn.draft.phases.get(index).isBlocked)
  )
}

/** A CHECK that has approved waits for the node that it judges; the stop is there. */
function isWaitingForNothing(turn: Turn, node: number): boolean {
  const { status, awaited } = turn.node(node)
  if (status === 'done' && awaited > 0) return turn.draft.run.rules >= 8
  if (!isOpen(status) && !isStuckStatus(status)) return false
  const { target } = turn.draft.nodeOf(node)
  if (status !== 'resting' || target === -1) return true
  const { status: judged } = turn.node(target)
  return !isOpen(judged) && !isStuckStatus(judged)
}

function stallValues(turn: Turn, node: number): Readonly<Record<string, unknown>> {
  const { status, work } = turn.node(node)
  const checks = missingApprovals(turn, node).map((check) => turn.idOf(check))
  const below = work.stage?.standsOn.map(({ node_id }) => node_id) ?? []
  const { target } = turn.draft.nodeOf(node)
  const isNamed = turn.draft.run.rules >= 9 && status === 'resting' && target !== -1
  return {
    status,
    ...(isNamed ? { waits_for: [turn.idOf(target)] } : {}),
    ...(checks.length === 0 ? {} : { waits_for_checks: checks }),
    ...(status === 'approved' && below.length > 0 ? { waits_for_stages: below } : {}),
  }
}

/** Blocks the nodes at which a run that has nothing left to do missed a goal; false when it missed none. */
export function findUnreached(turn: Turn): boolean {
  const { nodes } = turn.flow
  const rerouted = nodes.flatMap(({ index }) => {
    const values = strayValues(turn, index)
    return values === null ? [] : [{ node: workOf(turn, index), values }]
  })
  const isReached = nodes.some(({ index }) => isGoal(turn, index) && isDone(turn, index))
  const stalled = rerouted.length > 0 ? rerouted : missedAt(turn, isReached)
  for (const { node, values } of stalled) {
    // Its Exception edge was taken already, or has nothing to lead out of.
    const status = { status: turn.node(node).status }
    const found = { node_id: turn.idOf(node), values: { ...status, ...values } }
    turn.find({ code: 'flow.stalled', action: 'block', ...found })
    turn.settle(node, 'blocked', 'flow.stalled')
  }
  return stalled.length > 0
}

interface Stall {
  readonly node: number
  readonly values: Readonly<Record<string, unknown>>
}

/**
 * Where a run stopped on the way to a goal: at nodes that were led to and not entered, or done and not left;
 * else, if it reached no goal, at the goals that the ways left to it lead to.
 */
function missedAt(turn: Turn, isReached: boolean): readonly Stall[] {
  const { rules } = turn.draft.run
  const goals = turn.flow.nodes.filter(({ index }) => isGoal(turn, index))
  if (goals.length === 0 || (isReached && rules < 5)) return []
  const led = turn.flow.nodes.flatMap(({ index }): Stall[] => {
    const goals = goalsMissedAt(turn, index)
    if (goals.length === 0) return []
    return [{ node: index, values: { missed: goals, waits_for: waitsFor(turn, index) } }]
  })
  if (led.length > 0 || isReached || rules < 4) return led
  const left = rules < 5 ? goals : goalsLeft(turn, goals)
  if (left === goals && goals.some(({ nodeId }) => isPassedBy(turn, nodeId))) return []
  return left.map(({ index, nodeId }) => {
    return { node: index, values: { missed: [nodeId], waits_for: waitsFor(turn, index) } }
  })
}

/** The goals that the ways left to the run lead to; all of them if none was ever on a way. */
function goalsLeft(turn: Turn, goals: readonly CompiledNode[]): readonly CompiledNode[] {
  const left = new Set(waysFrom(turn, roots(turn), true))
  const found = goals.filter(({ index }) => left.has(index))
  return found.length === 0 ? goals : found
}

/** The goals that are missed because the run stopped at this node. */
function goalsMissedAt(turn: Turn, node: number): readonly string[] {
  if (turn.draft.run.rules < 5) return isLedTo(turn, node) ? goalsFrom(turn, node) : []
  const { status, isLeftBehind } = turn.node(node)
  if (isLeftBehind) return isLedStill(turn, node) ? goalsAhead(turn, node) : []
  // The mapped node went on, or out of the failure.
  if (turn.draft.run.rules >= 10 && status === 'abandoned' && isGivenUp(turn, node)) return []
  // An alternative that another one won over is missed only if no goal behind it was reached.
  if (status === 'abandoned') return isLedTo(turn, node) ? goalsFrom(turn, node) : []
  if (!isLedTo(turn, node) && !isUnleft(turn, node)) return []
  return goalsAhead(turn, node)
}

/**
 * Returns whether a node was left behind, and a way that was not leads there still: the run has to come there
 * again, although its join may not be filled (version 8).
 */
function isLedStill(turn: Turn, node: number): boolean {
  if (turn.draft.run.rules < 8) return false
  return turn.draft
    .nodeOf(node)
    .incoming.some(
      ({ index, arrival, source }) =>
        arrival !== null && turn.draft.fired.get(index) > 0 && isDone(turn, source),
    )
}

/** The goals that the ways left to a node lead to, and that are not done. */
function goalsAhead(turn: Turn, node: number): readonly string[] {
  const goals = waysFrom(turn, [node], true).filter((one) => isGoal(turn, one))
  return goals.flatMap((goal) => (isDone(turn, goal) ? [] : [turn.idOf(goal)]))
}

/** Returns whether a node has ended and no way of it, or of its CHECK nodes, has been taken. */
function isUnleft(turn: Turn, node: number): boolean {
  const { status } = turn.node(node)
  const { checks, target } = turn.draft.nodeOf(node)
  const isEnded =
    status === 'done' || (status === 'rejected' && (target === -1 || isDone(turn, target)))
  // The next CHECK of the same work says where the run went.
  const isTaken = ({ index, isReview, source }: CompiledEdge): boolean =>
    (!isReview || (source === node && target !== -1)) && turn.draft.fired.get(index) > 0
  return isEnded && ![node, ...checks].some((one) => turn.draft.nodeOf(one).outgoing.some(isTaken))
}

/** Where ways begin: at the first nodes, and at goals that are reached through their alternatives. */
function roots(turn: Turn): readonly number[] {
  const goals = turn.flow.nodes.filter(({ index, hasChoice }) => hasChoice && isGoal(turn, index))
  return [...turn.flow.starts, ...goals.map(({ index }) => index)]
}

/** Returns whether a decision, or a choice of alternatives, went another way than to a goal. */
function isPassedBy(turn: Turn, goal: string): boolean {
  return turn.flow.nodes.some(({ outgoing }) => {
    const ways = outgoing.filter(({ document }) => document.class === 'Decision')
    const isTaken = ({ index }: CompiledEdge): boolean => turn.draft.fired.get(index) > 0
    if (!ways.some(isTaken)) return false
    return ways.some((way) => !isTaken(way) && goalsFrom(turn, way.target).includes(goal))
  })
}

function isGoal(turn: Turn, node: number): boolean {
  return turn.draft.nodeOf(node).document.kind === 'GOAL'
}

function isDone(turn: Turn, node: number): boolean {
  const { status, isLeftBehind } = turn.node(node)
  return status === 'done' && !isLeftBehind
}

/** The work that a CHECK rejected runs again, not the CHECK. */
function workOf(turn: Turn, node: number): number {
  const { target } = turn.draft.nodeOf(node)
  return target !== -1 && turn.node(target).status === 'rejected' ? target : node
}

/** What a node missed that was left by its Exception edge; null when it missed nothing. */
function strayValues(turn: Turn, node: number): Readonly<Record<string, unknown>> | null {
  const { status, isLeftBehind } = turn.node(node)
  if (isLeftBehind || (status !== 'rejected' && status !== 'done')) return null
  const back = backNotGone(turn, node)
  if (back !== undefined) {
    const values = { left_by: back.edgeId, led_to: turn.idOf(backBy(turn.draft, back)) }
    return goalsFrom(turn, node).length === 0 ? null : values
  }
  // Others went on from it before it was judged, and it was given up.
  const isGivenUp = turn.draft.run.rules >= 6 && status === 'rejected'
  const isPassed = hasGoneOn(turn, node)
  if (isPassed && !isGivenUp) return null
  const way = turn.draft
    .nodeOf(node)
    .outgoing.find(
      ({ index, document }) => document.class === 'Exception' && turn.draft.fired.get(index) > 0,
    )
  if (way === undefined) return null
  const left = { left_by: way.edgeId, led_to: turn.idOf(way.target) }
  if (turn.node(way.target).status === 'idle') return left
  const after = nodesAfter(turn, way.target)
  if (after.some((one) => isGoal(turn, one) && isDone(turn, one))) return null
  // The way out leads to a goal, and the run stopped on it.
  if (turn.draft.run.rules >= 5 && after.some((one) => goalsMissedAt(turn, one).length > 0))
    return null
  const missed = isPassed ? goalsAhead(turn, node) : goalsFrom(turn, node)
  return missed.length === 0 ? null : { missed, ...left }
}

/** The way back that a node, which is not left behind, took to a node that a person skipped then (version 9). */
function backNotGone({ draft }: Turn, node: number): CompiledEdge | undefined {
  if (draft.run.rules < 9) return undefined
  return draft
    .nodeOf(node)
    .outgoing.find(({ index, isBack }) => isBack && draft.fired.get(index) > 0)
}

/**
 * Returns whether ways to a node have fired and it was not entered: not enough of them have, or it is an
 * alternative that another one won over and that leads on from there.
 */
function isLedTo(turn: Turn, node: number): boolean {
  const { status, synced, joined, reached } = turn.node(node)
  if (turn.draft.run.rules < 4) return status === 'idle' && synced + joined > 0
  if (status !== 'abandoned') return status === 'idle' && synced + joined + reached > 0
  return turn.draft
    .nodeOf(node)
    .incoming.some(
      ({ index, arrival, document }) =>
        arrival !== null && document.group_id === undefined && turn.draft.fired.get(index) > 0,
    )
}

/** The goals that a node leads on to; none when one of them is done. */
function goalsFrom(turn: Turn, node: number): readonly string[] {
  const goals = waysFrom(turn, [node], false).filter((one) => isGoal(turn, one))
  return goals.some((goal) => isDone(turn, goal)) ? [] : goals.map((goal) => turn.idOf(goal))
}

/** The nodes that these lead on to. `isDecided`: of a decision that was made, by the way that was taken alone. */
function waysFrom(turn: Turn, nodes: readonly number[], isDecided: boolean): readonly number[] {
  const seen = new Set(nodes)
  for (const one of seen) {
    const { outgoing, checks } = turn.draft.nodeOf(one)
    const isTaken = ({ index, document }: CompiledEdge): boolean =>
      document.class === 'Decision' && turn.draft.fired.get(index) > 0
    const isMade = isDecided && outgoing.some(isTaken)
    for (const check of checks) seen.add(check)
    for (const edge of outgoing) {
      const isPassed = isMade && edge.document.class === 'Decision' && !isTaken(edge)
      if (edge.isForward && !isPassed) seen.add(edge.target)
    }
  }
  return [...seen]
}

/**
 * Finds what a node waits for that a person lets go on and that the run has not come to; false if it has. Such a
 * node is not entered: its join is not filled, or it is a CHECK of work that is not there.
 */
export function findUnentered(turn: Turn, node: number): boolean {
  if (turn.draft.run.rules < 6 || hasCome(turn, node)) return false
  const { target } = turn.draft.nodeOf(node)
  const work = target === -1 || isInReview(turn, target) ? [] : [turn.idOf(target)]
  if (work.length === 0 && isAwaited(turn, node)) return false
  const values = {
    status: turn.node(node).status,
    waits_for: [...new Set([...work, ...waitsFor(turn, node)])],
  }
  turn.find({ code: 'flow.stalled', node_id: turn.idOf(node), action: 'block', values })
  return true
}

/** Returns whether a node was entered in this round, or was to be: by a way that waits for no join too. */
function hasCome(turn: Turn, node: number): boolean {
  const { entries, round, isLeftBehind, call } = turn.node(node)
  if (call !== -1 || (entries === 0 ? round > 0 : !isLeftBehind)) return true
  return turn.draft
    .nodeOf(node)
    .incoming.some((edge) => leadsAway(edge) && turn.draft.fired.get(edge.index) > 0)
}

function isInReview(turn: Turn, node: number): boolean {
  const { status, isLeftBehind } = turn.node(node)
  return !isLeftBehind && (status === 'submitted' || isStuckStatus(status))
}

/** The nodes whose ways to this one have not fired. */
function waitsFor(turn: Turn, node: number): readonly string[] {
  const lacking = turn.draft
    .nodeOf(node)
    .incoming.filter(
      ({ index, arrival, document }) =>
        arrival !== null &&
        (document.class !== 'Exception' || turn.draft.run.rules < 4) &&
        turn.draft.fired.get(index) === 0,
    )
  return lacking.map(({ source }) => turn.idOf(source))
}
