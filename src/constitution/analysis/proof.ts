/**
 * Questions about whole rulesets: proofs about what rules never or always say, and what a
 * change of rules changes.
 */
import {
  type AdmittedRuleset,
  type Guard,
  VERDICTS,
  type VerdictWord,
} from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type Budget, Inquiry } from './inquiry.ts'
import type { SolverLiteral } from './solver.ts'

export interface VerdictClaim {
  readonly kind: 'never' | 'always'
  readonly verdict: VerdictWord
  /** The inputs that the claim is about; null for all. */
  readonly when: Guard | null
}

export type Proof =
  /** Vacuous: no input fits `when`, so that the claim says nothing. */
  | { readonly proved: true; readonly isVacuous: boolean }
  | { readonly proved: false; readonly actionCode: string; readonly counterexample: Inputs }

/** Proves the claim for each of the rulesets, or breaks it with the first one that can be broken. */
export function prove(
  rulesets: readonly AdmittedRuleset[],
  claim: VerdictClaim,
  budget: Budget,
): Proof {
  const guards = claim.when === null ? [] : [claim.when]
  let isAboutSomething = false
  for (const ruleset of rulesets) {
    const inquiry = new Inquiry([ruleset], guards, [ruleset.actionCode], budget)
    const { verdict } = inquiry.encode(ruleset)
    const said = verdict[claim.verdict]
    const broken = claim.kind === 'never' ? said : -said
    const when = guards.map((guard) => inquiry.world.guard(guard))
    const counterexample = inquiry.find([broken, ...when])
    if (counterexample !== null)
      return { proved: false, actionCode: ruleset.actionCode, counterexample }
    isAboutSomething ||= when.length === 0 || inquiry.find(when) !== null
  }
  return { proved: true, isVacuous: !isAboutSomething }
}

export interface VerdictChange {
  readonly action_code: string
  readonly from: VerdictWord
  readonly to: VerdictWord
  readonly witness: Inputs
}

/**
 * What a change of rules changes: for each action code and each pair of verdicts, inputs on
 * which the old rules say the one and the new rules the other. None at all is a proof of equality.
 */
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
