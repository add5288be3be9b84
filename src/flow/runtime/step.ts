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
import { mapAt } from '../compile/spread.ts'
import { ignoredWords } from '../plan/plan-words.ts'
import type { FlowCommand } from '../state/command.ts'
import { RunDraft } from '../state/draft.ts'
import type { EventOf, FlowEvent } from '../state/event.ts'
import { outstanding } from '../state/outstanding.ts'
import { flowAfter, reshape } from '../state/reshape.ts'
import { isOpen, isStuckAt, type RunState, unblockedBy } from '../state/state.ts'
import { endBranches, loseGroups, openGroups, winGroups } from './alternatives.ts'
import { askForFiles, endAttempt, takeOutput } from './attempt.ts'
import { waitsForWork } from './border.ts'
import { isRejectedByCall, settleCalls } from './call.ts'
import { block, enter, enterLate, failNode, run } from './enter.ts'
import { asksForEvidence, isReviewEvidence } from './evidence.ts'
import {
  fire,
  hasGoneOn,
  isLeft,
  isWayOut,
  leave,
  resumeWaysBack,
  retryClaims,
  retryWays,
} from './leave.ts'
import {
  beginItems,
  giveUpItem,
  isCounted,
  isListTaken,
  isLostItem,
  isShort,
  reopenItem,
} from './map.ts'
import { afterMigration } from './migrate.ts'
import { judgePeriodic } from './periodic.ts'
import {
  afterLog,
  afterManifest,
  closePhase,
  closeSubphase,
  compareManifests,
  followDone,
  followEnd,
  writeLog,
} from './phase.ts'
import {
  answerFault,
  endReview,
  findLate,
  giveUpReview,
  goOnToReview,
  isApproved,
  passOn,
  reroute,
  submitWork,
} from './review.ts'
import { cancel, canSkip, skip } from './skip.ts'
import {
  followPlaced,
  followPromotion,
  isLateAct,
  isStaged,
  leaveUndone,
  promoteStage,
  runAgain,
} from './stage.ts'
import { findStalled, findUnentered, findUnreached } from './stall.ts'
import { type Step, type Task, Turn } from './turn.ts'
import { afterSignal, afterTimer, isTimerDue, signalNames } from './wait.ts'

