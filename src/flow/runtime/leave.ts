/**
 * Leaving a node that is done: its edges are tried, all guards first; what fires, fires, and only when
 * nothing does is the failure of a guard acted upon (F-1, F-2).
 *
 * A way back that has a guard goes before the ways on; one without goes only when no way on is open.
 */

import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { FindingAction } from '../state/fact.ts'
import { unverifiedClaims } from './claims.ts'
import { arrive, escalate } from './enter.ts'
import { takeFields } from './evidence.ts'
import { guardValues, isGuardOpen, isInvariantKept, judgeEdgePolicies } from './judge.ts'
import type { GuardScope } from './scene.ts'
import type { Turn } from './turn.ts'

/** The reason why an edge cannot fire, and the action that follows. */
export interface EdgeObstacle {
  readonly edge: CompiledEdge
  readonly action: FindingAction
  /** The guard is closed. For other obstacles the finding is recorded already. */
  readonly isGuard: boolean
}

/** Tries the edges of a node: those out of the phase once the phase has ended, the others before. */
export function leave(turn: Turn, node: number, isPhaseEnded: boolean): void {
  const compiled = turn.draft.nodeOf(node)
  const { waysWithin, waysOut, outgoing, calls } = compiled
  const tried = isPhaseEnded ? waysOut : waysWithin
  if (tried.length + calls.length === 0) return
  if (turn.draft.phases.get(compiled.phase).open === 0) turn.noteTriedAlone(node)
  if (compiled.readsEvidence) takeFields(turn, outgoing)
  if (calls.length > 0 && !areCallsBack(turn, node, isPhaseEnded)) return
  if (tried.length === 0) return
  const [only] = tried
  const obstacles =
    tried.length === 1 && only !== undefined && !compiled.hasDecision
      ? goOnly(turn, only)
      : goAll(turn, tried, compiled.hasDecision)
  if (obstacles === null || turn.node(node).hasFired) return
  if (!isPhaseEnded && waysOut.length > 0) return
  remedy(turn, node, obstacles)
}

/**
 * Makes the calls of a node that are due. Returns whether all have returned, so that its other ways
 * are free. A Gate that is closed keeps the node where it is; another closed edge is no call.
 */
function areCallsBack(turn: Turn, node: number, isPhaseEnded: boolean): boolean {
  const { calls, callsLate } = turn.draft.nodeOf(node)
  if (turn.node(node).awaited > 0 || (callsLate && !isPhaseEnded)) return false
  const open: CompiledEdge[] = []
  const obstacles: EdgeObstacle[] = []
  for (const edge of calls) {
    if (turn.draft.fired.get(edge.index) > 0) continue
    const isOpen = isGuardOpen(turn, edge)
    const action = isOpen ? obstacleAt(turn, edge) : null
    if (isOpen && action === null) open.push(edge)
    else if (edge.document.class === 'Gate')
      obstacles.push(action === null ? guardObstacle(edge) : { edge, action, isGuard: false })
  }
  if (obstacles.length > 0) remedy(turn, node, obstacles)
  else for (const edge of open) fire(turn, edge)
  return obstacles.length + open.length === 0
}

/** Fires every edge that can fire. Returns the obstacles, or null if an edge fired. */
function goAll(
  turn: Turn,
  edges: readonly CompiledEdge[],
  hasDecision: boolean,
): readonly EdgeObstacle[] | null {
  const { open, obstacles } = tryEdges(turn, edges, hasDecision)
  for (const edge of open) fire(turn, edge)
  return open.length > 0 ? null : obstacles
}

/** Does what `goAll` does for a single edge, without building lists: most nodes have one. */
function goOnly(turn: Turn, edge: CompiledEdge): readonly EdgeObstacle[] | null {
  if (!isGuardOpen(turn, edge)) return edge.isBack ? NONE : [guardObstacle(edge)]
  const action = edge.isBack && edge.guard === null ? null : obstacleAt(turn, edge)
  if (action !== null) return [{ edge, action, isGuard: false }]
  fire(turn, edge)
  return null
}

interface Trial {
  readonly open: readonly CompiledEdge[]
  readonly obstacles: readonly EdgeObstacle[]
}

const NONE: readonly never[] = Object.freeze([])

