/** The rules and inputs of the tour. */

const rule = (id: string, inputs: readonly string[], guard: string, verdict: string) => ({
  rule_id: id,
  rule_version: '1.0.0',
  rule_owner: 'Control Constitution',
  action_code: 'AO-APPLY',
  inputs_used: inputs,
  guard,
  verdict,
})

const TYPE = 'problem_state.problem_type'
const CONFIDENCE = 'problem_state.confidence'

const head = {
  type: 'ruleset_v0',
  schema_version: '0.1.0',
  ruleset_id: 'apply',
  action_code: 'AO-APPLY',
  combine_strategy: 'DENY_OVERRIDES',
} as const

const conflictDenies = rule('conflict-denies', [TYPE], `EQ(${TYPE}, "EVIDENCE_CONFLICT")`, 'DENY')

export const RULESET = {
  ...head,
  rules: [conflictDenies, rule('sure-allows', [CONFIDENCE], `EQ(${CONFIDENCE}, "HIGH")`, 'ALLOW')],
}

export const LOOSER_RULESET = {
  ...head,
  rules: [
    conflictDenies,
    rule('sure-allows', [CONFIDENCE], `IN(${CONFIDENCE}, ["HIGH", "MEDIUM"])`, 'ALLOW'),
  ],
}

export const THRESHOLD_RULESET = {
  ...head,
  rules: [rule('too-dry', [CONFIDENCE], `${CONFIDENCE} > 0.8`, 'ALLOW')],
}

const subjectRef = { projectId: 'north-farm', plotId: '7' }
const window = { startTs: 1763193600000, endTs: 1763208000000 }

export const INPUTS = {
  problem_state: {
    type: 'problem_state_v1',
    schema_version: '1.0.0',
    problem_state_id: 'state-2026-0042',
    created_at_ts: 1763190000000,
    subjectRef,
    scale: 'plot',
    window,
    problem_type: 'EVIDENCE_CONFLICT',
    confidence: 'HIGH',
    uncertainty_sources: ['MULTI_SOURCE_CONFLICT'],
    state_layer_hint: 'derived',
    rate_class_hint: 'mid',
    problem_scope: 'spatial_unit',
  },
  uncertainty_envelope: {
    type: 'uncertainty_envelope_v0',
    schema_version: '0.1.0',
    problem_state_ref: 'state-2026-0042',
    uncertainty_sources: ['EVIDENCE_CONFLICT'],
  },
  permission_set: {
    type: 'permission_set_v0',
    schema_version: '0.1.0',
    permission_set_id: 'permission-2026-0042',
    created_at_ts: 1763190000000,
    subjectRef,
    scale: 'plot',
    window,
    candidate_actions: [{ action_code: 'AO-APPLY' }, { action_code: 'AO-SENSE' }],
  },
}
