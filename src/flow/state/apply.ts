/**
 * What a fact does to the state. The only place where states change, while stepping as while folding,
 * so that both give the same.
 */
import { invariant } from '../../base/index.ts'
import { isCallFirst } from '../compile/calls.ts'
import type { CompiledEdge, CompiledFlow } from '../compile/compiled-flow.ts'
import { applyCalled, awaitCall, endCall } from './apply-call.ts'
import { applyEvent, applyOutput } from './apply-event.ts'
import type { CommandBody, FlowCommand } from './command.ts'
import { RunDraft } from './draft.ts'
import type { FlowEvent } from './event.ts'
import type {
  CallOutcome,
  ClaimPayload,
  EntryCause,
  EventPayload,
  EvidencePayload,
  FactHead,
  FlowFact,
  PayloadOf,
  RunFinding,
} from './fact.ts'
import {
  awaitGate,
  closeBehind,
  closeRegion,
  countArrival,
  forgetBacks,
  hasLedOn,
  leaveBehind,
} from './firings.ts'
import { programsOf } from './rejections.ts'
import { flowAfter, reshape } from './reshape.ts'
import { emptyState, type NodeStatus, type RunState, type WorkState } from './state.ts'

/** The state after these facts, which are of one run of this flow and in order. */
export function foldFacts(flow: CompiledFlow, facts: Iterable<FlowFact>): RunState {
  return foldOnto(emptyState(flow), facts)
}

export function foldOnto(state: RunState, facts: Iterable<FlowFact>): RunState {
  let draft = new RunDraft(state, 'many steps')
  for (const fact of facts) {
    applyFact(draft, fact)
    const flow = changedBy(draft, fact)
    if (flow !== null) draft = new RunDraft(reshape(draft.finish(), flow), 'many steps')
  }
  return draft.finish()
}

function changedBy({ run }: RunDraft, { type, payload }: FlowFact): CompiledFlow | null {
  const isEvent = type === 'flow_event_v1' && payload.kind === 'event'
  return isEvent ? flowAfter(run, payload.event) : null
}

export function applyFact(draft: RunDraft, fact: FlowFact): void {
  const { payload } = fact
  invariant(payload.seq === draft.run.seq, 'facts of a run follow one another')
  draft.run.seq = payload.seq + 1
  draft.run.at = payload.at
  switch (fact.type) {
    case 'flow_started_v1':
      return applyStart(draft, fact.payload)
    case 'flow_event_v1':
      return applyPayload(draft, fact.payload)
    case 'flow_finding_v1':
      return applyFinding(draft, fact.payload)
    case 'flow_claim_v1':
      return applyClaim(draft, fact.payload)
    case 'flow_evidence_v1':
      return applyEvidence(draft, fact.payload)
    case 'participant_output_v1':
      return applyOutput(draft, fact.payload)
    default:
      return fact satisfies never
  }
}

function applyStart(
  draft: RunDraft,
  { run_id, origin }: FactHead & PayloadOf<'flow_started_v1'>,
): void {
  draft.run.runId = run_id
  if (origin === undefined) return
  draft.run.rules = Number(origin.evaluator.version)
  draft.run.artifacts = origin.artifacts ?? draft.run.artifacts
  draft.run.programs = programsOf(origin)
  draft.run.unpinned = new Set(origin.unpinned)
}

function applyPayload(draft: RunDraft, payload: EventPayload): void {
  switch (payload.kind) {
    case 'event':
      return applyEvent(draft, payload.event, placeOf(draft, payload.event))
    case 'guard':
    case 'policies':
    case 'invariant':
      return
    case 'fired':
      return applyFired(draft, draft.edgeNamed(payload.edge_id), payload.round)
    case 'entered': {
      const { node_id, round, cause, is_fresh } = payload
      return applyEntered(draft, draft.nodeNamed(node_id), round, cause, is_fresh)
    }
    case 'joined':
      draft.ownNode(draft.nodeNamed(payload.node_id)).round = payload.round
      return
    case 'heard':
      return applyHeard(draft, draft.nodeNamed(payload.node_id), payload.names)
    case 'called':
      return applyCalled(draft, draft.edgeNamed(payload.edge_id), payload.round)
    case 'returned':
      return applyReturned(draft, draft.edgeNamed(payload.edge_id), payload.outcome)
    case 'commanded':
      return applyCommand(draft, payload.command, placeOf(draft, payload.command))
    case 'status':
      return applyStatus(draft, draft.nodeNamed(payload.node_id), payload.status)
    case 'held':
      return draft.setHeld(draft.nodeNamed(payload.node_id), true)
    case 'released':
      return applyReleased(draft, draft.nodeNamed(payload.node_id))
    case 'field':
      draft.run.fields = { ...draft.run.fields, [payload.name]: payload.value }
      return
    case 'phase_ended':
      return draft.patchPhase(draft.phaseNamed(payload.phase_id), { isActive: false })
    case 'phase_blocked':
      return applyPhaseBlocked(draft, payload.phase_id)
    case 'refused':
      draft.run.isRefused = true
      return
    case 'ended':
      draft.run.ended = payload.status
      return
    // `applyWork` has a case for each of the others.
    default:
      return applyWork(draft, payload)
  }
}