export function step(state: RunState, event: FlowEvent): Step {
  const draft = new RunDraft(state, 'one step')
  const place = 'node_id' in event ? draft.placeNamed(event.node_id) : -1
  if (isStale(draft, event, place)) return { state, commands: [], facts: [], isStale: true }
  const first = new Turn(draft, event, place)
  const heard = event.type === 'participant_output' ? hearOutput(first, event) : event
  recordEvent(first, heard)
  const turn = withFlowAfter(first, heard)
  react(turn, heard)
  if (heard.type === 'migrated') afterMigration(turn, first.flow)
  drain(turn)
  const isJudged = event.type !== 'started' && turn.draft.run.ended === null
  if (isJudged && turn.flow.periodic.length > 0) {
    judgePeriodic(turn, event)
    drain(turn)
  }
  finish(turn)
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

function isStale(draft: RunDraft, event: FlowEvent, place: number): boolean {
  const { flow, run: state } = draft
  if (event.type === 'started') return state.runId !== null
  if (isLateAct(draft, event, place)) return false
  if (state.runId === null || state.ended !== null) return true
  if (event.type === 'resumed' || event.type === 'cancelled') return false
  if (state.isRefused) return true
  if (event.type === 'tick' || event.type === 'budget_set') return false
  if (event.type === 'migrated') return event.from !== flow.digest
  if (event.type === 'signal') return !signalNames(flow.document).has(event.name)
  if (event.type === 'evidence') return !state.claimNodes.has(event.evidence.claim_id)
  if (event.type === 'log_written') {
    const index = flow.phaseIndex.get(event.phase_id)
    return index === undefined || !answers(draft.phases.get(index).pending, event)
  }
  if (event.type === 'manifest_written') {
    const index = flow.subphaseIndex.get(event.subphase_id)
    return index === undefined || !answers(draft.subphases.get(index).pending, event)
  }
  if (place === -1) return true
  if (event.type === 'answer_late') return false
  const node = draft.nodes.get(place)
  const { pending, status } = node
  if (event.type === 'unblocked')
    return (
      !isStuckAt(node, draft.phases.get(draft.nodeOf(place).phase)) &&
      !isLostItem(draft.flow, draft.nodes, place)
    )
  if (event.type === 'timer') return !isTimerDue(node, event)
  if (event.type === 'skipped') return !canSkip(draft.nodeOf(place).document.kind, node)
  if (event.type === 'access_refused') return status !== 'running'
  return !answers(pending, event) || !ANSWERS[event.type].includes(pending?.type ?? '')
}

function answers(pending: FlowCommand | null, event: { readonly command: number }): boolean {
  return pending !== null && pending.command === event.command
}

/** The commands that each event may be an answer to. */
const RUNS = ['run_participant', 'ask_again']
const ANSWERS: Readonly<Record<NodeAnswer, readonly string[]>> = {
  attempt_started: RUNS,
  gate_decision: RUNS,
  participant_output: RUNS,
  attempt_ended: RUNS,
  passed: ['pass'],
  evidence_read: ['read_evidence'],
  list_read: ['read_list'],
  human_answer: ['ask_human'],
  promoted: ['promote'],
  rolled_back: ['roll_back'],
}

type NodeAnswer =
  | 'attempt_started'
  | 'gate_decision'
  | 'participant_output'
  | 'attempt_ended'
  | 'passed'
  | 'evidence_read'
  | 'list_read'
  | 'human_answer'
  | 'promoted'
  | 'rolled_back'

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

/** Nothing is missing: the node is done, and the CHECK nodes that approved it are. */
function complete(turn: Turn, node: number): void {
  const { awaits, calls, checks, document, isCandidate, hasChoice, target } =
    turn.draft.nodeOf(node)
  const { status, hasFired } = turn.node(node)
  // It was stopped when something that it followed ran again.
  if (status === 'rejected' && turn.node(node).isLeftBehind) return
  if (target !== -1 && waitsForWork(turn, node, target)) return
  if (status === 'done' || asksForEvidence(turn, node)) return
  // The way out that was taken before leads nowhere else any more.
  const isSkipped = turn.draft.run.rules >= 3 && status === 'rejected'
  turn.settle(node, 'done', 'complete')
  if (turn.node(node).isLeftBehind) return enterLate(turn, node)
  if (isCandidate) winGroups(turn, node)
  if (turn.draft.run.rules > 1 && awaits.isAnySync) endBranches(turn, node)
  const isCaller = turn.draft.run.rules >= 4 && calls.length > 0
  if (hasChoice && document.kind !== 'GOAL' && !isCaller) openGroups(turn, node)
  // A person is asked, since no alternative is open.
  const isAsked = turn.draft.run.rules >= 4 && isOpen(turn.node(node).status)
  // Items begin in their turn.
  const isToLeave = !hasFired || (isSkipped && !hasGoneOn(turn, node))
  if (isToLeave && !isAsked && mapAt(turn.flow, node) === null) leaveDone(turn, node)
  else if (isCaller) followDone(turn, node)
  if (isCaller) return
  for (const check of checks) {
    if (turn.node(check).status === 'resting') turn.later({ kind: 'done', node: check })
  }
}

function leaveDone(turn: Turn, node: number): void {
  leave(turn, node, false)
  // A person skips it after the end of its phase.
  if (turn.draft.run.rules >= 5 && !turn.draft.phases.get(turn.draft.nodeOf(node).phase).isActive)
    turn.later({ kind: 'leave', node, isPhaseEnded: true })
}

function except(turn: Turn, node: number): void {
  const { status } = turn.node(node)
  if (reroute(turn, node, 'rerouted') || status !== 'failed') return
  if (turn.draft.nodeOf(node).isCandidate) {
    turn.settle(node, 'abandoned', 'failed')
    loseGroups(turn, node)
    return
  }
  // A way out that is closed keeps the run here: it was found, and a person lets the node try again.
  const hasWayOut = turn.draft.nodeOf(node).outgoing.some((edge) => isWayOut(edge, 'failure'))
  if (turn.draft.run.rules >= 4 && hasWayOut && !isCounted(turn, node))
    return turn.settle(node, 'blocked', 'its way out is closed')
  failNode(turn, node)
}

function afterHuman(turn: Turn, node: number, { answer }: EventOf<'human_answer'>): void {
  if (answer === 'abandon' && giveUpItem(turn, node, 'a person gave it up')) return
  if (answer === 'abandon') {
    turn.settle(node, 'failed', 'abandoned by a human')
    return giveUpReview(turn, node, 'failed')
  }
  const isInput = turn.answered?.type === 'ask_human' && turn.answered.why === 'input'
  if (answer === 'provided' && isInput) {
    turn.settle(node, 'running', 'input provided')
    if (turn.draft.nodeOf(node).isBare)
      return turn.command({ type: 'pass', node_id: turn.idOf(node) })
    return run(turn, node, 0)
  }
  runAgain(turn, node, answer)
}

function afterPromotion(turn: Turn, node: number, event: EventOf<'promoted'>): void {
  if (turn.draft.run.ended !== null || !answers(turn.answered, event)) return
  const isLeft = turn.draft.run.rules >= 6 && turn.node(node).isLeftBehind
  if (isLeft && event.action_id === null) turn.settle(node, 'rejected', 'left behind')
  else if (event.action_id === null) {
    const { why, about = [] } = event
    const values = why === undefined ? {} : { codes: why, ...(about.length > 0 && { about }) }
    block(turn, node, 'flow.promotion_refused', values)
    followPlaced(turn, node, false)
  } else {
    complete(turn, node)
    followPromotion(turn, node)
    followPlaced(turn, node, true)
  }
  if (isLeft) resumeWaysBack(turn)
}

/** Enters the target of a Rollback edge once every pending rollback to it has succeeded. */
function afterRollback(turn: Turn, node: number, event: EventOf<'rolled_back'>): void {
  const command = turn.answered
  const { rest = [] } = command?.type === 'roll_back' ? command : {}
  if (!event.is_restored) {
    // What was not undone yet stays as it is.
    for (const other of new Set(rest.map(({ node_id }) => turn.draft.nodeNamed(node_id))))
      if (other !== node) turn.settle(other, 'done', 'rollback failed')
    const values = event.why === undefined ? {} : { why: event.why }
    return block(turn, node, 'flow.rollback_failed', values)
  }
  if (!rest.some(({ node_id }) => node_id === event.node_id)) leaveUndone(turn, node)
  if (command?.type !== 'roll_back') return
  const [next, ...later] = rest
  if (next !== undefined) {
    const { back_to, round } = command
    return turn.command({ type: 'roll_back', ...next, back_to, round, rest: later })
  }
  for (let index = 0; index < turn.flow.nodes.length; index++) {
    const { pending } = turn.node(index)
    if (pending?.type === 'roll_back' && pending.back_to === command.back_to) return
  }
  const target = turn.draft.nodeNamed(command.back_to)
  turn.later({ kind: 'enter', node: target, round: command.round, cause: 'back' })
  if (turn.draft.run.rules >= 6) resumeWaysBack(turn)
}

/** Tries the closed edges of a held node again after a human's answer, or reruns the node. */
function afterUnblock(turn: Turn, node: number): void {
  const again = reopenItem(turn, node)
  if (again !== node) return runAgain(turn, again, 'unblocked')
  const { phase } = turn.draft.nodeOf(node)
  const span = turn.flow.phases[phase]
  // Only the log is missing: it is written again, and no work is run again.
  if (turn.draft.run.rules >= 3 && turn.draft.phases.get(phase).isLogFailed && span !== undefined)
    return writeLog(turn, span)
  if (findUnentered(turn, node)) return
  // A version that a called CHECK rejected is not put to it again.
  if (!turn.node(node).isHeld || isRejectedByCall(turn, node))
    return runAgain(turn, unblockedBy(turn.draft, node), 'unblocked')
  const isReview = turn.node(node).status === 'blocked' || turn.node(node).status === 'resting'
  if (!asksForEvidence(turn, node, isReview)) return retryWays(turn, node)
  // A person may have corrected an evidence file: tries the edges once the host has read it again.
  turn.record({ kind: 'released', node_id: turn.idOf(node) })
}

/** A run in which nothing is open, stuck or under way is at its end, unless a goal was missed. */
function finish(turn: Turn): void {
  if (turn.draft.run.rules > 1 && findStalled(turn)) drain(turn)
  const { open, stuck, spansPending, calling, failed, ended, isRefused } = turn.draft.run
  if (open + stuck + spansPending + calling > 0 || ended !== null || isRefused) return
  if (failed > 0) return turn.record({ kind: 'ended', status: 'FAILED' })
  if (turn.draft.run.rules >= 3 && findUnreached(turn)) return
  turn.record({ kind: 'ended', status: 'DONE' })
}
