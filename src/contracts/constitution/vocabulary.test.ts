/** The words as literals, and which registry of action codes is in force. */
import { describe, expect, it } from 'vitest'
import { PATHS } from './paths.ts'
import { actionCodesOf, COMBINE_STRATEGIES, EVIDENCE_KINDS, VERDICTS } from './vocabulary.ts'

const WORDS: Readonly<Record<string, string>> = {
  'problem_state.problem_type':
    'INSUFFICIENT_EVIDENCE TIME_COVERAGE_GAPPY EVIDENCE_STALE EVIDENCE_CONFLICT REFERENCE_CONFLICT ' +
    'SENSOR_SUSPECT SENSOR_HEALTH_DEGRADED QC_CONTAMINATION REFERENCE_MISSING SCALE_POLICY_BLOCKED ' +
    'WINDOW_NOT_SUPPORT EXCLUSION_WINDOW_ACTIVE MARKER_PRESENT',
  'problem_state.confidence': 'HIGH MEDIUM LOW UNKNOWN',
  'problem_state.state_layer_hint': 'atomic derived memory unknown',
  'problem_state.rate_class_hint': 'fast mid slow unknown',
  'problem_state.problem_scope': 'sensor_point spatial_unit reference_view unknown',
  'problem_state.uncertainty_sources[]':
    'SPARSE_SAMPLING MISSING_KEY_METRIC TIME_GAPS STALE_EVIDENCE MULTI_SOURCE_CONFLICT ' +
    'MULTI_METRIC_CONFLICT QC_SUSPECT_OR_BAD SENSOR_HEALTH_ISSUE REFERENCE_NOT_AVAILABLE ' +
    'SCALE_POLICY_LIMITATION EXCLUSION_WINDOW MARKER_DEPENDENCY',
  'uncertainty_envelope.uncertainty_sources[]':
    'EVIDENCE_SPARSE EVIDENCE_STALE EVIDENCE_CONFLICT REFERENCE_MISSING REFERENCE_CONFLICT ' +
    'SCALE_POLICY_BLOCKED QC_CONTAMINATION SENSOR_HEALTH_DEGRADED',
}

describe('the vocabularies', () => {
  it.each(Object.entries(WORDS))('%s', (path, words) => {
    expect(PATHS[path as keyof typeof PATHS].vocabulary).toEqual(words.split(' '))
  })

  it('has three verdicts, two ways to combine and four kinds of evidence', () => {
    expect(VERDICTS).toEqual(['ALLOW', 'DENY', 'UNDETERMINED'])
    expect(COMBINE_STRATEGIES).toEqual(['FIRST_MATCH', 'DENY_OVERRIDES'])
    expect(EVIDENCE_KINDS).toEqual(['ledger_slice', 'state_vector', 'reference_view', 'qc_summary'])
  })
})

describe('the registry of action codes', () => {
  const ao = ['AO-ENTER', 'AO-APPLY', 'AO-REMOVE', 'AO-STRUCT', 'AO-EXTRACT', 'AO-SENSE']

  it('is AO unless another is handed in', () => {
    expect([...actionCodesOf({})]).toEqual(ao)
    expect([...actionCodesOf({ action_codes: ['X', 'Y'] })]).toEqual(['X', 'Y'])
    expect([...actionCodesOf({ action_codes: [] })]).toEqual([])
  })

  it.each([[null], ['AO-FLY'], [['AO-FLY', 3]], [{ length: 1 }]])('ignores %j', (given) => {
    expect([...actionCodesOf({ action_codes: given })]).toEqual(ao)
  })
})