function applyWork(
  draft: RunDraft,
  payload: Extract<
    EventPayload,
    { kind: 'attempt_failed' | 'artifact' | 'staged' | 'voided' | 'reviewed' }
  >,
): void {
  const index = draft.nodeNamed(payload.node_id)
  switch (payload.kind) {
    case 'attempt_failed':
      return draft.patchWork(index, { lastError: payload.error, answer: null })
    case 'artifact':
      return applyArtifact(draft, index, payload)
    case 'staged':
      return applyStaged(draft, index, payload)
    case 'voided':
      return draft.patchWork(index, { stage: null, approvals: [], verdict: 'PENDING' })
    case 'reviewed':
      return applyReview(draft, index, payload)
    default:
      return payload satisfies never
  }
}

/** Returns the index of the node that an event or a command names; -1 if it names none. */
export function placeOf(draft: RunDraft, named: FlowEvent | CommandBody): number {
  return 'node_id' in named ? draft.nodeNamed(named.node_id) : -1
}

export function applyStatus(draft: RunDraft, index: number, status: NodeStatus): void {
  const node = draft.ownNode(index)
  node.pending = null
  if (status === 'done' || status === 'abandoned') node.deadline = null
  // What held the node where it was is over: it is somewhere else.
  if (draft.run.rules >= 4 && draft.nodes.get(index).isHeld) draft.setHeld(index, false)
  draft.setStatus(index, status)
  const isDue = status === 'submitted' || status === 'provisional'
  for (const check of draft.nodeOf(index).firstChecks)
    if (draft.nodes.get(check).isDue !== isDue) draft.ownNode(check).isDue = isDue
}

export function applyFired(draft: RunDraft, edge: CompiledEdge, round: number): void {
  const before = draft.fired.get(edge.index)
  draft.fired.set(edge.index, Math.max(round, 1))
  // Neither a review nor a call counts: the node leaves by its other edges afterwards.
  if (!edge.isReview && !isCallFirst(edge)) draft.ownNode(edge.source).hasFired = true
  draft.setHeld(edge.source, false)
  if (before === 0) countArrival(draft, edge, 1)
  if (edge.isCall) awaitCall(draft, edge)
  if (draft.run.rules >= 6 && edge.isBack) awaitGate(draft, edge, round)
}

function applyHeard(draft: RunDraft, index: number, names: readonly string[]): void {
  const node = draft.ownNode(index)
  const counts = names.map((name) => [name, draft.run.signals.get(name)?.count ?? 0] as const)
  node.heard = { ...node.heard, ...Object.fromEntries(counts) }
}

/** Its ways are tried again, and a call that failed may be made again. */
function applyReleased(draft: RunDraft, index: number): void {
  forgetFailedCalls(draft, index)
  draft.setHeld(index, false)
}

/** The edge of a call that failed may fire again. */
function applyReturned(draft: RunDraft, edge: CompiledEdge, outcome: CallOutcome): void {
  if (outcome === 'left') closeRegion(draft, edge)
  endCall(draft, edge)
  if (outcome !== 'failed' || draft.fired.get(edge.index) === 0) return
  draft.fired.set(edge.index, 0)
  countArrival(draft, edge, -1)
  const caller = draft.ownNode(edge.source)
  caller.failedCalls = [...caller.failedCalls, edge.index]
}

