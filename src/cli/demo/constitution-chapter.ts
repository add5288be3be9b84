/** Chapter of the tour: rules give verdicts, and can be asked what they never do. */
import { CONFLICTS_MAX, difference, establish, prove } from '../../constitution/index.ts'
import { type AdmittedRuleset, admitGuardText, admitRuleset } from '../../contracts/index.ts'
import { violationText } from '../call/terminal.ts'
import { witnessText } from '../rules/survey-text.ts'
import type { Chapter, DemoOutput } from './demo-output.ts'

export const constitutionChapter: Chapter = {
  title: 'Rules: boolean conditions, three-valued verdicts, and nothing else',
  play(stage) {
    playEvaluation(stage)
    playRefusal(stage)
    playProof(stage)
    playDifference(stage)
  },
}

const TYPE = 'problem_state.problem_type'
const CONFIDENCE = 'problem_state.confidence'

function playEvaluation(stage: DemoOutput): void {
  stage.say('A farm keeps rules on applying something to a field. Evidence is in conflict:')
  stage.command('writ rules eval --rules apply.yaml --inputs inputs.json')
  const verdicts = establish([{ document: RULESET }]).evaluate(INPUTS, 0)
  stage.expect(
    verdicts[0]?.verdict === 'DENY' && verdicts[1]?.ruleset_status === 'MISSING',
    'DENY, and nothing said on AO-SENSE',
  )
  stage.answer(
    verdicts
      .map(
        ({ action_code, verdict, rule_ref, ruleset_status }) =>
          `${action_code}  ${verdict}  ${rule_ref ?? ruleset_status}`,
      )
      .join('\n'),
  )
}

function playRefusal(stage: DemoOutput): void {
  stage.say('The language does not grow: a threshold is not a rule.')
  stage.command('writ rules check threshold.yaml')
  const { accepted, violations } = admitRuleset(THRESHOLD_RULESET)
  stage.expect(!accepted, 'a numeric comparison is refused')
  stage.answer(violations.map((one) => violationText(one, stage.paint)).join('\n'))
}

function admitted(document: unknown): AdmittedRuleset {
  // The stage's own rules are admissible; the tour would have stopped before.
  return admitRuleset(document).ruleset as AdmittedRuleset
}

function playProof(stage: DemoOutput): void {
  stage.say('Do the rules ever allow while evidence is in conflict? This is a proof, not a sample.')
  const when = 'EQ(problem_state.problem_type, "EVIDENCE_CONFLICT")'
  stage.command(`writ rules prove --rules apply.yaml --never ALLOW --when '${when}'`)
  const claim = { kind: 'never', verdict: 'ALLOW', when: admitGuardText(when).guard } as const
  const proof = prove([admitted(RULESET)], claim, { conflicts: CONFLICTS_MAX })
  stage.expect(proof.proved, 'the rules never allow in conflict')
  stage.answer(stage.paint.good('proved'))
}

function playDifference(stage: DemoOutput): void {
  stage.say('A rule is loosened. What changes, exactly?')
  stage.command('writ rules diff apply.yaml looser.yaml')
  const rulesets = [admitted(RULESET), admitted(LOOSER_RULESET)] as const
  const changes = difference([rulesets[0]], [rulesets[1]], { conflicts: CONFLICTS_MAX })
  stage.expect(changes.length > 0, 'the looser rules differ')
  stage.answer(
    changes
      .map(({ from, to, witness }) =>
        [`${from} → ${to}, for example`, ...witnessText(witness, rulesets)].join('\n'),
      )
      .join('\n'),
  )
}

const rule = (id: string, inputs: readonly string[], guard: string, verdict: string) => ({
  rule_id: id,
  rule_version: '1.0.0',
  rule_owner: 'Control Constitution',
  action_code: 'AO-APPLY',
  inputs_used: inputs,
  guard,
  verdict,
})

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

const THRESHOLD_RULESET = {
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
