/**
 * A ruleset in a world: for each rule the literal "it matches" and the literal "it gives the
 * verdict", and for each verdict the literal "this is what comes out" (K-3).
 */
import type { AdmittedRuleset, VerdictWord } from '../../contracts/index.ts'
import { rankRules } from '../combine.ts'
import type { Formulas } from './formula.ts'
import type { Literal } from './solver.ts'
import type { World } from './world.ts'

export interface EncodedRuleset {
  /** By the rule's place in the file. */
  readonly matches: readonly Literal[]
  /** By the rule's place in the file: this rule is the one that is named. */
  readonly gives: readonly Literal[]
  readonly verdict: Readonly<Record<VerdictWord, Literal>>
  /** Some rule matches. */
  readonly said: Literal
}

export function encodeRuleset(
  formulas: Formulas,
  world: World,
  ruleset: AdmittedRuleset,
): EncodedRuleset {
  const matches = ruleset.rules.map((rule) => world.rule(rule))
  const gives: Literal[] = []
  let before = formulas.no
  for (const { index } of rankRules(ruleset.combineStrategy, ruleset.rules)) {
    const match = matches[index] as Literal
    gives[index] = formulas.every([match, -before])
    before = formulas.some([before, match])
  }
  const givenBy = (word: VerdictWord) =>
    formulas.some(gives.filter((_, index) => ruleset.rules[index]?.verdict === word))
  const allow = givenBy('ALLOW')
  const deny = givenBy('DENY')
  return {
    matches,
    gives,
    verdict: { ALLOW: allow, DENY: deny, UNDETERMINED: formulas.every([-allow, -deny]) },
    said: before,
  }
}