function forgetFailedCalls(draft: RunDraft, index: number): void {
  if (draft.nodes.get(index).failedCalls.length > 0) draft.ownNode(index).failedCalls = []
}

export function applyEntered(
  draft: RunDraft,
  index: number,
  round: number,
  cause: EntryCause,
  isFresh: boolean,
): void {
  const node = draft.ownNode(index)
  node.walk = walkOf(draft, index, round, cause)
  if (node.entries > 0) leaveBehind(draft, index)
  forgetBacks(draft, index)
  const { work } = node
  const hasRun = work.answer !== null || work.readings !== null || work.lastError !== null
  draft.setStatus(index, 'running', true)
  draft.setHeld(index, false)
  forgetFailedCalls(draft, index)
  node.round = round
  node.isDue = false
  node.attempts = (isFresh ? 0 : node.attempts) + 1
  node.entries += 1
  node.hasFired = false
  node.isLeftBehind = false
  node.pending = null
  if (hasRun || work.toolCalls > 0 || work.stage !== null || work.startedAt !== null)
    node.work = againWork(work)
  draft.run.round = Math.max(draft.run.round, round)
  draft.ownTotals().attempts += 1
  draft.countAttempt(index)
}

/** Returns the walk that an entry belongs to: of a CHECK, the one of the work that it judges. */
function walkOf(draft: RunDraft, index: number, round: number, cause: EntryCause): number {
  if (draft.run.rules < 4) return round
  const { walk, hasFired } = draft.nodes.get(index)
  const hasLed = draft.run.rules < 5 ? hasFired : hasLedOn(draft, index)
  if (cause === 'rerun') return hasLed ? round : Math.max(walk, 1)
  const { target } = draft.nodeOf(index)
  const judged = target === -1 ? null : draft.nodes.get(target)
  return judged?.round === round ? judged.walk : round
}

/** Returns the work of a node at the beginning of a later attempt. */
function againWork(work: WorkState): WorkState {
  return {
    ...work,
    answer: null,
    asks: 0,
    errors: [],
    retries: 0,
    toolCalls: 0,
    isGateBlocked: false,
    startedAt: null,
    approvals: [],
    readings: null,
    previous: work.artifact ?? work.previous,
    stage: null,
    dependents: [],
    // A REJECT holds until a CHECK approves; an APPROVE was for an earlier version.
    verdict: work.isLocked ? 'REJECT' : 'PENDING',
  }
}

export function applyCommand(draft: RunDraft, command: FlowCommand, place: number): void {
  if (command.type === 'write_log')
    return draft.patchPhase(draft.phaseNamed(command.phase_id), { pending: command })
  if (command.type === 'write_manifest')
    return draft.patchSubphase(draft.subphaseNamed(command.subphase_id), { pending: command })
  if (command.type === 'stop') return
  if (command.type === 'deadline') {
    draft.ownNode(place).deadline = command
    return
  }
  draft.ownNode(place).pending = command
  if (command.type === 'roll_back') {
    closeBehind(draft, draft.nodeNamed(command.back_to))
    forgetBacks(draft, draft.nodeNamed(command.back_to))
  }
  if (command.type !== 'run_participant') return
  const { stands_on: bases, review: pin } = command
  draft.patchWork(place, { answer: null, asks: 0, bases, pin })
}

function applyArtifact(
  draft: RunDraft,
  index: number,
  { path, digest, format }: Extract<EventPayload, { kind: 'artifact' }>,
): void {
  const { answer } = draft.nodes.get(index).work
  const document = answer?.kind === 'action' ? answer.document : null
  const content = document?.result_type === 'ARTIFACT' ? document.artifact.content : ''
  draft.patchWork(index, {
    artifact: { path, digest, format, content },
    lastError: null,
    isUnplaced: false,
  })
}

function applyStaged(
  draft: RunDraft,
  index: number,
  { manifest, stands_on }: Extract<EventPayload, { kind: 'staged' }>,
): void {
  draft.patchWork(index, {
    stage: { manifest, standsOn: stands_on, actionId: null, promotedSeq: -1 },
  })
  for (const base of stands_on) {
    const below = draft.nodeNamed(base.node_id)
    const { dependents } = draft.nodes.get(below).work
    if (!dependents.includes(index)) draft.patchWork(below, { dependents: [...dependents, index] })
  }
}

