/** The survey of rulesets in words, with what the rules see of each witness. */
import { isMap, isScalar, isSeq, parseDocument, stringify } from 'yaml'
import { showName } from '../../base/index.ts'
import { type Inputs, pathsOfRule, type RulesetSurvey, seenAt } from '../../constitution/index.ts'
import type { AdmittedRuleset, GuardPath, JsonObject } from '../../contracts/index.ts'

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

/**
 * Inputs that show something, reduced to what the rules in question can see of them. What is not
 * listed makes no difference, as long as the documents are about one subject.
 */
export function witnessText(
  inputs: Inputs,
  rulesets: readonly AdmittedRuleset[],
): readonly string[] {
  const paths = new Set(rulesets.flatMap(({ rules }) => rules.flatMap(pathsOfRule)))
  return [...paths].map((path) => `      ${path} ${valueText(inputs, path)}`)
}

function valueText(inputs: Inputs, path: GuardPath): string {
  const value = seenAt(inputs, path)
  if (value === undefined) return 'is missing'
  if (value === true) return 'exists'
  if (Array.isArray(value)) return `= [${value.map((word) => showName(String(word))).join(', ')}]`
  return `= ${showName(String(value))}`
}

/** Never folds lines: a guard stays on one line. */
const YAML_STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

/** Writes rulesets as files: YAML for people, JSON for programs. Comments of a YAML file are kept. */
export function toYaml(document: JsonObject): string {
  return stringify(document, YAML_STYLE)
}

export function toJson(document: JsonObject): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The same YAML file with its guards replaced by those of `document`, rule by rule. */
export function withGuards(text: string, document: JsonObject): string {
  const file = parseDocument(text)
  const rules = file.get('rules')
  if (!isSeq(rules)) return toYaml(document)
  // `rewriteGuards` has made the rules a list of objects.
  const fresh = document['rules'] as readonly JsonObject[]
  rules.items.forEach((rule, index) => {
    const guard = fresh[index]?.['guard']
    if (!isMap(rule) || guard === undefined) return
    const node = rule.get('guard', true)
    if (typeof guard === 'string' && isScalar(node)) node.value = guard
    else rule.set('guard', file.createNode(guard))
  })
  return file.toString(YAML_STYLE)
}
