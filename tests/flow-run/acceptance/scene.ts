/** Small flows for the acceptance tests: one working node, its judges, and what comes after. */
import type { Flow, FlowEdge, FlowNode } from '../../../src/contracts/index.ts'
import type { FlowFact } from '../../../src/flow/index.ts'

export function worker(node_id: string, more: Partial<FlowNode> = {}): FlowNode {
  return {
    node_id,
    kind: 'WORK',
    title: node_id,
    phase_id: 'P1',
    actor: 'writer',
    executor: { command: ['node', `${node_id}.mjs`] },
    max_attempts: 2,
    ...more,
  }
}

export function checker(node_id: string, target: string, more: Partial<FlowNode> = {}): FlowNode {
  return {
    node_id,
    kind: 'CHECK',
    title: node_id,
    phase_id: 'P1',
    actor: 'validator',
    reviewer: { command: ['node', `${node_id}.mjs`] },
    target,
    max_attempts: 4,
    ...more,
  }
}

export function goal(node_id: string, phase_id: string): FlowNode {
  return { node_id, kind: 'GOAL', title: node_id, phase_id, actor: 'director', max_attempts: 1 }
}

export function edge(source: string, target: string, more: Partial<FlowEdge> = {}): FlowEdge {
  return { edge_id: `${source}>${target}`, source, target, class: 'Progress', ...more }
}

export function flowOf(nodes: FlowNode[], edges: FlowEdge[], more: Partial<Flow> = {}): Flow {
  return { type: 'flow_v1', flow_id: 'acceptance', title: '', nodes, edges, ...more }
}

/** An artifact with this JavaScript expression as its content. */
export function artifact(content: string): string {
  return `answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: ${content} } })\n`
}

/** A review with this JavaScript expression as its score. */
export function review(score: string): string {
  return `answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: ${score}, action_required: 'MODIFY', summary: 's', breakdown: [], suggestions: [] })\n`
}

export function eventsOf(
  facts: readonly FlowFact[],
  kind: string,
): readonly Record<string, unknown>[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === kind
      ? [payload as unknown as Record<string, unknown>]
      : [],
  )
}

export function enteredIn(facts: readonly FlowFact[]): readonly unknown[] {
  return eventsOf(facts, 'entered').map(({ node_id }) => node_id)
}
