/** What an event does to the state by itself, before anything is concluded from it. */
import type { RunDraft } from './draft.ts'
import type { EventOf, FlowEvent } from './event.ts'
import type { PayloadOf } from './fact.ts'
import { reopenWays } from './firings.ts'
import { forgetRejections, programsOf } from './rejections.ts'
import { passedWork, unblockedBy } from './state.ts'

/** `place` is the index of the node that the event names; -1 when it names none. */
export function applyEvent(draft: RunDraft, event: FlowEvent, place: number): void {
  switch (event.type) {
    case 'gate_decision':
      return applyDecision(draft, event, place)
    case 'attempt_ended':
      return applyAttemptEnd(draft, event, place)
    case 'passed':
      return applyPassed(draft, place)
    case 'evidence_read': {
      draft.patchWork(place, { readings: event.readings })
      draft.ownNode(place).pending = null
      return
    }
    case 'human_answer': {
      const node = draft.ownNode(place)
      node.pending = null
      if (event.answer === 'retry') node.granted += 1
      return
    }
    case 'unblocked':
      draft.ownNode(unblockedBy(draft, place)).granted += 1
      if (draft.nodes.get(place).work.readings !== null) draft.patchWork(place, { readings: null })
      return
    case 'promoted':
    case 'rolled_back':
      return applyActed(draft, event, place)
    case 'log_written':
      return draft.patchPhase(draft.phaseNamed(event.phase_id), {
        pending: null,
        isLogged: event.digest !== null,
        isLogFailed: event.digest === null,
        ...(event.digest === null ? {} : { isBlocked: false }),
      })
    case 'manifest_written':
      return draft.patchSubphase(draft.subphaseNamed(event.subphase_id), {
        pending: null,
        manifest: event.digest,
        isActive: false,
      })
    case 'attempt_started':
      return applyStarted(draft, event)
    case 'list_read':
      draft.ownNode(place).pending = null
      return
    case 'migrated':
      return applyMigrated(draft, event)
    case 'started':
    case 'participant_output':
    case 'evidence':
    case 'access_refused':
    case 'answer_late':
    case 'cancelled':
    case 'tick':
      return
    case 'skipped':
      return applySkipped(draft, place)
    case 'budget_set':
      draft.run.limits = { ...draft.run.limits, ...event.limits }
      return
    case 'timer': {
      const node = draft.ownNode(place)
      if (node.deadline?.command !== event.command) return
      node.deadline = null
      return applyMissed(draft, event.at, place)
    }
    case 'signal':
      return applySignal(draft, event)
    case 'resumed':
      draft.run.isRefused = false
      return
    default:
      return event satisfies never
  }
}

function applyMigrated(draft: RunDraft, event: EventOf<'migrated'>): void {
  if (draft.run.rules >= 10) forgetRejections(draft, event)
  draft.run.programs = programsOf(event)
  draft.run.unpinned = new Set(event.unpinned)
}

function applySkipped(draft: RunDraft, place: number): void {
  // Nothing of the work is left that a verdict could be about.
  if (draft.run.rules >= 10) draft.patchWork(place, { verdict: 'PENDING', score: null })
  reopenWays(draft, place)
}

function applySignal(draft: RunDraft, { name, data }: EventOf<'signal'>): void {
  const { count = 0 } = draft.run.signals.get(name) ?? {}
  const heard = { count: count + 1, data: data ?? null }
  draft.run.signals = new Map(draft.run.signals).set(name, heard)
}

/**
 * A run that was interrupted is run again as the same attempt, so what it asked for and answered does
 * not count. How often an answer was asked for goes on counting while it is asked for again.
 */
function applyStarted(draft: RunDraft, { node_id, at }: EventOf<'attempt_started'>): void {
  const index = draft.nodeNamed(node_id)
  const { work, pending } = draft.nodes.get(index)
  if (isTimed(draft, index) && (pending?.type !== 'ask_again' || work.startedAt === null))
    draft.patchWork(index, { startedAt: at })
  const { toolCalls, isGateBlocked, answer, asks } = work
  if (toolCalls === 0 && !isGateBlocked && answer === null && asks === 0) return
  const isAgain = pending?.type === 'ask_again'
  const fresh = { answer: null, asks: isAgain ? asks : 0, toolCalls: 0, isGateBlocked: false }
  draft.patchWork(index, fresh)
  if (toolCalls === 0) return
  const { totals } = draft.run
  draft.run.totals = { ...totals, toolCalls: totals.toolCalls - toolCalls }
  draft.addToSpans(index, (span) => ({ toolCalls: span.toolCalls - toolCalls }))
}

