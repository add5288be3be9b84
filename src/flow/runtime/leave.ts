/**
 * Leaving a node that is done: its edges are tried, all guards first; what fires, fires, and only when
 * nothing does is the failure of a guard acted upon (F-1, F-2).
 *
 * A way back that has a guard goes before the ways on; one without goes only when no way on is open, and
 * never out of a goal that leads nowhere else: what was reached there would be undone each time.
 */

import type { CompiledEdge, CompiledNode } from '../compile/compiled-flow.ts'
import type { FindingAction } from '../state/fact.ts'
import { backBy, isBackKept, isUsedUp, leadsAway, nodesLed } from '../state/firings.ts'
import { isOpen } from '../state/state.ts'
import { closedWithin, hasFailedCall, isDecision, waysAt } from './border.ts'
import { waitingForClaims } from './claims.ts'
import { arrive, escalate } from './enter.ts'
import { takeFields } from './evidence.ts'
import { guardValues } from './judge.ts'
import {
  type EdgeObstacle,
  firstOpen,
  type GuardedEdge,
  guardObstacle,
  mayFire,
  type OpenEdge,
  tryControls,
  tryEdge,
  tryGuard,
} from './passage.ts'
import { followDone } from './phase.ts'
import { type GuardScope, subjectOf } from './scene.ts'
import { stopAt, stopFollowing } from './skip.ts'
import { dismissApprovals, promotesAfterCalls } from './stage.ts'
import type { Turn } from './turn.ts'

/** Tries the edges of a node: those out of the phase once the phase has ended, the others before. */
export function leave(turn: Turn, node: number, isPhaseEnded: boolean): void {
  if (isLeft(turn, node)) return
  const compiled = turn.draft.nodeOf(node)
  const { waysWithin, waysOut, outgoing, calls } = compiled
  if ((isPhaseEnded ? waysOut : waysWithin).length + calls.length === 0) return
  if (turn.draft.phases.get(compiled.phase).open === 0) turn.noteTriedAlone(node)
  if (compiled.readsEvidence) takeFields(turn, outgoing)
  if (calls.length > 0) {
    if (!areCallsBack(turn, node, isPhaseEnded)) return
    if (promotesAfterCalls(turn, node)) return
    if (turn.draft.run.rules >= 4) followDone(turn, node)
  }
  const ways = waysAt(turn, compiled, isPhaseEnded)
  if (compiled.document.kind === 'GOAL' && ways.length === 0) return
  const obstacles = go(turn, compiled, ways, isPhaseEnded)
  if (obstacles === null) return
  const refusal = refusalOf(turn, obstacles)
  if (refusal !== undefined) return carryOut(turn, node, refusal)
  if (turn.node(node).hasFired || (!isPhaseEnded && waysOut.length > 0)) return
  const within = go(turn, compiled, closedWithin(turn, compiled, isPhaseEnded), isPhaseEnded)
  if (within !== null) remedy(turn, node, [...within, ...obstacles])
}

/** Returns whether a node was left by a way back or out of a failure, is of an earlier round, or runs again. */
export function isLeft(turn: Turn, node: number): boolean {
  const { draft } = turn
  const { status, hasFired, isLeftBehind } = draft.nodes.get(node)
  if (draft.run.rules >= 5 && (turn.isWithheld(node) || status === 'running')) return true
  if (draft.run.rules < 5 || !(hasFired || isLeftBehind)) return false
  const isTaken = (edge: CompiledEdge): boolean =>
    leadsAway(edge) && draft.fired.get(edge.index) > 0
  return isLeftBehind || draft.nodeOf(node).outgoing.some(isTaken)
}

/** Tries edges of a node. Returns the obstacles, or null if an edge fired. */
function go(
  turn: Turn,
  { hasDecision }: CompiledNode,
  tried: readonly CompiledEdge[],
  isPhaseEnded: boolean,
): readonly EdgeObstacle[] | null {
  const [only] = tried
  if (only === undefined) return NONE
  return tried.length === 1 && !hasDecision
    ? goOnly(turn, only, isPhaseEnded)
    : goAll(turn, tried, hasDecision, isPhaseEnded)
}

/** Returns the edge whose control refuses the output, or asks for a rerun: that goes before every way. */
export function refusalOf(
  turn: Turn,
  obstacles: readonly EdgeObstacle[],
): EdgeObstacle | undefined {
  if (turn.draft.run.rules < 4) return undefined
  const controls = obstacles.filter(({ isGuard }) => !isGuard)
  const isAsking = (word: FindingAction) => controls.find(({ action }) => action === word)
  return isAsking('reject') ?? isAsking('rerun')
}

