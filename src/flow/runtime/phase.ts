/**
 * The end of phases and sub-phases. A phase ends when nothing of it is open: its time floor and its
 * invariants are judged, the orchestration log is written, and only then do its leaving edges lead on
 * (F-4, F-11). A sub-phase leaves a manifest (F-10).
 */
import { isCallFirst } from '../compile/calls.ts'
import type { CompiledEdge, CompiledSpan } from '../compile/compiled-flow.ts'
import type { EventOf } from '../state/event.ts'
import type { FindingAction } from '../state/fact.ts'
import { openLate } from './alternatives.ts'
import {
  areCallsOver,
  callersIn,
  callsAtBorder,
  hasWaysBehindCalls,
  isAtBorder,
  leadsOutside,
  openIn,
  waitsForCalls,
} from './border.ts'
import { isInvariantKept } from './judge.ts'
import { callFromBorder, carryOut, findClosed, firstOf, isLeft, leave, rerunSpan } from './leave.ts'
import { type EdgeObstacle, mayFire, tryEdge } from './passage.ts'
import { beginReviews, passOn } from './review.ts'
import { dismissApprovals } from './stage.ts'
import type { Turn } from './turn.ts'

export function closeSubphase(turn: Turn, subphase: number): void {
  const { open, blocked, isActive, pending } = turn.draft.subphases.get(subphase)
  const span = turn.flow.subphases[subphase]
  if (span === undefined || open + blocked > 0 || !isActive || pending !== null) return
  if (hasWaysBehindCalls(turn, span.nodes)) return
  turn.command({ type: 'write_manifest', subphase_id: span.name })
}

export function closePhase(turn: Turn, phase: number): void {
  const { blocked, isActive, isBlocked, pending } = turn.draft.phases.get(phase)
  const span = turn.flow.phases[phase]
  if (span === undefined || blocked > 0 || !isActive || isBlocked || pending !== null) return
  const open = openIn(turn, phase)
  if (open > 0 && !isAtBorder(turn, phase)) return
  const callers = callersIn(turn, span)
  if (open === 0 && callers.length > 0 && !callers.some((node) => callsAtBorder(turn, node))) return
  if (waitsForCalls(turn, span)) return
  if (retryHeld(turn, span)) return
  if (turn.draft.run.rules >= 5 && isHeldWithin(turn, span)) return
  const floor = judgeFloor(turn, span)
  const isBorder = open + callers.length > 0
  const action = isBorder ? floor : strictestOf([floor, ...judgePostPhase(turn, span, false)])
  if (action !== null) return stopPhase(turn, span, action)
  writeLog(turn, span)
}

/** Has the log written before anything that the phase leads to begins. */
export function writeLog(turn: Turn, span: CompiledSpan): void {
  const open = openIn(turn, span.index)
  const isBorder = open + callersIn(turn, span).length > 0
  const border = isBorder ? { is_border: true as const } : {}
  turn.command({ type: 'write_log', phase_id: span.name, ...border })
}

/** The log is written, or could not be: the phase ends, or stays. */
export function afterLog(turn: Turn, phase: number): void {
  const span = turn.flow.phases[phase]
  if (span === undefined) return
  const { isLogged } = turn.draft.phases.get(phase)
  const open = openIn(turn, phase)
  const values = { log_updated_after_phase: isLogged }
  const invariant_id = 'ORCH_LOG_IMMEDIATE_UPDATE'
  const result = isLogged ? 'true' : 'false'
  turn.record({ kind: 'invariant', invariant_id, phase_id: span.name, result, values })
  if (!isLogged) {
    const node_id = turn.idOf(lastOf(turn, span))
    turn.find({ code: 'flow.log_not_updated', node_id, invariant_id, action: 'block', values })
    return turn.record({ kind: 'phase_blocked', phase_id: span.name })
  }
  // The phase is at its border, or something of it was entered while the log was being written.
  const callers = callersIn(turn, span)
  if (open > 0 && !isAtBorder(turn, phase)) return
  const isBorder = open + callers.length > 0
  if (isBorder && !(openBorder(turn, phase, callers) && open === 0)) return
  const before = isBorder ? judgePostPhase(turn, span, false) : []
  const action = strictestOf([...before, ...judgePostPhase(turn, span, true)])
  if (action !== null) return stopPhase(turn, span, action)
  turn.record({ kind: 'phase_ended', phase_id: span.name })
  for (const node of span.nodes) {
    if (mayLeave(turn, node)) turn.later({ kind: 'leave', node, isPhaseEnded: true })
    if (turn.draft.run.rules === 4) followEnd(turn, node)
  }
  if (turn.draft.run.rules < 5) return
  for (const node of span.nodes) turn.later({ kind: 'follow', node })
}

