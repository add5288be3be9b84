/**
 * Encodes a ruleset in a world: for each rule the literal "the rule matches", and for each verdict
 * the literal "the ruleset gives this verdict" (K-3). Halves are joined in turn, so nesting stays
 * shallow.
 */
import type { AdmittedRuleset, VerdictWord } from '../../contracts/index.ts'
import { rankRules } from '../kernel/combine.ts'
import type { Formulas } from './formula.ts'
import type { SolverLiteral } from './solver.ts'
import type { World } from './world.ts'

export interface EncodedRuleset {
  /** By the rule's place in the file. */
  readonly matches: readonly SolverLiteral[]
  readonly verdict: Readonly<Record<VerdictWord, SolverLiteral>>
}

export function encodeRuleset(
  formulas: Formulas,
  world: World,
  ruleset: AdmittedRuleset,
): EncodedRuleset {
  const rows = ruleset.rules.map((rule) => ({ match: world.rule(rule), verdict: rule.verdict }))
  const ranked = rankRules(ruleset.combineStrategy, rows).map(({ rule }) => rule)
  return { matches: rows.map(({ match }) => match), verdict: verdictLiterals(formulas, ranked) }
}

interface RankedMatch {
  readonly match: SolverLiteral
  readonly verdict: VerdictWord
}

/** Returns a literal for each verdict of rules in the order in which the first match decides. */
export function verdictLiterals(
  formulas: Formulas,
  ranked: readonly RankedMatch[],
): EncodedRuleset['verdict'] {
  const { allow, deny } = outcomeOf(formulas, ranked)
  return { ALLOW: allow, DENY: deny, UNDETERMINED: formulas.every([-allow, -deny]) }
}

interface Outcome {
  readonly said: SolverLiteral
  readonly allow: SolverLiteral
  readonly deny: SolverLiteral
}

function outcomeOf(formulas: Formulas, ranked: readonly RankedMatch[]): Outcome {
  const [only] = ranked
  const { no } = formulas
  if (only === undefined) return { said: no, allow: no, deny: no }
  if (ranked.length === 1) {
    const { match, verdict } = only
    return {
      said: match,
      allow: verdict === 'ALLOW' ? match : no,
      deny: verdict === 'DENY' ? match : no,
    }
  }
  const middle = ranked.length >> 1
  const first = outcomeOf(formulas, ranked.slice(0, middle))
  const second = outcomeOf(formulas, ranked.slice(middle))
  const otherwise = (literal: SolverLiteral) => formulas.every([-first.said, literal])
  return {
    said: formulas.some([first.said, second.said]),
    allow: formulas.some([first.allow, otherwise(second.allow)]),
    deny: formulas.some([first.deny, otherwise(second.deny)]),
  }
}