/**
 * Makes the calls of a node that are due. Returns whether all have returned, so that its other ways
 * are free. A Gate that is closed keeps the node where it is; another closed edge is no call.
 */
function areCallsBack(turn: Turn, node: number, isPhaseEnded: boolean): boolean {
  const { calls, callsLate } = turn.draft.nodeOf(node)
  const { awaited, hasFired } = turn.node(node)
  if (awaited > 0 || (callsLate && !isPhaseEnded)) return false
  if (turn.draft.run.rules >= 4 && hasFailedCall(turn, node)) {
    // Only a person has it made again; a node that left by its way out does not wait for that.
    if (!hasFired) hold(turn, node)
    return false
  }
  const open: OpenEdge[] = []
  const closed: EdgeObstacle[] = []
  for (const edge of calls) {
    if (turn.draft.fired.get(edge.index) > 0) continue
    const way = tryEdge(turn, edge, 'done')
    if (mayFire(way)) open.push(way)
    else closed.push(way)
  }
  const refusal = refusalOf(turn, closed)
  const obstacles = closed.filter(({ edge }) => edge.document.class === 'Gate')
  if (refusal !== undefined) carryOut(turn, node, refusal)
  else if (obstacles.length > 0) remedy(turn, node, obstacles)
  else for (const way of open) fire(turn, way)
  const isBarred = obstacles.length > 0 || refusal !== undefined
  const { rules } = turn.draft.run
  if (turn.node(node).hasFired && rules >= 4 && (rules < 6 || isBarred))
    dismissApprovals(turn, node)
  return !isBarred && open.length === 0
}

/**
 * Makes the calls of staged work before its phase ends, or promotes it if there are none. Returns whether the
 * phase has nothing to wait for: work that others go on from is promoted by its own CHECK, later.
 */
export function callFromBorder(turn: Turn, node: number): boolean {
  const { readsEvidence, outgoing } = turn.draft.nodeOf(node)
  if (readsEvidence) takeFields(turn, outgoing)
  if (!areCallsBack(turn, node, true)) return false
  promotesAfterCalls(turn, node)
  return turn.node(node).status === 'provisional'
}

/** Fires every edge that can fire. Returns the obstacles, or null if an edge fired. */
function goAll(
  turn: Turn,
  edges: readonly CompiledEdge[],
  hasDecision: boolean,
  isPhaseEnded: boolean,
): readonly EdgeObstacle[] | null {
  const { open, obstacles } = tryEdges(turn, edges, hasDecision, isPhaseEnded)
  if (open.length === 0 || refusalOf(turn, obstacles) !== undefined) return obstacles
  for (const way of open) take(turn, way, isPhaseEnded)
  return null
}

/** Takes a way: one on from a phase that has ended, after all the nodes of the phase were tried. */
function take(turn: Turn, way: OpenEdge, isPhaseEnded: boolean): void {
  if (turn.draft.run.rules < 5 || !isPhaseEnded || way.edge.isBack) return fire(turn, way)
  turn.later({ kind: 'take', way })
}

/** Does what `goAll` does for a single edge, without building lists: most nodes have one. */
function goOnly(
  turn: Turn,
  edge: CompiledEdge,
  isPhaseEnded: boolean,
): readonly EdgeObstacle[] | null {
  const guarded = tryGuard(turn, edge)
  if (guarded === null) return edge.isBack ? NONE : [guardObstacle(edge)]
  const way = tryControls(turn, guarded, occasionOf(edge))
  if (!mayFire(way)) return [way]
  take(turn, way, isPhaseEnded)
  return null
}

function occasionOf({ isBack, guard }: CompiledEdge): 'done' | 'back' {
  return isBack && guard === null ? 'back' : 'done'
}

interface Trial {
  readonly open: readonly OpenEdge[]
  readonly obstacles: readonly EdgeObstacle[]
}

const NONE: readonly never[] = Object.freeze([])

