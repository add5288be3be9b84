/** The state of a run as people and programs read it: the host's fields at its present place, and the flow's own. */
import type { CompiledFlow } from '../compile/compiled-flow.ts'
import type { FlowFact } from '../state/fact.ts'
import type { RunState } from '../state/state.ts'
import { elementAt } from '../state/vector.ts'

/** Returns the fields of the flow and, once the run has entered a node, the host's fields there. */
export function stateView(
  flow: CompiledFlow,
  facts: readonly FlowFact[],
  state: RunState,
): Readonly<Record<string, unknown>> {
  const nodeId = lastEntered(facts)
  const node = flow.nodes[nodeId === null ? -1 : (flow.nodeIndex.get(nodeId) ?? -1)]
  if (node === undefined) return { ...state.fields }
  const subject = node.target === -1 ? node.index : node.target
  const { attempts, work } = elementAt(state.nodes, subject)
  const span = elementAt(state.phases, node.phase)
  const { document } = node
  return {
    ...state.fields,
    phase_id: document.phase_id,
    subphase_id: document.subphase_id ?? null,
    attempt_count: attempts,
    cumulative_duration: span.seconds,
    minimum_duration: flow.phases[node.phase]?.minimumDuration ?? 0,
    validator_verdict: work.verdict,
    gate_passed: work.gatePassed,
    required_files_exist: work.filesExist || flow.nodes[subject]?.isBare === true,
    tool_calls: work.toolCalls,
    rejection_count: work.rejections,
    score: work.score,
    previous_output_path: (work.artifact ?? work.previous)?.path ?? null,
    log_updated_after_phase: span.isLogged,
    non_time_issue: span.hasOtherIssue,
    phase_completed: span.open === 0 && !span.isActive,
  }
}

/** Prefers the last node that ran a participant: a GOAL, which runs none, tells less. */
function lastEntered(facts: readonly FlowFact[]): string | null {
  for (let index = facts.length - 1; index >= 0; index--) {
    const fact = facts[index]
    if (fact?.type === 'flow_event_v1' && fact.payload.kind === 'commanded') {
      const { command } = fact.payload
      if (command.type === 'run_participant') return command.node_id
    }
  }
  const entered = facts.findLast(
    ({ type, payload }) => type === 'flow_event_v1' && payload.kind === 'entered',
  )
  return entered?.type === 'flow_event_v1' && entered.payload.kind === 'entered'
    ? entered.payload.node_id
    : null
}
