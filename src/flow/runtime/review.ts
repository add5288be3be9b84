/**
 * Hands work to its CHECK nodes, ends the review of a CHECK, and applies it to the work (F-7, F-12). The
 * ways to CHECK nodes are judged first; while one is closed nothing is reviewed.
 *
 * INVARIANT (pinned): an answer counts only if it repeats the id of this review and the digest of the
 * artifact that the host handed out, so that no text inside an artifact can vote.
 * INVARIANT (score gate): a score of 90 or more approves and a lower one does not. The verdict that the
 * reviewer writes does not count.
 */
import { showName } from '../../base/index.ts'
import { APPROVE_SCORE_MIN, type XiaojingReview } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { ClaimDraft, EventOf, ParticipantAnswer, ReviewAnswer } from '../state/event.ts'
import type { FindingAction } from '../state/fact.ts'
import type { NodeStatus } from '../state/state.ts'
import { pinnedVersion } from '../state/version.ts'
import {
  askForInput,
  failAttempt,
  failLine,
  findInvalid,
  isStopped,
  isTriedAgain,
  lineDelay,
  takeClaims,
} from './attempt.ts'
import { mayCross } from './border.ts'
import { enter, escalate, pinOf, run } from './enter.ts'
import { asksForEvidence, takeFields } from './evidence.ts'
import {
  carryOut,
  findClosed,
  fire,
  hold,
  isWayOut,
  refusalOf,
  rerunSpan,
  takeException,
} from './leave.ts'
import { type EdgeObstacle, firstOpen, mayFire, type OpenEdge, tryEdge } from './passage.ts'
import { dismissApprovals, isPlacedFirst, voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

/** An answer with more claims or evidence is invalid. */
const CLAIMS_MAX = 256

/** Why an answer cannot be taken as one of this node; null when it can. */
export function answerFault(turn: Turn, node: number, answer: ParticipantAnswer): string | null {
  const { document } = turn.draft.nodeOf(node)
  if ((document.kind === 'CHECK') !== (answer.kind === 'review'))
    return `a ${document.kind} node is not answered by a document of this kind`
  if (Math.max(answer.claims?.length ?? 0, answer.evidence?.length ?? 0) > CLAIMS_MAX)
    return `more than ${CLAIMS_MAX} claims or pieces of evidence`
  const twice = answer.kind === 'action' ? repeatedClaim(turn, answer.claims ?? []) : null
  if (twice !== null) return `two claims have the id ${showName(twice)}: give each its own`
  return answer.kind === 'action' ? null : reviewFault(turn, node, answer)
}

/** Returns the id of a second claim, which would take the place of the first; null if there is none. */
function repeatedClaim(turn: Turn, claims: readonly ClaimDraft[]): string | null {
  if (turn.draft.run.rules < 4) return null
  const ids = claims.map(({ claim_id }) => claim_id)
  return ids.find((id, index) => ids.indexOf(id) !== index) ?? null
}

function reviewFault(turn: Turn, node: number, answer: ReviewAnswer): string | null {
  const { pin } = turn.node(node).work
  if (pin === null || answer.review_id !== pin.review_id)
    return 'the answer does not carry the review id that was handed out'
  if (answer.artifact_digest !== pin.artifact_digest)
    return 'the answer does not carry the digest of the artifact that was handed out'
  const { task_id } = answer.document
  if (turn.draft.run.rules < 2 || task_id === pin.target || task_id === turn.idOf(node)) return null
  return `the review has the \`task_id\` ${showName(task_id)}, and is of ${showName(pin.target)}`
}

/** Submits work: enters its CHECK nodes, or approves it if it has none. */
export function submitWork(turn: Turn, node: number): void {
  const { checks, isJudgedLate } = turn.draft.nodeOf(node)
  if (checks.length === 0) return turn.later({ kind: 'approve', node })
  if (turn.draft.run.rules >= 4 && asksForEvidence(turn, node, true)) return
  turn.settle(node, isJudgedLate ? 'provisional' : 'submitted', 'review')
  const isBegun = beginReviews(turn, node, (check) => mayCross(turn, node, check))
  if (isJudgedLate && isBegun) turn.later({ kind: 'leave', node, isPhaseEnded: false })
}

/**
 * Enters the CHECK nodes of submitted work that are due and may begin; by default all that are due. Returns
 * false if a way to one of them is closed.
 */
export function beginReviews(
  turn: Turn,
  node: number,
  mayBegin: (check: number) => boolean = () => true,
): boolean {
  const { firstChecks, outgoing } = turn.draft.nodeOf(node)
  const isEvery = turn.draft.run.rules < 4
  const ways = outgoing.filter(
    ({ isReview, isForward, target, index }) =>
      isReview && (isEvery || (isForward && mayBegin(target) && turn.draft.fired.get(index) === 0)),
  )
  const closed = fireReviews(turn, node, ways)
  if (closed.length > 0) {
    holdReview(turn, node, closed)
    return false
  }
  for (const check of firstChecks)
    if (turn.node(check).isDue && mayBegin(check)) enter(turn, check, turn.node(node).round, 'edge')
  return true
}

/** Fires the ways to CHECK nodes if all are open; returns the obstacles of the others. */
function fireReviews(
  turn: Turn,
  node: number,
  ways: readonly CompiledEdge[],
): readonly EdgeObstacle[] {
  const isTogether = turn.draft.run.rules >= 4
  const round = Math.max(turn.node(node).round, 1)
  const open: OpenEdge[] = []
  const closed: EdgeObstacle[] = []
  if (isTogether) takeFields(turn, ways)
  for (const edge of ways) {
    const way = tryEdge(turn, edge, 'review')
    if (!mayFire(way)) closed.push(way)
    else if (isTogether) open.push(way)
    else turn.recordFired(way, round)
    // Earlier versions stopped at the first closed way, when those before it had fired.
    if (!isTogether && closed.length > 0) return closed
  }
  if (closed.length === 0) for (const way of open) turn.recordFired(way, round)
  return closed
}

/** Does what the first obstacle asks for. The work stays as it is where that is to wait. */
function holdReview(turn: Turn, node: number, closed: readonly EdgeObstacle[]): void {
  const isOld = turn.draft.run.rules < 4
  for (const obstacle of closed)
    findClosed(turn, node, isOld ? { ...obstacle, action: 'block' } : obstacle)
  const first = refusalOf(turn, closed) ?? closed[0]
  if (isOld || first === undefined) {
    turn.settle(node, 'blocked', 'review')
    return turn.later({ kind: 'except', node })
  }
  const { edge, action } = first
  if (action === 'escalate') return escalate(turn, node, `the way ${edge.edgeId} is closed`)
  if (action === 'rerun' || action === 'reject') {
    voidDependents(turn, node)
    turn.settle(node, 'rejected', 'the way to its check is closed')
    const scope = action === 'rerun' ? edge.document.guard_scope : undefined
    return rerunSpan(turn, node, scope ?? 'attempt')
  }
  turn.settle(node, 'blocked', 'review')
  if (takeException(turn, node) === null) return hold(turn, node)
  turn.settle(node, 'rejected', 'rerouted')
}

export function endReview(turn: Turn, check: number, event: EventOf<'attempt_ended'>): void {
  const { work } = turn.node(check)
  if (isTriedAgain(turn, check, event)) return run(turn, check, lineDelay(turn, check))
  if (isStopped(turn, check, event)) return
  const { answer } = work
  if (event.outcome !== 'ended' || answer === null || answer.kind !== 'review') {
    if (event.outcome !== 'ended') return failLine(turn, check, event)
    return failAttempt(turn, check, { output: 'invalid', ...findInvalid(turn, check) }, 'invalid')
  }
  takeReview(turn, check, answer, event.principal)
}

/** Tells which version an answer was about that came too late, and which one is asked about now. */
export function findLate(turn: Turn, node: number, event: EventOf<'answer_late'>): void {
  const { node_id, principal: by, word: said, about } = event
  const { pending, work } = turn.node(node)
  const asks_now = pending === null ? null : pinnedVersion(work.pin)
  const values = { by, said, about, asks_now }
  turn.find({ code: 'flow.answer_late', node_id, action: 'alert', values })
}

type Verdict = 'APPROVE' | 'REJECT' | 'PENDING'

function verdictOf({ total_score, action_required }: XiaojingReview): Verdict {
  if (total_score >= APPROVE_SCORE_MIN) return 'APPROVE'
  return action_required === 'REQUEST_EXTERNAL_INPUT' ? 'PENDING' : 'REJECT'
}

const WORDS: Readonly<Record<XiaojingReview['action_required'], Verdict>> = {
  APPROVE: 'APPROVE',
  MODIFY: 'REJECT',
  REQUEST_EXTERNAL_INPUT: 'PENDING',
}

function takeReview(turn: Turn, check: number, answer: ReviewAnswer, principal: string): void {
  const { target } = turn.draft.nodeOf(check)
  const caller = target === -1 && turn.draft.run.rules >= 4 ? turn.callerOf(check) : -1
  const subject = target !== -1 ? target : caller !== -1 ? caller : check
  const { status, work } = turn.node(subject)
  const artifact_digest = work.artifact?.digest ?? null
  // A way back between work and its CHECK asks the CHECK again about work that is done.
  const isAgain = status === 'done' && turn.draft.run.rules >= 5
  const isJudged = target === -1 || status === 'submitted' || status === 'provisional' || isAgain
  // The work is run again meanwhile: it is reviewed when it is there, or now if it is already.
  if (!isJudged) return turn.settle(check, 'rejected', 'the work has changed')
  const version = subject === check ? {} : pinOf(turn, subject)
  const isOther =
    turn.draft.run.rules >= 6 && version.version !== turn.node(check).work.pin?.version
  if (isOther || (target !== -1 && artifact_digest !== answer.artifact_digest))
    return run(turn, check, 0)
  const { document } = answer
  const verdict = verdictOf(document)
  turn.record({
    kind: 'reviewed',
    node_id: turn.idOf(subject),
    check_id: turn.idOf(check),
    verdict,
    score: document.total_score,
    artifact_digest,
    ...version,
    is_word_changed: answer.is_word_changed === true || WORDS[document.action_required] !== verdict,
  })
  takeClaims(turn, check, answer, principal)
  if (verdict === 'APPROVE') return approveBy(turn, check, target)
  if (verdict === 'PENDING') return askForReviewer(turn, check, subject, document)
  if (target !== -1) return reject(turn, check, target)
  if (caller !== -1) return rejectCall(turn, check, caller)
  const { way } = firstOpen(turn, waysOutOf(turn, [check]), 'review')
  if (way === null) return failAttempt(turn, check, { verdict })
  turn.settle(check, 'rejected', 'review')
  fire(turn, way)
}

/** Ends the review of what a caller made. The call fails unless a way of the CHECK leads elsewhere. */
function rejectCall(turn: Turn, check: number, caller: number): void {
  const out = firstOpen(turn, waysOutOf(turn, [check]), 'review')
  const way = out.way ?? tryBack(turn, check).way
  const node_id = turn.idOf(caller)
  const invariant_id = 'VALIDATOR_APPROVAL_REQUIRED'
  const values = { validator_verdict: 'REJECT', score: turn.node(caller).work.score }
  const action = way === null ? 'block' : 'reroute'
  turn.find({ code: 'flow.approval_required', node_id, invariant_id, action, values })
  turn.settle(check, 'rejected', 'review')
  if (way !== null) fire(turn, way)
}

/** A reviewer that needs something from a person has not approved: that is found, with its words. */
function askForReviewer(
  turn: Turn,
  check: number,
  subject: number,
  document: XiaojingReview,
): void {
  const needs = neededBy(document)
  if (turn.draft.run.rules < 5) return askForInput(turn, check, needs)
  const node_id = turn.idOf(subject)
  const values = { validator_verdict: 'PENDING', score: document.total_score }
  turn.find({ code: 'flow.approval_required', node_id, action: 'escalate', values })
  const { summary: description } = document
  const own = { name: 'input', description, accepted_types: [], suggested_path: null }
  askForInput(turn, check, needs.length > 0 || description === '' ? needs : [own])
}

function neededBy({ suggestions }: XiaojingReview) {
  return suggestions.map(({ change, steps }) => ({
    name: change,
    description: steps.join('\n'),
    accepted_types: [],
    suggested_path: null,
  }))
}

function approveBy(turn: Turn, check: number, target: number): void {
  if (target === -1)
    return isPlacedFirst(turn, check) ? undefined : turn.later({ kind: 'done', node: check })
  if (turn.draft.run.rules >= 4) {
    if (asksForEvidence(turn, check, true)) return
    takeFields(turn, turn.draft.nodeOf(check).outgoing)
  }
  turn.settle(check, 'resting', 'approved')
  passOn(turn, check)
  const isDone = turn.draft.run.rules >= 5 && turn.node(target).status === 'done'
  turn.later(isDone ? { kind: 'done', node: check } : { kind: 'approve', node: target })
}

/** The evidence for the ways to CHECK nodes is there: work goes to them, a CHECK to those after it. */
export function goOnToReview(turn: Turn, node: number): void {
  const { target } = turn.draft.nodeOf(node)
  return target === -1 ? submitWork(turn, node) : approveBy(turn, node, target)
}

/**
 * Lets the CHECK nodes begin that follow this one; what is in the way of one holds this one. Those of
 * another phase wait for its border.
 */
export function passOn(turn: Turn, check: number, isBorderOpen = false): void {
  const { target, outgoing } = turn.draft.nodeOf(check)
  for (const edge of outgoing) {
    const isNext = edge.isReview && turn.draft.nodeOf(edge.target).target === target
    if (!isNext || turn.draft.fired.get(edge.index) > 0) continue
    if (!isBorderOpen && !mayCross(turn, check, edge.target)) continue
    const way = tryEdge(turn, edge, 'done')
    if (mayFire(way)) {
      fire(turn, way)
      continue
    }
    findClosed(turn, check, way)
    if (way.action === 'rerun' || way.action === 'reject') return runAgain(turn, check, target)
    return carryOut(turn, check, way)
  }
}

/** Returns whether every CHECK of a node approves its present version, and no REJECT holds. */
export function isApproved(turn: Turn, node: number): boolean {
  const { checks } = turn.draft.nodeOf(node)
  const { isLocked } = turn.node(node).work
  return checks.length === 0 || (!isLocked && missingApprovals(turn, node).length === 0)
}

/** The CHECK nodes whose approval the present version of a node lacks. */
export function missingApprovals(turn: Turn, node: number): readonly number[] {
  const { checks } = turn.draft.nodeOf(node)
  const { approvals } = turn.node(node).work
  return checks.filter((check) => {
    if (approvals.includes(check)) return false
    const { isStandIn, outgoing } = turn.draft.nodeOf(check)
    if (isStandIn && turn.node(check).status === 'idle') return false
    // One that failed is stood in for by the CHECK that its Exception edge led to.
    return !outgoing.some(
      ({ document, index, target }) =>
        document.class === 'Exception' &&
        turn.draft.nodeOf(target).isStandIn &&
        turn.draft.fired.get(index) > 0 &&
        approvals.includes(target),
    )
  })
}

/** The Exception edges of these nodes that say `on: reject`. */
export function waysOutOf(turn: Turn, nodes: readonly number[]): readonly CompiledEdge[] {
  return nodes.flatMap((node) =>
    turn.draft.nodeOf(node).outgoing.filter((edge) => isWayOut(edge, 'reject')),
  )
}

const STOPPING: ReadonlySet<FindingAction> = new Set(['block', 'reroute', 'escalate'])

/** Returns what keeps rejected work from running again: a closed control, or a guard that says so. */
function stopAfterReject(closed: readonly EdgeObstacle[]): EdgeObstacle | undefined {
  return closed.find(
    ({ edge, action, isGuard }) =>
      STOPPING.has(action) && (!isGuard || edge.document.on_guard_fail !== undefined),
  )
}

/**
 * Goes where an Exception edge for a REJECT leads. Without one the work runs again: by an open back
 * edge of the CHECK, else by entering it again.
 */
function reject(turn: Turn, check: number, target: number): void {
  const { score } = turn.node(target).work
  const node_id = turn.idOf(target)
  const invariant_id = 'VALIDATOR_APPROVAL_REQUIRED'
  const values = { validator_verdict: 'REJECT', score }
  const out = firstOpen(turn, waysOutOf(turn, [check, target]), 'review')
  // Before version 4 the ways back were judged when the work was dropped.
  const early = turn.draft.run.rules >= 4 && out.way === null ? tryBack(turn, check) : null
  const isStopped = early !== null && early.way === null
  const stop = isStopped ? stopAfterReject([...out.closed, ...early.closed]) : undefined
  const action = out.way === null ? (stop?.action ?? 'rerun') : 'reroute'
  turn.find({ code: 'flow.approval_required', node_id, invariant_id, action, values })
  dropWork(turn, target, 'rejected', 'review')
  turn.settle(check, 'rejected', 'review')
  dismissApprovals(turn, target)
  if (out.way !== null) return fire(turn, out.way)
  const back = early ?? tryBack(turn, check)
  if (back.way !== null) return fire(turn, back.way)
  if (stop !== undefined) return stayRejected(turn, target, stop)
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node: target, round, cause: 'rerun' })
}