/**
 * Lets the CHECK nodes begin that lie outside of the phase, or are called, and judge what is in it. Returns
 * whether the callers have nothing to wait for.
 */
function openBorder(turn: Turn, phase: number, callers: readonly number[]): boolean {
  for (const node of turn.draft.phases.get(phase).judging) {
    if (!leadsOutside(turn, node)) continue
    if (turn.node(node).status === 'resting') passOn(turn, node, true)
    else beginReviews(turn, node)
  }
  const waiting = callers.filter(
    (node) => !callsAtBorder(turn, node) || !callFromBorder(turn, node),
  )
  return waiting.length === 0
}

/** Lets go on what waited for the end of the phase next to the leaving edges. */
export function followEnd(turn: Turn, node: number): void {
  if (turn.draft.run.rules >= 5 && isLeft(turn, node)) return
  if (turn.node(node).status === 'provisional') beginReviews(turn, node)
  followDone(turn, node)
}

/** Lets the alternatives and the CHECK nodes of a node go on that is done and whose calls have returned. */
export function followDone(turn: Turn, node: number): void {
  const { checks, document, hasChoice } = turn.draft.nodeOf(node)
  const { status, awaited, hasFired } = turn.node(node)
  if (status !== 'done') return
  if (!areCallsOver(turn, node)) {
    // It has left by its way out.
    if (hasFired && awaited === 0) dismissApprovals(turn, node)
    return
  }
  if (hasChoice && document.kind !== 'GOAL') openLate(turn, node)
  for (const check of checks)
    if (turn.node(check).status === 'resting') turn.later({ kind: 'done', node: check })
}

function mayLeave(turn: Turn, node: number): boolean {
  const compiled = turn.draft.nodeOf(node)
  if (!compiled.isAtBorder || isLeft(turn, node)) return false
  const { status } = turn.node(node)
  if (status !== 'done' && status !== 'provisional' && status !== 'approved') return false
  const leaving = compiled.outgoing.filter((edge) => edge.isLeaving && !isBefore(turn, edge))
  return leaving.every(({ index }) => turn.draft.fired.get(index) === 0)
}

/** A review and a call go before the ways out, and say nothing about them. */
function isBefore({ draft }: Turn, edge: CompiledEdge): boolean {
  // By version 1 of the rules work whose CHECK lay in another phase never left its own.
  return isCallFirst(edge) || (edge.isReview && draft.run.rules >= 2)
}

/** Guards within the phase may have waited for the rest of it. */
function retryHeld(turn: Turn, { nodes }: CompiledSpan): boolean {
  if (turn.draft.run.stuck === 0) return false
  for (const node of nodes) {
    if (!turn.node(node).isHeld || turn.wasTriedAlone(node)) continue
    leave(turn, node, false)
    if (turn.node(node).hasFired) return true
  }
  return false
}

/** Returns whether a node cannot go on to the rest of its phase: the phase has not ended then. */
function isHeldWithin(turn: Turn, { nodes }: CompiledSpan): boolean {
  if (turn.draft.run.stuck === 0) return false
  return nodes.some((node) => {
    const { isHeld, hasFired } = turn.node(node)
    return isHeld && !hasFired && turn.draft.nodeOf(node).waysWithin.length > 0
  })
}

/** The node that an invariant of a phase speaks of: the one that ended last, as far as that is known. */
function lastOf(turn: Turn, { nodes }: CompiledSpan): number {
  const { event } = turn
  const index = 'node_id' in event ? turn.flow.nodeIndex.get(event.node_id) : undefined
  if (index !== undefined && nodes.includes(index)) return index
  const ran = nodes.findLast((node) => turn.node(node).entries > 0)
  const last = nodes.at(-1) ?? 0
  return turn.draft.run.rules < 5 ? last : (ran ?? last)
}

