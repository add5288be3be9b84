/**
 * One step of a run: `(state, event) → { state, commands, facts }`. Pure: the same state and event give
 * the same step, and the state is the fold of the facts.
 *
 * For the host: append the facts of a step together, then carry out its commands; `command.ts` says
 * which events answer which command. An event that the run does not wait for is stale and changes
 * nothing, so the host may send an event twice. After a crash, fold the facts, send `resumed`, and
 * carry out the outstanding commands that come back. Send `tick` every 10 seconds. The ledger stops a
 * second runner of the same run: the facts of a run have sequence numbers without a gap.
 */
import { ignoredWords } from '../plan/plan-words.ts'
import { openGroups } from '../runtime/alternatives.ts'
import { askForFiles, endAttempt, takeOutput } from '../runtime/attempt.ts'
import { settleCalls } from '../runtime/call.ts'
import { enter } from '../runtime/enter.ts'
import { isReviewEvidence } from '../runtime/evidence.ts'
import { fire, isLeft, leave, retryClaims } from '../runtime/leave.ts'
import { beginItems, isListTaken, isShort } from '../runtime/map.ts'
import { afterMigration } from '../runtime/migrate.ts'
import { judgePeriodic } from '../runtime/periodic.ts'
import {
  afterLog,
  afterManifest,
  closePhase,
  closeSubphase,
  compareManifests,
  followEnd,
} from '../runtime/phase.ts'
import {
  answerFault,
  endReview,
  findLate,
  goOnToReview,
  isApproved,
  passOn,
  submitWork,
} from '../runtime/review.ts'
import { cancel, skip } from '../runtime/skip.ts'
import { isStaged, promoteStage } from '../runtime/stage.ts'
import { findStalled, findUnreached } from '../runtime/stall.ts'
import { type Step, type Task, Turn } from '../runtime/turn.ts'
import { afterSignal, afterTimer } from '../runtime/wait.ts'
import { RunDraft } from '../state/draft.ts'
import type { EventOf, FlowEvent } from '../state/event.ts'
import { isGateWaitedFor } from '../state/firings.ts'
import { outstanding } from '../state/outstanding.ts'
import { flowAfter, reshape } from '../state/reshape.ts'
import type { RunState } from '../state/state.ts'
import { afterPromotion, afterRollback, resumeReviewed, reviewedBacks } from './acts.ts'
import { complete, except } from './complete.ts'
import { afterHuman, afterUnblock } from './people.ts'
import { isStale } from './stale.ts'

export function step(state: RunState, event: FlowEvent): Step {
  const draft = new RunDraft(state, 'one step')
  const place = 'node_id' in event ? draft.placeNamed(event.node_id) : -1
  if (isStale(draft, event, place)) return { state, commands: [], facts: [], isStale: true }
  const first = new Turn(draft, event, place)
  const heard = event.type === 'participant_output' ? hearOutput(first, event) : event
  recordEvent(first, heard)
  const turn = withFlowAfter(first, heard)
  // What a person skips is not gone back to.
  const reviewed = heard.type === 'skipped' ? [] : reviewedBacks(turn)
  react(turn, heard)
  if (heard.type === 'migrated') afterMigration(turn, first.flow)
  drain(turn)
  const isJudged = event.type !== 'started' && turn.draft.run.ended === null
  if (isJudged && turn.flow.periodic.length > 0) {
    judgePeriodic(turn, event)
    drain(turn)
  }
  finish(turn, reviewed)
  const next = turn.draft.finish()
  const commands = event.type === 'resumed' ? outstanding(next) : turn.commands
  return { state: next, commands, facts: turn.facts, isStale: false }
}

/** Goes on in the flow that the event leads to: a list that was read, or another version. */
function withFlowAfter(turn: Turn, event: FlowEvent): Turn {
  const flow = flowAfter(turn.draft.run, event)
  if (flow === null) return turn
  const draft = new RunDraft(reshape(turn.draft.finish(), flow), 'one step')
  const next = new Turn(draft, event, 'node_id' in event ? draft.placeNamed(event.node_id) : -1)
  next.facts.push(...turn.facts)
  return next
}