/** Tries the Loop and Rollback edges of a CHECK. */
function tryBack(turn: Turn, check: number): ReturnType<typeof firstOpen> {
  const backs = turn.draft.nodeOf(check).outgoing.filter(({ isBack }) => isBack)
  return firstOpen(turn, backs, 'review')
}

/** Rejected work stays where it is, or leaves as after a failure, until a person lets it run again. */
function stayRejected(turn: Turn, target: number, stop: EdgeObstacle): void {
  findClosed(turn, stop.edge.source, stop)
  if (stop.action === 'escalate')
    return escalate(turn, target, `the way ${stop.edge.edgeId} is closed`)
  turn.settle(target, 'blocked', 'review')
  turn.later({ kind: 'except', node: target })
}

/** Enters the work again after a way between its CHECK nodes asked for that. */
function runAgain(turn: Turn, check: number, target: number): void {
  dropWork(turn, target, 'rejected', 'a way between its checks is closed')
  turn.settle(check, 'rejected', 'the work is run again')
  dismissApprovals(turn, target)
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node: target, round, cause: 'rerun' })
}

/** What was to be judged is no more: it does not wait for its CHECK nodes any longer. */
function dropWork(turn: Turn, node: number, status: 'rejected' | 'failed', why: string): void {
  voidDependents(turn, node)
  turn.settle(node, status, why)
}

const JUDGED: ReadonlySet<NodeStatus> = new Set(['submitted', 'provisional', 'approved'])

/** Leaves a node by its Exception edge, and takes the work along that a CHECK judges; false if none is open. */
export function reroute(turn: Turn, node: number, why: string): boolean {
  const taken = takeException(turn, node)
  if (taken === null) return false
  turn.settle(node, 'rejected', why)
  if (turn.draft.run.rules >= 6) dismissApprovals(turn, node)
  if (!turn.draft.nodeOf(taken.target).isStandIn) giveUpReview(turn, node, 'rejected')
  return true
}

/** A CHECK has ended without a word, and no other one judges in its place. */
export function giveUpReview(turn: Turn, check: number, status: 'rejected' | 'failed'): void {
  const { target } = turn.draft.nodeOf(check)
  if (turn.draft.run.rules === 1 || target === -1 || !JUDGED.has(turn.node(target).status)) return
  dropWork(turn, target, status, `${turn.idOf(check)} does not judge it`)
  dismissApprovals(turn, target)
}
