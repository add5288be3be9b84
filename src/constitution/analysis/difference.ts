/**
 * What a change of rules changes: for each action code and each pair of verdicts, inputs on
 * which the old rules say the one and the new rules the other. None at all is a proof of equality.
 */
import { type AdmittedRuleset, VERDICTS, type VerdictWord } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type Budget, Inquiry } from './inquiry.ts'
import type { SolverLiteral } from './solver.ts'

export interface VerdictChange {
  readonly action_code: string
  readonly from: VerdictWord
  readonly to: VerdictWord
  readonly witness: Inputs
}

export function difference(
  before: readonly AdmittedRuleset[],
  after: readonly AdmittedRuleset[],
  budget: Budget,
): readonly VerdictChange[] {
  const codes = [...new Set([...before, ...after].map(({ actionCode }) => actionCode))]
  return codes.flatMap((code) => {
    const old = before.find(({ actionCode }) => actionCode === code) ?? null
    const fresh = after.find(({ actionCode }) => actionCode === code) ?? null
    return changesOf(code, old, fresh, budget)
  })
}

function changesOf(
  code: string,
  before: AdmittedRuleset | null,
  after: AdmittedRuleset | null,
  budget: Budget,
): readonly VerdictChange[] {
  const rulesets = [before, after].filter((ruleset) => ruleset !== null)
  const inquiry = new Inquiry(rulesets, [], [code], budget)
  const old = wordsOf(inquiry, before)
  const fresh = wordsOf(inquiry, after)
  return VERDICTS.flatMap((from) =>
    VERDICTS.filter((to) => to !== from).flatMap((to) => {
      const witness = inquiry.find([old[from], fresh[to]])
      return witness === null ? [] : [{ action_code: code, from, to, witness }]
    }),
  )
}

/** No ruleset says UNDETERMINED (K-4). */
function wordsOf(
  inquiry: Inquiry,
  ruleset: AdmittedRuleset | null,
): Readonly<Record<VerdictWord, SolverLiteral>> {
  if (ruleset !== null) return inquiry.encode(ruleset).verdict
  const { yes, no } = inquiry.formulas
  return { ALLOW: no, DENY: no, UNDETERMINED: yes }
}