/** Returns the edges that can fire, and the obstacles of the others. */
function tryEdges(turn: Turn, edges: readonly CompiledEdge[], hasDecision: boolean): Trial {
  if (!hasDecision && edges.every(isWideOpen)) return { open: edges, obstacles: NONE }
  const passing: CompiledEdge[] = []
  const obstacles: EdgeObstacle[] = []
  for (const edge of edges) {
    if (isGuardOpen(turn, edge)) passing.push(edge)
    else if (!edge.isBack) obstacles.push(guardObstacle(edge))
  }
  const back = passing.find((edge) => edge.isBack && edge.guard !== null)
  const ways = passing.filter((edge) => !edge.isBack)
  const chosen =
    back !== undefined ? [back] : hasDecision ? waysOn(turn, edges, ways, obstacles) : ways
  const open: CompiledEdge[] = []
  for (const edge of chosen) {
    const action = obstacleAt(turn, edge)
    if (action === null) open.push(edge)
    else obstacles.push({ edge, action, isGuard: false })
  }
  if (open.length > 0 || chosen.length > 0) return { open, obstacles }
  const free = passing.find((edge) => edge.isBack)
  return { open: free === undefined ? [] : [free], obstacles }
}

/** Returns whether an edge leads forward without any condition. */
function isWideOpen({ isFree, isBack }: CompiledEdge): boolean {
  return isFree && !isBack
}

export function guardObstacle(edge: CompiledEdge): EdgeObstacle {
  return { edge, action: edge.document.on_guard_fail ?? 'block', isGuard: true }
}

/** Chooses among open edges: exactly one Decision edge, and all others. */
function waysOn(
  turn: Turn,
  edges: readonly CompiledEdge[],
  ways: readonly CompiledEdge[],
  obstacles: EdgeObstacle[],
): readonly CompiledEdge[] {
  const decisions = edges.filter(({ document }) => document.class === 'Decision')
  if (decisions.length === 0) return ways
  const open = ways.filter(({ document }) => document.class === 'Decision')
  const others = ways.filter(({ document }) => document.class !== 'Decision')
  if (open.length === 1) return ways
  const code = open.length === 0 ? 'flow.decision_none' : 'flow.decision_ambiguous'
  const [first] = open.length === 0 ? decisions : open
  if (first === undefined) return others
  turn.find({
    code,
    node_id: turn.idOf(first.source),
    edge_id: first.document.edge_id,
    action: 'block',
    values: { edges: (open.length === 0 ? decisions : open).map((edge) => edge.document.edge_id) },
  })
  if (open.length > 1) obstacles.push({ edge: first, action: 'block', isGuard: false })
  return others
}

/** Policies, invariants and claims at an edge whose guard is true; null when nothing is in the way. */
export function obstacleAt(turn: Turn, edge: CompiledEdge): FindingAction | null {
  if (edge.isFree) return null
  if (edge.document.trust_requirement === 'independent_verification_required') {
    if (!areClaimsVerified(turn, edge)) return 'block'
  }
  for (const invariant of edge.invariants) {
    const isKept = isInvariantKept(turn, invariant, edge.source, edge, { isTransition: true })
    if (!isKept && invariant.document.fail_action !== 'alert') return invariant.document.fail_action
  }
  const action = judgeEdgePolicies(turn, edge)
  return action === 'alert' || action === 'continue_with_workaround' ? null : action
}

function areClaimsVerified(turn: Turn, edge: CompiledEdge): boolean {
  const { target } = turn.draft.nodeOf(edge.source)
  const subject = target === -1 ? edge.source : target
  const lacking = unverifiedClaims(turn, subject)
  for (const { claim_id, trust_level, verification_status } of lacking) {
    turn.find({
      code: 'flow.claim_unverified',
      node_id: turn.idOf(edge.source),
      edge_id: edge.document.edge_id,
      claim_id,
      action: 'block',
      values: { trust_level, verification_status },
    })
  }
  return lacking.length === 0
}

