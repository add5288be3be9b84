/**
 * The words of the constitution family as data: what each field of the three inputs may say, the
 * verdicts, and the registry of action codes. The constitution cannot add a word to any of them;
 * another registry of action codes is handed in from outside, as `action_codes` of the context.
 */
import type { Context } from '../kernel/contract.ts'

export const VERDICTS = ['ALLOW', 'DENY', 'UNDETERMINED'] as const
export type VerdictWord = (typeof VERDICTS)[number]

export const COMBINE_STRATEGIES = ['FIRST_MATCH', 'DENY_OVERRIDES'] as const
export type CombineStrategy = (typeof COMBINE_STRATEGIES)[number]

export const RULE_OWNER = 'Control Constitution'

/** The AO registry: the action codes in force unless the context names another registry. */
export const ACTION_CODES = [
  'AO-ENTER',
  'AO-APPLY',
  'AO-REMOVE',
  'AO-STRUCT',
  'AO-EXTRACT',
  'AO-SENSE',
] as const

export const PROBLEM_TYPES = [
  'INSUFFICIENT_EVIDENCE',
  'TIME_COVERAGE_GAPPY',
  'EVIDENCE_STALE',
  'EVIDENCE_CONFLICT',
  'REFERENCE_CONFLICT',
  'SENSOR_SUSPECT',
  'SENSOR_HEALTH_DEGRADED',
  'QC_CONTAMINATION',
  'REFERENCE_MISSING',
  'SCALE_POLICY_BLOCKED',
  'WINDOW_NOT_SUPPORT',
  'EXCLUSION_WINDOW_ACTIVE',
  'MARKER_PRESENT',
] as const

export const CONFIDENCES = ['HIGH', 'MEDIUM', 'LOW', 'UNKNOWN'] as const

export const STATE_LAYER_HINTS = ['atomic', 'derived', 'memory', 'unknown'] as const

export const RATE_CLASS_HINTS = ['fast', 'mid', 'slow', 'unknown'] as const

export const PROBLEM_SCOPES = ['sensor_point', 'spatial_unit', 'reference_view', 'unknown'] as const

/** Sources of uncertainty as a problem state names them; the envelope has words of its own. */
export const STATE_UNCERTAINTY_SOURCES = [
  'SPARSE_SAMPLING',
  'MISSING_KEY_METRIC',
  'TIME_GAPS',
  'STALE_EVIDENCE',
  'MULTI_SOURCE_CONFLICT',
  'MULTI_METRIC_CONFLICT',
  'QC_SUSPECT_OR_BAD',
  'SENSOR_HEALTH_ISSUE',
  'REFERENCE_NOT_AVAILABLE',
  'SCALE_POLICY_LIMITATION',
  'EXCLUSION_WINDOW',
  'MARKER_DEPENDENCY',
] as const

export const ENVELOPE_UNCERTAINTY_SOURCES = [
  'EVIDENCE_SPARSE',
  'EVIDENCE_STALE',
  'EVIDENCE_CONFLICT',
  'REFERENCE_MISSING',
  'REFERENCE_CONFLICT',
  'SCALE_POLICY_BLOCKED',
  'QC_CONTAMINATION',
  'SENSOR_HEALTH_DEGRADED',
] as const

export const EVIDENCE_KINDS = [
  'ledger_slice',
  'state_vector',
  'reference_view',
  'qc_summary',
] as const

/** The registry in force: `action_codes` of the context where it is a list of strings, else AO. */
export function actionCodesOf(context: Context): ReadonlySet<string> {
  const given = Object.hasOwn(context, 'action_codes') ? context['action_codes'] : undefined
  return new Set(isStringList(given) ? given : ACTION_CODES)
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
