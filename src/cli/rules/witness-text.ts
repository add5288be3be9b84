/** Inputs that show something, reduced to what the rules in question can see of them. */
import { showName } from '../../base/index.ts'
import { type Inputs, seenAt } from '../../constitution/index.ts'
import type { AdmittedRuleset, GuardPath } from '../../contracts/index.ts'

export function witnessText(
  inputs: Inputs,
  rulesets: readonly AdmittedRuleset[],
): readonly string[] {
  const paths = new Set(
    rulesets.flatMap(({ rules }) => rules.flatMap(({ inputsUsed }) => inputsUsed)),
  )
  return [...paths].map((path) => `      ${path} ${valueText(inputs, path)}`)
}

function valueText(inputs: Inputs, path: GuardPath): string {
  const value = seenAt(inputs, path)
  if (value === undefined) return 'is missing'
  if (value === true) return 'exists'
  if (Array.isArray(value)) return `= [${value.map((word) => showName(String(word))).join(', ')}]`
  return `= ${showName(String(value))}`
}
