/**
 * The closed lists of flow documents (F-1a), and the names that exist without being declared:
 * state fields that the host keeps, invariants that are built in, text policies that are on.
 */

export const NODE_KINDS = ['WORK', 'CHECK', 'GOAL'] as const
export type NodeKind = (typeof NODE_KINDS)[number]

/** The eight classes of edges; the taxonomy is that of seed 004 §2 and does not grow. */
export const EDGE_CLASSES = [
  'Progress',
  'Gate',
  'Decision',
  'Exception',
  'Loop',
  'Rollback',
  'Sync',
  'Meta',
] as const
export type EdgeClass = (typeof EDGE_CLASSES)[number]

export const GUARD_SCOPES = ['phase', 'subphase', 'global', 'attempt'] as const
export const GUARD_TYPES = ['numeric', 'boolean', 'enum_match', 'set_membership'] as const
export const GUARD_FAIL_ACTIONS = ['block', 'reroute', 'rerun', 'escalate'] as const
export const TRUST_REQUIREMENTS = ['none', 'independent_verification_required'] as const
/** A node that failed or is blocked, or a review that said REJECT. */
export const EXCEPTION_CAUSES = ['failure', 'reject'] as const
export const JOINS = ['AND', 'OR'] as const

export const OVERRIDE_MODES = ['hard_override', 'soft_override', 'merge'] as const
/** The last one is not in the list of seed 004 §3.3 but in its example. */
export const VIOLATION_ACTIONS = [
  'reject',
  'rerun',
  'block',
  'alert',
  'continue_with_workaround',
] as const
export const TEXT_KINDS = ['output', 'message', 'summary'] as const

export const ACCESS_MODES = ['read', 'write', 'exec'] as const
export const TRUST_LEVELS = [
  'internal_authoritative',
  'external_unverified',
  'verified_independent',
] as const
export const VERIFICATION_STATUSES = ['pending', 'verified', 'rejected'] as const

export const CHECK_TIMINGS = ['post_phase', 'pre_phase', 'on_transition', 'periodic'] as const
export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
export const FAIL_ACTIONS = ['block', 'rerun', 'alert'] as const

export const VALIDATOR_VERDICTS = ['APPROVE', 'REJECT', 'PENDING'] as const
export const STATE_TYPES = ['int', 'double', 'bool', 'string'] as const

/** The fields of seed 004 §3.2, and two that its examples read (F-1b). Only the host sets them. */
export const HOST_FIELDS = [
  'phase_id',
  'subphase_id',
  'attempt_count',
  'cumulative_duration',
  'minimum_duration',
  'validator_verdict',
  'gate_passed',
  'required_files_exist',
  'tool_calls',
  'rejection_count',
  'score',
  'previous_output_path',
  'log_updated_after_phase',
  'non_time_issue',
  'phase_completed',
] as const
export type HostField = (typeof HOST_FIELDS)[number]

/** Invariants that hold in every flow (F-4). */
export const BUILT_IN_INVARIANTS = [
  'TIME_HARD_FLOOR',
  'TOOL_USE_NONZERO',
  'VALIDATOR_APPROVAL_REQUIRED',
  'ORCH_LOG_IMMEDIATE_UPDATE',
] as const

/** Text policies that are on in every flow (F-9). */
export const DEFAULT_TEXT_POLICIES = ['NO_RATIONALISING', 'NO_ASK_TO_CONTINUE'] as const
