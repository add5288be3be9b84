/** Chapter of the tour: rules give verdicts, and can be asked what they never do. */
import { CONFLICTS_MAX, difference, establish, prove } from '../../constitution/index.ts'
import { type AdmittedRuleset, admitGuardText, admitRuleset } from '../../contracts/index.ts'
import { violationText } from '../call/violation-text.ts'
import { witnessText } from '../rules/witness-text.ts'
import type { Chapter, DemoOutput } from './demo-output.ts'
import { INPUTS, LOOSER_RULESET, RULESET, THRESHOLD_RULESET } from './rules.ts'

export const constitutionChapter: Chapter = {
  title: 'Rules: boolean conditions, three-valued verdicts, and nothing else',
  play(stage) {
    playEvaluation(stage)
    playRefusal(stage)
    playProof(stage)
    playDifference(stage)
  },
}

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
  stage.say('Somebody loosens a rule. What changes, exactly?')
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