/** Returns the edges that can fire, and the obstacles of the others. */
function tryEdges(
  turn: Turn,
  edges: readonly CompiledEdge[],
  hasDecision: boolean,
  isPhaseEnded: boolean,
): Trial {
  const passing: GuardedEdge[] = []
  const obstacles: EdgeObstacle[] = []
  for (const edge of edges) {
    const guarded = tryGuard(turn, edge)
    if (guarded !== null) passing.push(guarded)
    else if (!edge.isBack) obstacles.push(guardObstacle(edge))
  }
  const back = passing.find(({ edge }) => edge.isBack && edge.guard !== null)
  const ways = passing.filter(({ edge }) => !edge.isBack)
  const chosen =
    back !== undefined
      ? [back]
      : hasDecision
        ? waysOn(turn, edges, ways, obstacles, isPhaseEnded)
        : ways
  const free = chosen.length > 0 ? undefined : passing.find(({ edge }) => edge.isBack)
  const open: OpenEdge[] = []
  for (const guarded of free === undefined ? chosen : [free]) {
    const way = tryControls(turn, guarded, occasionOf(guarded.edge))
    if (mayFire(way)) open.push(way)
    else obstacles.push(way)
  }
  return { open, obstacles }
}

/**
 * Chooses among open edges: exactly one Decision edge, and all others. Of a decision between ways within
 * the phase and out of it, one within goes at once if it is the only open one; else the end of the phase
 * decides.
 */
function waysOn(
  turn: Turn,
  edges: readonly CompiledEdge[],
  ways: readonly GuardedEdge[],
  obstacles: EdgeObstacle[],
  isPhaseEnded: boolean,
): readonly GuardedEdge[] {
  const decisions = edges.filter(isDecision)
  if (decisions.length === 0) return ways
  const open = ways.filter(({ edge }) => isDecision(edge))
  const others = ways.filter(({ edge }) => !isDecision(edge))
  const isToCome = !isPhaseEnded && decisions.some(({ isLeaving }) => isLeaving)
  if (open.length === 1 && !(isToCome && open[0]?.edge.isLeaving === true)) return ways
  if (isToCome) return others
  const code = open.length === 0 ? 'flow.decision_none' : 'flow.decision_ambiguous'
  const judged = open.length === 0 ? decisions : open.map(({ edge }) => edge)
  const [first] = judged
  if (first === undefined) return others
  // Another way goes on.
  const isPassed = others.length > 0 && (open.length === 0 || turn.draft.run.rules >= 10)
  turn.find({
    code,
    node_id: turn.idOf(first.source),
    edge_id: first.document.edge_id,
    action: turn.draft.run.rules >= 4 && isPassed ? 'alert' : 'block',
    values: { edges: judged.map((edge) => edge.document.edge_id) },
  })
  if (open.length > 1) obstacles.push({ edge: first, action: 'block', isGuard: false })
  return others
}

/** Takes an edge that was judged. */
export function fire(turn: Turn, way: OpenEdge): void {
  const { edge } = way
  const { source } = edge
  const isReturn = edge.isBack || isWayBack(turn, edge)
  // Each version of the work is a round for the CHECK nodes that follow one another.
  const { round: own, walk } = turn.node(source)
  const round = isReturn ? turn.draft.run.round + 1 : Math.max(edge.isReview ? own : walk, 1)
  turn.recordFired(way, round)
  if (!isReturn) return arrive(turn, edge, round)
  // A CHECK has nothing to judge before its work runs again.
  goBack(turn, edge, backBy(turn.draft, edge), round)
}

/** Runs a node again that a way back leads to, after what was promoted is undone if that is asked for. */
function goBack(turn: Turn, edge: CompiledEdge, node: number, round: number): void {
  const { index } = edge
  const isUsed = isUsedUp(turn.draft, node)
  if (turn.draft.run.backs.some((back) => back.edge === index))
    return isUsed ? undefined : stopFollowing(turn, node)
  if (edge.document.class === 'Rollback' && !isUsed && rollBack(turn, node, round)) return
  turn.first({ kind: 'enter', node, round, cause: 'back', edge: index })
}

/**
 * Goes the way back to a node about which a person was asked, since no attempt was left; false if there is
 * none. What has fired out of a node that is not left behind has not been gone yet.
 */
export function goBackAsked(turn: Turn, node: number): boolean {
  const { draft, flow } = turn
  if (draft.run.rules < 9) return false
  const asking = flow.edges.filter(
    (edge) =>
      edge.isBack &&
      draft.fired.get(edge.index) > 0 &&
      !turn.node(edge.source).isLeftBehind &&
      backBy(draft, edge) === node,
  )
  const edge = asking.find(({ document }) => document.class === 'Rollback') ?? asking[0]
  if (edge === undefined) return false
  const round = draft.run.round + 1
  turn.recordFired({ edge }, round)
  goBack(turn, edge, node, round)
  return true
}