export function fire(turn: Turn, edge: CompiledEdge): void {
  const { source, target, document } = edge
  const isReturn = edge.isBack || isWayBack(turn, edge)
  // Each version of the work is a round for the CHECK nodes that follow one another.
  const { round: own, walk } = turn.node(source)
  const round = isReturn ? turn.draft.run.round + 1 : Math.max(edge.isReview ? own : walk, 1)
  turn.recordFired(edge, round)
  if (!isReturn) return arrive(turn, edge, round)
  if (document.class === 'Rollback' && rollBack(turn, target, round)) return
  turn.later({ kind: 'enter', node: target, round, cause: 'back', edge: edge.index })
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

/** Undoes the acts one after another, since each was made on top of those before it. */
function rollBackAll(turn: Turn, from: number, round: number): boolean {
  const left = new Set(nodesAfter(turn, from))
  const isLeft = (call: number): boolean => {
    const { source, target } = turn.draft.edgeOf(call)
    return left.has(source) || turn.node(target).call === call
  }
  const acts = [...left].flatMap((node) =>
    turn
      .node(node)
      .work.acts.filter(({ calls }) => calls.every(isLeft))
      .map((act) => ({ ...act, node })),
  )
  acts.sort((one, other) => other.seq - one.seq)
  for (const node of new Set(acts.map((act) => act.node)))
    turn.settle(node, 'rolling_back', 'rollback')
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
export function nodesAfter(turn: Turn, from: number): readonly number[] {
  const seen = new Set([from])
  for (const node of seen) {
    const { outgoing, checks } = turn.draft.nodeOf(node)
    for (const check of checks) seen.add(check)
    for (const edge of outgoing) {
      // A way out of a failure leads on as well: what was done there is left behind too.
      const leadsOn = edge.isForward || edge.document.class === 'Exception'
      if (leadsOn && turn.draft.fired.get(edge.index) > 0) seen.add(edge.target)
    }
  }
  return [...seen]
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
      return rerunSpan(turn, node, 'attempt')
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

/** The node stays done, and its ways stay closed, until something changes. */
export function hold(turn: Turn, node: number): void {
  if (!turn.node(node).isHeld) turn.record({ kind: 'held', node_id: turn.idOf(node) })
}

/** Fires the first Exception edge whose guard allows it and returns it; null when there is none. */
export function takeException(turn: Turn, node: number): CompiledEdge | null {
  for (const edge of turn.draft.nodeOf(node).outgoing) {
    if (!isWayOut(edge, 'failure') || !isGuardOpen(turn, edge)) continue
    fire(turn, edge)
    return edge
  }
  return null
}

/** Returns whether an edge is the way out of a failure, or of a REJECT. */
export function isWayOut({ document }: CompiledEdge, cause: 'failure' | 'reject'): boolean {
  return document.class === 'Exception' && (document.on ?? 'failure') === cause
}

/** Runs again: the node, its phase or sub-phase from the first node, or the whole flow. */
export function rerunSpan(turn: Turn, node: number, scope: GuardScope): void {
  const round = turn.draft.run.round + 1
  for (const first of firstOf(turn, node, scope))
    turn.later({ kind: 'enter', node: first, round, cause: 'rerun' })
}

function firstOf(turn: Turn, node: number, scope: GuardScope): readonly number[] {
  const { phase, subphase, target } = turn.draft.nodeOf(node)
  const own = target === -1 ? node : target
  if (scope === 'global') return turn.flow.starts
  if (scope === 'attempt') return [own]
  const span = scope === 'subphase' ? turn.flow.subphases[subphase] : turn.flow.phases[phase]
  return [span?.nodes[0] ?? own]
}

/** Tries the closed edges of a held node again. */
export function retryWays(turn: Turn, node: number): void {
  const { phase } = turn.draft.nodeOf(node)
  turn.record({ kind: 'released', node_id: turn.idOf(node) })
  turn.later({ kind: 'leave', node, isPhaseEnded: false })
  if (!turn.draft.phases.get(phase).isActive)
    turn.later({ kind: 'leave', node, isPhaseEnded: true })
}

/** Tries the edges of held nodes again that evidence for a claim may open. */
export function retryClaims(turn: Turn, claimId: string): void {
  const node = turn.draft.run.claimNodes.get(claimId)
  if (node === undefined) return
  for (const one of [node, ...turn.draft.nodeOf(node).checks]) {
    if (turn.node(one).isHeld) retryWays(turn, one)
  }
}
