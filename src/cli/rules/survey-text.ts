/** The survey of rulesets in words, with what the rules see of each witness. */
import type { Inputs, RulesetSurvey } from '../../constitution/index.ts'
import type { AdmittedRuleset } from '../../contracts/index.ts'
import { witnessText } from './witness-text.ts'

export function surveyText(
  survey: RulesetSurvey,
  rulesets: readonly AdmittedRuleset[],
): readonly string[] {
  const shown = (code: string, inputs: Inputs) => [
    '    for example',
    ...witnessText(
      inputs,
      rulesets.filter(({ actionCode }) => actionCode === code),
    ),
  ]
  return [
    ...survey.unreachable.map(
      ({ action_code, rule_id }) => `  ${action_code}  ${rule_id} can never match`,
    ),
    ...survey.shadowed.map(
      ({ action_code, rule_id, by }) =>
        `  ${action_code}  ${rule_id} is always beaten by ${by.join(', ')}`,
    ),
    ...survey.overlaps.flatMap(({ action_code, allow, denies, witness }) => [
      `  ${action_code}  ${allow} (ALLOW) overlaps with ${denies.join(', ')} (DENY)`,
      ...shown(action_code, witness),
    ]),
    ...survey.gaps.flatMap(({ action_code, witness }) => [
      `  ${action_code}  says nothing about some inputs`,
      ...shown(action_code, witness),
    ]),
    ...survey.missing_allows.flatMap(({ action_code, rule_id, path, witness }) => [
      `  ${action_code}  ${rule_id} allows because ${path} is missing`,
      ...shown(action_code, witness),
    ]),
  ]
}
