/** Which events a run waits for: every other one is stale, and changes nothing. */

import { isLostItem } from '../runtime/map.ts'
import { canSkip } from '../runtime/skip.ts'
import { isLateAct } from '../runtime/stage.ts'
import { isTimerDue, signalNames } from '../runtime/wait.ts'
import type { FlowCommand } from '../state/command.ts'
import type { RunDraft } from '../state/draft.ts'
import type { FlowEvent } from '../state/event.ts'
import { isStuckAt } from '../state/state.ts'

export function isStale(draft: RunDraft, event: FlowEvent, place: number): boolean {
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

export function answers(pending: FlowCommand | null, event: { readonly command: number }): boolean {
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
