/**
 * Shallow copies of the parts of a state, field by field: a copy that is spelt out costs a fraction of
 * a spread, and every step makes several. The compiler sees to it that no field is left out.
 */
import type { NodeState, RunState, RunTotals, SpanState } from './state.ts'

export function copyNode(node: NodeState): NodeState {
  return {
    status: node.status,
    round: node.round,
    attempts: node.attempts,
    entries: node.entries,
    granted: node.granted,
    synced: node.synced,
    joined: node.joined,
    reached: node.reached,
    hasFired: node.hasFired,
    isHeld: node.isHeld,
    pending: node.pending,
    work: node.work,
  }
}

export function copySpan(span: SpanState): SpanState {
  return {
    open: span.open,
    blocked: span.blocked,
    attempts: span.attempts,
    seconds: span.seconds,
    toolCalls: span.toolCalls,
    rejections: span.rejections,
    hasOtherIssue: span.hasOtherIssue,
    isActive: span.isActive,
    isBlocked: span.isBlocked,
    isLogged: span.isLogged,
    manifest: span.manifest,
    pending: span.pending,
  }
}

export function copyTotals(totals: RunTotals): RunTotals {
  return {
    attempts: totals.attempts,
    seconds: totals.seconds,
    tokens: totals.tokens,
    toolCalls: totals.toolCalls,
    rejections: totals.rejections,
  }
}

export function copyRun(run: RunState): RunState {
  return {
    runId: run.runId,
    seq: run.seq,
    at: run.at,
    round: run.round,
    open: run.open,
    acting: run.acting,
    waiting: run.waiting,
    stuck: run.stuck,
    failed: run.failed,
    spansPending: run.spansPending,
    totals: run.totals,
    ended: run.ended,
    isRefused: run.isRefused,
    fields: run.fields,
    claimNodes: run.claimNodes,
    nodes: run.nodes,
    fired: run.fired,
    phases: run.phases,
    subphases: run.subphases,
  }
}
