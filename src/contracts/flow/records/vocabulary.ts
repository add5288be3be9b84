/** The closed lists of the records that a run of a flow leaves. */
import type { Code } from '../../../base/index.ts'

/** What a record of an event tells: what came in, what was judged, what followed. */
export const FLOW_EVENT_KINDS = [
  'event',
  'guard',
  'policies',
  'invariant',
  'fired',
  'entered',
  'joined',
  'called',
  'returned',
  'commanded',
  'attempt_failed',
  'artifact',
  'staged',
  'voided',
  'reviewed',
  'status',
  'held',
  'released',
  'field',
  'phase_ended',
  'phase_blocked',
  'refused',
  'ended',
] as const

/** The codes that a finding of a run may have. */
export const FINDING_CODES = [
  'flow.time_floor',
  'flow.approval_required',
  'flow.tool_use_zero',
  'flow.log_not_updated',
  'flow.access_denied',
  'flow.claim_unverified',
  'flow.evidence_mismatch',
  'flow.policy_conflict',
  'flow.policy_triggered',
  'flow.invariant_violated',
  'flow.text_policy',
  'flow.delta_missing',
  'flow.manifest_mismatch',
  'flow.guard_false',
  'flow.decision_ambiguous',
  'flow.decision_none',
  'flow.task_mismatch',
  'flow.stage_void',
  'flow.access_unenforceable',
  'flow.escalated',
  'flow.budget',
  'flow.incomplete',
  'flow.attempt_failed',
  'flow.output_invalid',
  'flow.promotion_refused',
  'flow.rollback_failed',
  'flow.evidence_unreadable',
  'flow.tools_ignored',
  'flow.call_failed',
] as const satisfies readonly Code[]

/** What was done about a finding. */
export const FINDING_ACTIONS = [
  'alert',
  'block',
  'continue_with_workaround',
  'escalate',
  'refuse',
  'reject',
  'rerun',
  'reroute',
] as const