/** Returns whether a deadline may end an attempt at the node. The time that a person takes is no work. */
function isTimed(draft: RunDraft, index: number): boolean {
  const { kind, deadline, executor, reviewer } = draft.nodeOf(index).document
  const participant = kind === 'CHECK' ? reviewer : executor
  const isPerson = participant === undefined || 'human' in participant
  return draft.run.rules >= 3 && deadline !== undefined && !isPerson
}

/** A deadline ends the attempt under way: what it took counts, as of an attempt that ended. */
function applyMissed(draft: RunDraft, at: string, index: number): void {
  const { pending, work } = draft.nodes.get(index)
  const { startedAt } = work
  const isUnderWay = pending?.type === 'run_participant' || pending?.type === 'ask_again'
  if (startedAt === null || !isUnderWay) return
  addSeconds(draft, index, Math.max(0, Date.parse(at) - Date.parse(startedAt)) / 1000)
}

function addSeconds(draft: RunDraft, index: number, seconds: number): void {
  const { totalSeconds } = draft.nodes.get(index).work
  draft.patchWork(index, { seconds, totalSeconds: totalSeconds + seconds, startedAt: null })
  draft.ownTotals().seconds += seconds
  draft.addToSpans(index, (span) => ({ seconds: span.seconds + seconds }))
}

/** Only what a WORK node asked for and the gate let through is a tool call. */
function applyDecision(draft: RunDraft, event: EventOf<'gate_decision'>, index: number): void {
  const { work } = draft.nodes.get(index)
  if (event.decision === 'BLOCK') return draft.patchWork(index, { isGateBlocked: true })
  if (draft.nodeOf(index).document.kind !== 'WORK') return
  draft.patchWork(index, { toolCalls: work.toolCalls + 1 })
  draft.ownTotals().toolCalls += 1
  draft.addToSpans(index, ({ toolCalls }) => ({ toolCalls: toolCalls + 1 }))
}

function applyAttemptEnd(draft: RunDraft, event: EventOf<'attempt_ended'>, index: number): void {
  const { work } = draft.nodes.get(index)
  draft.ownNode(index).pending = null
  draft.patchWork(index, {
    gatePassed: !work.isGateBlocked,
    filesExist: event.required_files_exist,
    principal: event.principal,
    retries: work.retries + (event.outcome === 'unreachable' ? 1 : 0),
  })
  addSeconds(draft, index, event.seconds)
  draft.ownTotals().tokens += event.tokens
}

/** Sets `gatePassed`: no participant ran, so the gate blocked nothing. */
function applyPassed(draft: RunDraft, index: number): void {
  const node = draft.ownNode(index)
  node.pending = null
  if (!node.work.gatePassed) node.work = passedWork(node.work)
}

function applyActed(
  draft: RunDraft,
  event: EventOf<'promoted'> | EventOf<'rolled_back'>,
  index: number,
): void {
  const { work, pending } = draft.nodes.get(index)
  const { stage, acts } = work
  // A promotion that the run no longer waits for is an act all the same.
  const isAwaited = pending?.command === event.command
  if (isAwaited) draft.ownNode(index).pending = null
  if (event.type === 'rolled_back') {
    if (!event.is_restored) return
    const undone = pending?.type === 'roll_back' ? pending.action_id : null
    const isCurrent = stage?.actionId === undone || draft.run.rules < 3
    const left = acts.filter(({ actionId }) => actionId !== undone)
    return draft.patchWork(index, { acts: left, ...(isCurrent ? { stage: null } : {}) })
  }
  if (stage === null && isAwaited) return
  const { manifest, action_id: actionId } = event
  const { seq } = draft.run
  const act = actionId === null ? [] : [{ actionId, seq, calls: callsAround(draft, index) }]
  draft.patchWork(index, {
    acts: [...acts, ...act],
    ...(stage !== null && isAwaited
      ? { stage: { ...stage, manifest, actionId, promotedSeq: seq }, isUnplaced: actionId === null }
      : {}),
  })
}

/** The calls under way that a node works for, by their edges. */
function callsAround(draft: RunDraft, index: number): readonly number[] {
  return draft.flow.callNodes.flatMap(({ node, region }) => {
    const { call } = draft.nodes.get(node)
    return call !== -1 && region.includes(index) ? [call] : []
  })
}

export function applyOutput(
  draft: RunDraft,
  { node_id, answer, errors }: PayloadOf<'participant_output_v1'>,
): void {
  const index = draft.nodeNamed(node_id)
  const { asks } = draft.nodes.get(index).work
  draft.patchWork(
    index,
    answer === null ? { answer, asks: asks + 1, errors } : { answer, errors: [] },
  )
}