/** TIME_HARD_FLOOR: by the host's clock, summed over the attempts of the phase. */
function judgeFloor(turn: Turn, span: CompiledSpan): FindingAction | null {
  if (span.minimumDuration === 0) return null
  const { seconds } = turn.draft.phases.get(span.index)
  const isKept = seconds >= span.minimumDuration
  const values = {
    'state.cumulative_duration': seconds,
    'state.minimum_duration': span.minimumDuration,
  }
  const invariant_id = 'TIME_HARD_FLOOR'
  const result = isKept ? 'true' : 'false'
  turn.record({ kind: 'invariant', invariant_id, phase_id: span.name, result, values })
  if (isKept) return null
  const restated = turn.flow.invariants.find(
    ({ document }) => document.invariant_id === invariant_id,
  )
  const action = restated?.document.fail_action === 'rerun' ? 'rerun' : 'block'
  const node_id = turn.idOf(lastOf(turn, span))
  turn.find({ code: 'flow.time_floor', node_id, invariant_id, action, values })
  return action
}

/** What the invariants of this timing ask for; those that read the log wait until it is written. */
function judgePostPhase(
  turn: Turn,
  span: CompiledSpan,
  isLogWritten: boolean,
): readonly (FindingAction | null)[] {
  return turn.flow.invariants.map((invariant) => {
    const { document, isNamed } = invariant
    if (isNamed || document.check_timing !== 'post_phase') return null
    if (document.invariant_expr.includes('log_updated_after_phase') !== isLogWritten) return null
    const occasion = { isPhaseEnd: true }
    if (isInvariantKept(turn, invariant, lastOf(turn, span), null, occasion)) return null
    return document.fail_action === 'alert' ? null : document.fail_action
  })
}

function strictestOf(actions: readonly (FindingAction | null)[]): FindingAction | null {
  if (actions.includes('block')) return 'block'
  return actions.includes('rerun') ? 'rerun' : null
}

/** Handles a phase that may not end: by the remedy of a leaving edge, by a rerun, or by blocking it. */
function stopPhase(turn: Turn, span: CompiledSpan, action: FindingAction): void {
  const node = lastOf(turn, span)
  for (const done of span.nodes) {
    const obstacle = mayLeave(turn, done) || leadsOutside(turn, done) ? remedyAt(turn, done) : null
    if (obstacle === null) continue
    withdraw(turn, done)
    if (turn.draft.run.rules > 1) findClosed(turn, done, obstacle)
    return carryOut(turn, done, obstacle)
  }
  if (action === 'rerun') {
    for (const first of firstOf(turn, node, 'phase')) withdraw(turn, first)
    return rerunSpan(turn, node, 'phase')
  }
  turn.record({ kind: 'phase_blocked', phase_id: span.name })
}

/** Takes work back that waits at the border, so that it can run again. */
function withdraw(turn: Turn, node: number): void {
  if (turn.node(node).status === 'submitted') turn.settle(node, 'rejected', 'its phase may not end')
}

const REMEDIES: ReadonlySet<FindingAction> = new Set(['rerun', 'reject', 'escalate', 'reroute'])

/** Returns the first leaving edge that cannot fire and names a remedy; null if there is none. */
function remedyAt(turn: Turn, node: number): EdgeObstacle | null {
  for (const edge of turn.draft.nodeOf(node).outgoing) {
    if (!edge.isLeaving || edge.document.class === 'Meta' || edge.document.class === 'Exception')
      continue
    const way = tryEdge(turn, edge, 'done')
    if (!mayFire(way) && REMEDIES.has(way.action)) return way
  }
  return null
}

/** A manifest that could not be written refuses the run. */
export function afterManifest(turn: Turn, event: EventOf<'manifest_written'>): void {
  if (event.digest !== null) return
  refuse(turn, event.subphase_id, null, null)
}

/** A resume that does not find what the manifests say is refused. */
export function compareManifests(turn: Turn, { manifests }: EventOf<'resumed'>): void {
  for (const { index, name } of turn.flow.subphases) {
    const { manifest } = turn.draft.subphases.get(index)
    const found = Object.hasOwn(manifests, name) ? (manifests[name] ?? null) : null
    if (manifest !== null && manifest !== found) refuse(turn, name, manifest, found)
  }
}

function refuse(turn: Turn, subphase: string, manifest: string | null, found: string | null): void {
  const values = { subphase_id: subphase, manifest, found }
  turn.find({ code: 'flow.manifest_mismatch', action: 'refuse', values })
  turn.record({ kind: 'refused', why: `the manifest of ${subphase}` })
}