/** Goes on with ways back that waited for a promotion or for another rollback. */
export function resumeWaysBack(turn: Turn): void {
  for (const { edge, node, round } of turn.draft.run.backs) {
    const way = turn.draft.edgeOf(edge)
    const isUsed = isUsedUp(turn.draft, node)
    if (isBackKept(turn.draft, way, node) || (isUsed && isOpen(turn.node(node).status))) continue
    // A person skipped the node, and let the source run again.
    if (isUsed && turn.draft.run.rules >= 10 && turn.draft.fired.get(edge) === 0) continue
    if (way.document.class === 'Rollback' && !isUsed && rollBack(turn, node, round)) continue
    turn.first({ kind: 'enter', node, round, cause: 'back', edge })
  }
}

/** Returns whether an Exception edge leads to a node by which the run came to its source. */
function isWayBack(turn: Turn, { document, source, target, isCall }: CompiledEdge): boolean {
  if (turn.draft.run.rules < 3 || document.class !== 'Exception' || isCall) return false
  return turn.node(target).status !== 'idle' && nodesAfter(turn, target).includes(source)
}

/** Returns whether an edge of a node has fired that is no way out of a failure. */
export function hasGoneOn(turn: Turn, node: number): boolean {
  return turn.draft
    .nodeOf(node)
    .outgoing.some(
      ({ index, isForward, isBack, isReview }) =>
        (isForward || isBack) && !isReview && turn.draft.fired.get(index) > 0,
    )
}

/** Undoes what was promoted at the target and wherever it led, the last first; false if nothing was. */
function rollBack(turn: Turn, from: number, round: number): boolean {
  if (turn.draft.run.rules >= 3) return rollBackAll(turn, from, round)
  const acts = nodesAfter(turn, from).flatMap((node) => {
    const { stage } = turn.node(node).work
    return stage === null || stage.actionId === null ? [] : [{ node, stage }]
  })
  acts.sort((one, other) => other.stage.promotedSeq - one.stage.promotedSeq)
  for (const { node, stage } of acts) {
    const [node_id, back_to] = [turn.idOf(node), turn.idOf(from)]
    turn.settle(node, 'rolling_back', 'rollback')
    turn.command({ type: 'roll_back', node_id, action_id: stage.actionId ?? '', back_to, round })
  }
  return acts.length > 0
}

/**
 * Undoes the acts from a fact on, one after another, since each was made on top of those before it; false
 * if there are none.
 */
function rollBackAll(turn: Turn, from: number, round: number, since = 0): boolean {
  const left = new Set(nodesAfter(turn, from))
  if (turn.draft.run.rules >= 5) stopFollowing(turn, from)
  const isLeft = (call: number): boolean => {
    const { source, target } = turn.draft.edgeOf(call)
    return left.has(source) || turn.node(target).call === call
  }
  const acts = [...left].flatMap((node) =>
    turn
      .node(node)
      .work.acts.filter(({ calls, seq }) => seq >= since && calls.every(isLeft))
      .map((act) => ({ ...act, node })),
  )
  acts.sort((one, other) => other.seq - one.seq)
  for (const node of new Set(acts.map((act) => act.node))) {
    // A person is asked about it: the question is withdrawn.
    if (turn.draft.run.rules >= 8) stopAt(turn, node)
    turn.settle(node, 'rolling_back', 'rollback')
  }
  const named = acts.map(({ node, actionId }) => ({
    node_id: turn.idOf(node),
    action_id: actionId,
  }))
  const [first, ...rest] = named
  if (first === undefined) return false
  turn.command({ type: 'roll_back', ...first, back_to: turn.idOf(from), round, rest })
  return true
}

/** The node and all that it has led to. */
export function nodesAfter({ draft }: Turn, from: number): readonly number[] {
  return nodesLed(draft, from)
}

/** Nothing could fire. The first failure, in the order of the flow, says what is done. */
function remedy(turn: Turn, node: number, obstacles: readonly EdgeObstacle[]): void {
  const [first] = obstacles
  if (first === undefined) return
  for (const obstacle of obstacles) findClosed(turn, node, obstacle)
  carryOut(turn, node, first)
}

/** Records that a guard is closed, with what it read; other obstacles have a finding already. */
export function findClosed(turn: Turn, node: number, obstacle: EdgeObstacle): void {
  const { edge, action, isGuard } = obstacle
  if (!isGuard) return
  const place = { node_id: turn.idOf(node), edge_id: edge.document.edge_id }
  const values = guardValues(turn, edge.document.edge_id)
  turn.find({ code: 'flow.guard_false', ...place, action, values })
}