function applyReview(
  draft: RunDraft,
  index: number,
  { check_id, verdict, score, artifact_digest }: Extract<EventPayload, { kind: 'reviewed' }>,
): void {
  const check = draft.nodeNamed(check_id)
  const { answer } = draft.nodes.get(check).work
  const { work } = draft.nodes.get(index)
  const review = answer?.kind === 'review' ? answer.document : null
  const isRejected = verdict === 'REJECT'
  draft.patchWork(index, {
    verdict,
    score,
    lastReview: review,
    isLocked: verdict === 'APPROVE' ? false : isRejected || work.isLocked,
    ...(isRejected && draft.run.rules >= 10 ? { isUnplaced: false } : {}),
    rejected:
      isRejected && artifact_digest !== null ? [...work.rejected, artifact_digest] : work.rejected,
    approvals:
      verdict === 'APPROVE' && !work.approvals.includes(check)
        ? [...work.approvals, check]
        : work.approvals.filter((one) => one !== check || verdict === 'APPROVE'),
  })
  // A CHECK that is called judges its caller, and its guards go by the verdict as well.
  const isOfCaller = index !== check && draft.nodeOf(check).target === -1
  if (isOfCaller) draft.patchWork(check, { verdict, score, lastReview: review })
  if (!isRejected) return
  countRejection(draft, index)
  if (isOfCaller) draft.patchWork(check, { rejections: draft.nodes.get(check).work.rejections + 1 })
}

function countRejection(draft: RunDraft, index: number): void {
  const { rejections } = draft.nodes.get(index).work
  draft.patchWork(index, { rejections: rejections + 1 })
  draft.ownTotals().rejections += 1
  draft.addToSpans(index, (span) => ({ rejections: span.rejections + 1 }))
}

function applyPhaseBlocked(draft: RunDraft, phaseId: string): void {
  const phase = draft.phaseNamed(phaseId)
  if (draft.phases.get(phase).isBlocked) return
  draft.patchPhase(phase, { isBlocked: true })
}

/** Findings that say nothing about the work. */
const NO_ISSUE: ReadonlySet<string> = new Set([
  'flow.time_floor',
  'flow.answer_late',
  'flow.tools_ignored',
  'flow.waiting',
])

/** Any finding of a phase but the time floor is an issue that more time does not mend. */
function applyFinding(draft: RunDraft, { code, node_id, action }: RunFinding): void {
  if (node_id === undefined) return
  const index = draft.nodeNamed(node_id)
  if (action === 'reject') countRejection(draft, refusedAt(draft, index))
  if (NO_ISSUE.has(code)) return
  const { phase } = draft.nodeOf(index)
  if (!draft.phases.get(phase).hasOtherIssue) draft.patchPhase(phase, { hasOtherIssue: true })
}

/** What a policy refuses at the way of a CHECK is the work that the CHECK judged. */
function refusedAt(draft: RunDraft, node: number): number {
  const { target } = draft.nodeOf(node)
  return draft.run.rules >= 4 && target !== -1 ? target : node
}

function applyClaim(draft: RunDraft, { claim, principal, participant }: ClaimPayload): void {
  const index = draft.nodeNamed(claim.node_id)
  const { claims } = draft.nodes.get(index).work
  const known = claims.find((one) => one.claim.claim_id === claim.claim_id)
  // A claim that is recorded again says something else, which no evidence is about.
  const evidence = draft.run.rules < 4 ? (known?.evidence ?? []) : []
  const others = claims.filter((one) => one !== known)
  draft.patchWork(index, { claims: [...others, { claim, principal, participant, evidence }] })
  if (known === undefined) draft.nameClaim(claim.claim_id, index)
}

function applyEvidence(
  draft: RunDraft,
  { evidence, principal, participant }: EvidencePayload,
): void {
  const index = draft.run.claimNodes.get(evidence.claim_id)
  if (index === undefined) return
  const { claims } = draft.nodes.get(index).work
  const { evidence_id: evidenceId, supports } = evidence
  const added = { evidenceId, principal, participant, supports }
  draft.patchWork(index, {
    claims: claims.map((one) =>
      one.claim.claim_id === evidence.claim_id
        ? { ...one, evidence: [...one.evidence, added] }
        : one,
    ),
  })
}
