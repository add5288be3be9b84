/**
 * Rules and requests of the rule bench in one plain form, and what they are for writ. Every rule
 * asks the same of a request, so that each engine can say it in its own words: an action, a type
 * that is equal, a confidence in a list, sources that share a word, and evidence that exists.
 */

const TYPES = ['EVIDENCE_STALE', 'EVIDENCE_CONFLICT', 'SENSOR_SUSPECT']
const CONFIDENCES = ['HIGH', 'MEDIUM', 'LOW', 'UNKNOWN']
const SOURCES = [
  'SPARSE_SAMPLING',
  'TIME_GAPS',
  'STALE_EVIDENCE',
  'QC_SUSPECT_OR_BAD',
  'EXCLUSION_WINDOW',
]
const RULES_PER_ACTION = 10
const REQUESTS = 256

/** Chance that is the same in every run. */
function dice(seed) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return {
    one: (list) => list[Math.floor(next() * list.length)],
    some: (list, count) => {
      const rest = [...list]
      return Array.from(
        { length: count },
        () => rest.splice(Math.floor(next() * rest.length), 1)[0],
      )
    },
    chance: (share) => next() < share,
  }
}

export function actionsFor(ruleCount) {
  return Array.from(
    { length: Math.ceil(ruleCount / RULES_PER_ACTION) },
    (_, index) => `ACT-${index}`,
  )
}

export function makeRules(ruleCount) {
  const { one, some, chance } = dice(7)
  const actions = actionsFor(ruleCount)
  return Array.from({ length: ruleCount }, (_, index) => ({
    id: `r${index}`,
    action: actions[Math.floor(index / RULES_PER_ACTION)],
    verdict: chance(0.4) ? 'DENY' : 'ALLOW',
    type: one(TYPES),
    confidences: some(CONFIDENCES, 2),
    sources: some(SOURCES, 2),
  }))
}

/** Requests as every engine gets them: one action, one problem. */
export function makeRequests(ruleCount) {
  const { one, some, chance } = dice(11)
  const actions = actionsFor(ruleCount)
  return Array.from({ length: REQUESTS }, () => ({
    action: one(actions),
    type: one(TYPES),
    confidence: one(CONFIDENCES),
    sources: some(SOURCES, 2),
    evidence: chance(0.8),
  }))
}

/** The rulesets that say the same to writ: DENY_OVERRIDES, one for each action. */
export function rulesetsOf(rules) {
  const paths = [
    'problem_state.problem_type',
    'problem_state.confidence',
    'problem_state.uncertainty_sources[]',
    'problem_state.supporting_evidence_refs[]',
  ]
  const guardOf = ({ type, confidences, sources }) => ({
    op: 'AND',
    args: [
      { op: 'EQ', field: paths[0], value: type },
      { op: 'IN', field: paths[1], set: confidences },
      { op: 'INTERSECTS', left: paths[2], right: sources },
      { op: 'EXISTS', field: paths[3] },
    ],
  })
  return actionsFor(rules.length).map((action) => ({
    type: 'ruleset_v0',
    schema_version: '0.1.0',
    ruleset_id: `rs_${action}`,
    action_code: action,
    combine_strategy: 'DENY_OVERRIDES',
    rules: rules
      .filter((rule) => rule.action === action)
      .map((rule) => ({
        rule_id: rule.id,
        rule_version: '1.0.0',
        rule_owner: 'Control Constitution',
        action_code: action,
        inputs_used: paths,
        guard: guardOf(rule),
        verdict: rule.verdict,
      })),
  }))
}

/** The three inputs that a request is for writ: whole documents that keep their contracts. */
export function inputsOf({ action, type, confidence, sources, evidence }) {
  const subjectRef = { projectId: 'north-farm', plotId: 'p7' }
  const window = { startTs: 1763193600000, endTs: 1763197200000 }
  return {
    problem_state: {
      type: 'problem_state_v1',
      schema_version: '1.0.0',
      problem_state_id: 'ps-000001',
      created_at_ts: 1763193600000,
      subjectRef,
      scale: 'plot',
      window,
      problem_type: type,
      confidence,
      uncertainty_sources: sources,
      state_layer_hint: 'derived',
      rate_class_hint: 'slow',
      problem_scope: 'spatial_unit',
      ...(evidence
        ? { supporting_evidence_refs: [{ kind: 'ledger_slice', ref_id: 'slice-1' }] }
        : {}),
    },
    uncertainty_envelope: {
      type: 'uncertainty_envelope_v0',
      schema_version: '0.1.0',
      problem_state_ref: 'ps-000001',
      uncertainty_sources: ['EVIDENCE_STALE'],
    },
    permission_set: {
      type: 'permission_set_v0',
      schema_version: '0.1.0',
      permission_set_id: 'perm-0001',
      created_at_ts: 1763193600000,
      subjectRef: { ...subjectRef },
      scale: 'plot',
      window: { ...window },
      candidate_actions: [{ action_code: action }],
    },
  }
}
