/**
 * Ends the review of a CHECK and applies it to the work that it judges (F-7, F-12).
 *
 * INVARIANT (pinned): an answer counts only if it repeats the id of this review and the digest of the
 * artifact that the host handed out, so that no text inside an artifact can vote.
 * INVARIANT (score gate): a score of 90 or more approves and a lower one does not. The verdict that the
 * reviewer writes does not count.
 */
import { showName } from '../../base/index.ts'
import { APPROVE_SCORE_MIN, type XiaojingReview } from '../../contracts/index.ts'
import type { CompiledEdge } from '../compile/compiled-flow.ts'
import type { EventOf, ParticipantAnswer, ReviewAnswer } from '../state/event.ts'
import type { NodeStatus } from '../state/state.ts'
import {
  askForInput,
  failAttempt,
  failLine,
  findInvalid,
  isStopped,
  isTriedAgain,
  lineDelay,
  takeEvidence,
} from './attempt.ts'
import { mayCross } from './border.ts'
import { run } from './enter.ts'
import { isGuardOpen } from './judge.ts'
import { carryOut, findClosed, fire, guardObstacle, isWayOut, obstacleAt } from './leave.ts'
import { dismissApprovals, voidDependents } from './stage.ts'
import type { Turn } from './turn.ts'

/** An answer with more claims or evidence is invalid. */
const CLAIMS_MAX = 256

/** Why an answer cannot be taken as one of this node; null when it can. */
export function answerFault(turn: Turn, node: number, answer: ParticipantAnswer): string | null {
  const { document } = turn.draft.nodeOf(node)
  if ((document.kind === 'CHECK') !== (answer.kind === 'review'))
    return `a ${document.kind} node is not answered by a document of this kind`
  const claims = answer.kind === 'action' ? (answer.claims?.length ?? 0) : 0
  if (Math.max(claims, answer.evidence?.length ?? 0) > CLAIMS_MAX)
    return `more than ${CLAIMS_MAX} claims or pieces of evidence`
  return answer.kind === 'action' ? null : reviewFault(turn, node, answer)
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
  const isJudged = target === -1 || status === 'submitted' || status === 'provisional'
  // The work is run again meanwhile: it is reviewed when it is there, or now if it is already.
  if (!isJudged) return turn.settle(check, 'rejected', 'the work has changed')
  if (target !== -1 && artifact_digest !== answer.artifact_digest) return run(turn, check, 0)
  const { document } = answer
  const verdict = verdictOf(document)
  turn.record({
    kind: 'reviewed',
    node_id: turn.idOf(subject),
    check_id: turn.idOf(check),
    verdict,
    score: document.total_score,
    artifact_digest,
    is_word_changed: answer.is_word_changed === true || WORDS[document.action_required] !== verdict,
  })
  takeEvidence(turn, check, answer, principal)
  if (verdict === 'APPROVE') return approveBy(turn, check, target)
  if (verdict === 'PENDING') return askForInput(turn, check, neededBy(document))
  if (target !== -1) return reject(turn, check, target)
  if (caller !== -1) return rejectCall(turn, check, caller)
  const way = wayOutOf(turn, [check])
  if (way === null) return failAttempt(turn, check, { verdict })
  turn.settle(check, 'rejected', 'review')
  fire(turn, way)
}

/** Ends the review of what a caller made. The call fails unless a way of the CHECK leads elsewhere. */
function rejectCall(turn: Turn, check: number, caller: number): void {
  const way = wayOutOf(turn, [check]) ?? wayBackOf(turn, check)
  findRejected(turn, caller, way === null ? 'block' : 'reroute')
  turn.settle(check, 'rejected', 'review')
  if (way !== null) fire(turn, way)
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
  if (target === -1) return turn.later({ kind: 'done', node: check })
  turn.settle(check, 'resting', 'approved')
  passOn(turn, check)
  turn.later({ kind: 'approve', node: target })
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
    const isOpen = isGuardOpen(turn, edge)
    const action = isOpen ? obstacleAt(turn, edge) : guardObstacle(edge).action
    if (action === null) {
      fire(turn, edge)
      continue
    }
    const obstacle = { edge, action, isGuard: !isOpen }
    findClosed(turn, check, obstacle)
    if (action === 'rerun' || action === 'reject') return runAgain(turn, check, target)
    return carryOut(turn, check, obstacle)
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

/** Returns the first open Exception edge of these nodes that says `on: reject`; null if there is none. */
export function wayOutOf(turn: Turn, nodes: readonly number[]): CompiledEdge | null {
  for (const node of nodes) {
    const ways = turn.draft.nodeOf(node).outgoing
    const way = ways.find((edge) => isWayOut(edge, 'reject') && isGuardOpen(turn, edge))
    if (way !== undefined) return way
  }
  return null
}

/**
 * Goes where an Exception edge for a REJECT leads. Without one the work runs again: by an open back
 * edge of the CHECK, else by entering it again.
 */
function reject(turn: Turn, check: number, target: number): void {
  const way = wayOutOf(turn, [check, target])
  findRejected(turn, target, way === null ? 'rerun' : 'reroute')
  dropWork(turn, target, 'rejected', 'review')
  turn.settle(check, 'rejected', 'review')
  dismissApprovals(turn, target)
  const next = way ?? wayBackOf(turn, check)
  if (next !== null) return fire(turn, next)
  const round = turn.draft.run.round + 1
  turn.later({ kind: 'enter', node: target, round, cause: 'rerun' })
}

function findRejected(turn: Turn, node: number, action: 'rerun' | 'reroute' | 'block'): void {
  const { score } = turn.node(node).work
  turn.find({
    code: 'flow.approval_required',
    node_id: turn.idOf(node),
    invariant_id: 'VALIDATOR_APPROVAL_REQUIRED',
    action,
    values: { validator_verdict: 'REJECT', score },
  })
}

/** Returns the first open Loop or Rollback of a CHECK; null if there is none. */
function wayBackOf(turn: Turn, check: number): CompiledEdge | null {
  const { outgoing } = turn.draft.nodeOf(check)
  return outgoing.find((edge) => edge.isBack && isGuardOpen(turn, edge)) ?? null
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

/** A CHECK has ended without a word, and no other one judges in its place. */
export function giveUpReview(turn: Turn, check: number, status: 'rejected' | 'failed'): void {
  const { target } = turn.draft.nodeOf(check)
  if (turn.draft.run.rules === 1 || target === -1 || !JUDGED.has(turn.node(target).status)) return
  dropWork(turn, target, status, `${turn.idOf(check)} does not judge it`)
  dismissApprovals(turn, target)
}