export function carryOut(turn: Turn, node: number, { edge, action }: EdgeObstacle): void {
  switch (action) {
    case 'rerun':
      return rerunSpan(turn, node, edge.document.guard_scope ?? 'attempt')
    case 'reject':
      return refuseOutput(turn, node)
    case 'escalate':
      return escalate(turn, node, `the way ${edge.document.edge_id} is closed`)
    case 'reroute':
      if (takeException(turn, node) === null) hold(turn, node)
      return
    case 'block':
      hold(turn, node)
      takeException(turn, node)
      return
    case 'alert':
    case 'continue_with_workaround':
    case 'refuse':
      return
    default:
      return action satisfies never
  }
}

/** Undoes what was promoted of refused output, and of what was built on it; then the work runs again. */
function refuseOutput(turn: Turn, node: number): void {
  const work = subjectOf(turn, node)
  const { stage } = turn.node(work).work
  const isPromoted = stage !== null && stage.actionId !== null
  const round = turn.draft.run.round + 1
  // What earlier rounds promoted was not refused.
  if (turn.draft.run.rules >= 4 && isPromoted && rollBackAll(turn, work, round, stage.promotedSeq))
    return
  rerunSpan(turn, node, 'attempt')
}

/** The node stays done, and its ways stay closed, until something changes. */
export function hold(turn: Turn, node: number): void {
  if (!turn.node(node).isHeld) turn.record({ kind: 'held', node_id: turn.idOf(node) })
}

/**
 * Fires the first Exception edge that is open and returns it. Returns null when there is none; what keeps
 * each of them closed is found.
 */
export function takeException(turn: Turn, node: number): CompiledEdge | null {
  const ways = turn.draft.nodeOf(node).outgoing.filter((edge) => isWayOut(edge, 'failure'))
  const { way, closed } = firstOpen(turn, ways, 'aside')
  if (way !== null) fire(turn, way)
  else if (turn.draft.run.rules >= 4)
    for (const obstacle of closed) findClosed(turn, node, { ...obstacle, action: 'block' })
  return way === null ? null : way.edge
}

/** Returns whether an edge is the way out of a failure, or of a REJECT. */
export function isWayOut({ document }: CompiledEdge, cause: 'failure' | 'reject'): boolean {
  return document.class === 'Exception' && (document.on ?? 'failure') === cause
}

/** Runs again: the node, its phase or sub-phase from the first node, or the whole flow. */
export function rerunSpan(turn: Turn, node: number, scope: GuardScope): void {
  const round = turn.draft.run.round + 1
  const nodes = firstOf(turn, node, scope)
  for (const first of turn.draft.run.rules < 5 ? nodes : nodes.toReversed())
    turn.first({ kind: 'enter', node: first, round, cause: 'rerun' })
}

/** The nodes that a span is run again from. */
export function firstOf(turn: Turn, node: number, scope: GuardScope): readonly number[] {
  const { phase, subphase } = turn.draft.nodeOf(node)
  const own = subjectOf(turn, node)
  if (scope === 'global') return turn.flow.starts
  if (scope === 'attempt') return [own]
  const span = scope === 'subphase' ? turn.flow.subphases[subphase] : turn.flow.phases[phase]
  const first = span?.nodes[0] ?? own
  // A CHECK has nothing to judge before its work runs again.
  return [turn.draft.run.rules < 5 ? first : subjectOf(turn, first)]
}

/** Tries the closed edges of a held node again. */
export function retryWays(turn: Turn, node: number): void {
  const { phase } = turn.draft.nodeOf(node)
  turn.record({ kind: 'released', node_id: turn.idOf(node) })
  // The way to a CHECK was closed: the work is handed in once more.
  if (turn.node(node).status === 'blocked') return turn.later({ kind: 'submit', node })
  turn.later({ kind: 'leave', node, isPhaseEnded: false })
  if (!turn.draft.phases.get(phase).isActive)
    turn.later({ kind: 'leave', node, isPhaseEnded: true })
}

/** Tries the edges of held nodes again that evidence for a claim may open. */
export function retryClaims(turn: Turn, claimId: string): void {
  const node = turn.draft.run.claimNodes.get(claimId)
  if (node === undefined) return
  for (const one of waitingForClaims(turn, node)) {
    if (turn.node(one).isHeld) retryWays(turn, one)
  }
}
