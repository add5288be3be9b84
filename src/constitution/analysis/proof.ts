/**
 * Proofs about what rules never or always say. A claim that does not hold is answered with
 * inputs that break it.
 */
import type { AdmittedRuleset, Guard, VerdictWord } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type Budget, Inquiry } from './inquiry.ts'

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
