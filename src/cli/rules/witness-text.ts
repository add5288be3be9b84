/**
 * Inputs that show something, reduced to what the rules in question can see of them. What is not
 * listed makes no difference, as long as the documents are about one subject.
 */
import { showName } from '../../base/index.ts'
import { type Inputs, pathsOfRule, seenAt } from '../../constitution/index.ts'
import type { AdmittedRuleset, GuardPath } from '../../contracts/index.ts'

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