/** What came in is a fact before anything follows from it. */
function recordEvent(turn: Turn, event: FlowEvent): void {
  const { document, digest } = turn.flow
  switch (event.type) {
    case 'started':
      return turn.emit('flow_started_v1', {
        flow_id: document.flow_id,
        flow_digest: digest,
        nonce: event.nonce,
        ...(event.origin === undefined ? {} : { origin: event.origin }),
      })
    case 'participant_output': {
      const { type: _, at: __, ...output } = event
      return turn.emit('participant_output_v1', output)
    }
    case 'evidence': {
      const { evidence, principal, participant, nonce } = event
      return turn.emit('flow_evidence_v1', { evidence, principal, participant, nonce })
    }
    // Other events are recorded as they are.
    default:
      return turn.recordEvent(event)
  }
}

/** An answer that is no answer of this node is the invalid output that it is. */
function hearOutput(turn: Turn, event: EventOf<'participant_output'>): FlowEvent {
  if (event.answer === null) return event
  const fault = answerFault(turn, turn.place, event.answer)
  if (fault === null) return event
  return { ...event, answer: null, errors: [...event.errors, fault] }
}

function react(turn: Turn, event: FlowEvent): void {
  switch (event.type) {
    case 'started':
      return start(turn)
    case 'attempt_started':
    case 'gate_decision':
    case 'budget_set':
    case 'migrated':
    case 'tick':
      return
    case 'cancelled':
      return cancel(turn)
    case 'signal':
      return afterSignal(turn, event)
    case 'log_written':
      return afterLog(turn, turn.draft.phaseNamed(event.phase_id))
    case 'manifest_written':
      return afterManifest(turn, event)
    case 'evidence':
      return retryClaims(turn, event.evidence.claim_id)
    case 'resumed':
      return compareManifests(turn, event)
    // `reactAt` has a case for each of the others.
    default:
      return reactAt(turn, turn.place, event)
  }
}

type NodeEvent = Extract<FlowEvent, { readonly node_id: string }>

function reactAt(turn: Turn, node: number, event: NodeEvent): void {
  switch (event.type) {
    case 'participant_output':
      return takeOutput(turn, node, event)
    case 'attempt_ended':
      if (turn.draft.nodeOf(node).document.kind === 'CHECK') return endReview(turn, node, event)
      return endAttempt(turn, node, event)
    case 'passed':
      if ((event.missing_files ?? []).length > 0) return askForFiles(turn, node, event)
      if (isShort(turn, node)) return
      if (turn.draft.nodeOf(node).checks.length > 0) return submitWork(turn, node)
      return complete(turn, node)
    case 'evidence_read':
      if (isReviewEvidence(turn)) return goOnToReview(turn, node)
      if (turn.draft.run.rules >= 5 && isStaged(turn, node)) return promoteStage(turn, node)
      return complete(turn, node)
    case 'list_read':
      return isListTaken(turn, node, event) ? complete(turn, node) : undefined
    case 'human_answer':
      return afterHuman(turn, node, event)
    case 'promoted':
      return afterPromotion(turn, node, event)
    case 'rolled_back':
      return afterRollback(turn, node, event)
    case 'access_refused': {
      const { path, mode, node_id } = event
      const { actor } = turn.draft.nodeOf(node).document
      const values = { actor, path, mode }
      return turn.find({ code: 'flow.access_denied', node_id, action: 'refuse', values })
    }
    case 'answer_late':
      return findLate(turn, node, event)
    case 'unblocked':
      return afterUnblock(turn, node)
    case 'skipped':
      return skip(turn, node, event)
    case 'timer':
      return afterTimer(turn, node, event)
    case 'attempt_started':
    case 'gate_decision':
      return
    default:
      return event satisfies never
  }
}

