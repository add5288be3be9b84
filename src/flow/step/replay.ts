/**
 * Replays a run. Its facts include the events that came in, so stepping through these events again must
 * give the same facts: every guard, policy, invariant and command with its values.
 */
import { canonicalJson } from '../../base/index.ts'
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowEvent } from '../state/event.ts'
import type { FlowFact } from '../state/fact.ts'
import { emptyState } from '../state/state.ts'
import { step } from './step.ts'

/** The first fact that differs from the computed one; null in place of a missing fact. */
export interface RunDifference {
  readonly seq: number
  readonly recorded: FlowFact | null
  readonly computed: FlowFact | null
}

/** Returns the event that a fact records; null for a fact that follows from an event. */
export function eventOf(fact: FlowFact): FlowEvent | null {
  const { type, payload } = fact
  switch (type) {
    case 'flow_started_v1': {
      const { run_id, at, nonce, origin } = payload
      return { type: 'started', run_id, at, nonce, ...(origin === undefined ? {} : { origin }) }
    }
    case 'flow_event_v1':
      return payload.kind === 'event' ? payload.event : null
    case 'flow_evidence_v1': {
      const { evidence, principal, participant, at, nonce } = payload
      return nonce === undefined
        ? null
        : { type: 'evidence', evidence, principal, participant, at, nonce }
    }
    case 'participant_output_v1': {
      const { run_id: _, seq: __, ...output } = payload
      return { type: 'participant_output', ...output }
    }
    case 'flow_finding_v1':
    case 'flow_claim_v1':
      return null
    default:
      return fact satisfies never
  }
}

/** Returns the first difference; null if the flow and the events give exactly these facts. */
export function replayRun(flow: CompiledFlow, facts: readonly FlowFact[]): RunDifference | null {
  let state = emptyState(flow)
  let seq = 0
  for (let recorded = facts[0]; recorded !== undefined; recorded = facts[seq]) {
    const event = eventOf(recorded)
    if (event === null) return { seq, recorded, computed: null }
    const { facts: computed, state: next } = step(state, event)
    if (computed.length === 0) return { seq, recorded, computed: null }
    for (const [index, fact] of computed.entries()) {
      const other = facts[seq + index] ?? null
      if (other === null || canonicalJson(other) !== canonicalJson(fact))
        return { seq: seq + index, recorded: other, computed: fact }
    }
    state = next
    seq += computed.length
  }
  return null
}