function start(turn: Turn): void {
  tellIgnored(turn)
  for (const node of turn.flow.starts) turn.later({ kind: 'enter', node, round: 1, cause: 'start' })
  for (const { index, document, hasChoice } of turn.flow.nodes) {
    // A goal is reached through its alternatives, so they cannot wait for it.
    if (hasChoice && document.kind === 'GOAL') openGroups(turn, index)
  }
}

/** Words of a plan that only a person's file may say are on the record, and change nothing. */
function tellIgnored(turn: Turn): void {
  for (const { document } of turn.flow.nodes) {
    const { ignored, node_id } = document
    for (const says of ignoredWords(ignored))
      turn.find({ code: 'flow.tools_ignored', node_id, action: 'alert', values: { says } })
  }
}

function drain(turn: Turn): void {
  do {
    for (let task = turn.next(); task !== null; task = turn.next()) perform(turn, task)
    // Items begin before the phase of their map may end.
    if (turn.flow.maps.length > 0 && turn.draft.run.rules >= 5) {
      beginItems(turn)
      if (turn.hasTask()) continue
    }
    for (const subphase of turn.takeClosingSubphases()) closeSubphase(turn, subphase)
    for (const phase of turn.takeClosingPhases()) closePhase(turn, phase)
    if (turn.draft.run.calling > 0 && !turn.isBusy()) settleCalls(turn)
    if (turn.flow.maps.length > 0 && !turn.isBusy()) beginItems(turn)
  } while (turn.isBusy())
}

function perform(turn: Turn, task: Task): void {
  switch (task.kind) {
    case 'enter':
      if (isOverrun(turn, task)) return
      return enter(turn, task.node, task.round, task.cause, task.edge)
    case 'leave':
      // A CHECK that has approved leads to the next CHECK, in any phase.
      if (turn.node(task.node).status !== 'resting')
        return leave(turn, task.node, task.isPhaseEnded)
      return task.isPhaseEnded ? undefined : passOn(turn, task.node)
    case 'take':
      return isLeft(turn, task.way.edge.source) ? undefined : fire(turn, task.way)
    case 'follow':
      return followEnd(turn, task.node)
    case 'approve':
      if (isApproved(turn, task.node)) promoteStage(turn, task.node)
      return
    case 'done':
      return complete(turn, task.node)
    case 'submit':
      return submitWork(turn, task.node)
    case 'except':
      return except(turn, task.node)
    default:
      return task satisfies never
  }
}

/**
 * Returns whether an entry is not made: the node whose edge leads there was entered again since, so that it is of an
 * earlier round, or a Rollback enters the node once the gate has undone what the node had led to (version 8).
 */
function isOverrun({ draft }: Turn, { node, cause, edge = -1 }: Extract<Task, { kind: 'enter' }>) {
  if (draft.run.rules < 8 || (cause !== 'edge' && cause !== 'back')) return false
  return (
    (cause === 'edge' && edge !== -1 && draft.fired.get(edge) === 0) || isGateWaitedFor(draft, node)
  )
}

/**
 * A run in which nothing is open, stuck or under way is at its end, unless a goal was missed. `reviewed`: the nodes
 * to which ways back waited for the end of a review.
 */
function finish(turn: Turn, reviewed: readonly number[]): void {
  resumeReviewed(turn, reviewed)
  drain(turn)
  if (turn.draft.run.rules > 1 && findStalled(turn)) drain(turn)
  const { open, stuck, spansPending, calling, failed, ended, isRefused } = turn.draft.run
  if (open + stuck + spansPending + calling > 0 || ended !== null || isRefused) return
  if (failed > 0) return turn.record({ kind: 'ended', status: 'FAILED' })
  if (turn.draft.run.rules >= 3 && findUnreached(turn)) return
  turn.record({ kind: 'ended', status: 'DONE' })
}
