/**
 * The two ways in which rules become one verdict (K-3); there is no third. INVARIANT (first of its
 * kind): the rule that is named is the first in file order that gave the verdict.
 */
import type { CombineStrategy, VerdictWord } from '../../contracts/index.ts'
import type { Projection } from './projection.ts'
import { type Sifted, sieveOf } from './sieve.ts'

/** What a rule gives when it is the one that decides. */
interface Given {
  readonly verdict: VerdictWord
  /** `<ruleset_id>/<rule_id>@<rule_version>` */
  readonly ref: string
}

type CompiledRule = Given & Sifted

/** Returns the verdict of the rule that decides; null if no rule matches (UNDETERMINED). */
export type Combine = (seen: Projection) => Given | null

export function combiner(strategy: CombineStrategy, rules: readonly CompiledRule[]): Combine {
  const ranked = rankRules(strategy, rules).map(({ rule }) => rule)
  const firstMatch = sieveOf(ranked)
  const given = ranked.map(({ verdict, ref }) => ({ verdict, ref }))
  return (seen) => given[firstMatch(seen)] ?? null
}

/** Sorts rules into the order in which the first match decides; `index` is the place in the file. */
export function rankRules<R extends { readonly verdict: VerdictWord }>(
  strategy: CombineStrategy,
  rules: readonly R[],
): readonly { readonly rule: R; readonly index: number }[] {
  const placed = rules.map((rule, index) => ({ rule, index }))
  switch (strategy) {
    case 'FIRST_MATCH':
      return placed
    case 'DENY_OVERRIDES':
      return DENY_FIRST.flatMap((word) => placed.filter(({ rule }) => rule.verdict === word))
    default:
      return strategy satisfies never
  }
}

const DENY_FIRST = ['DENY', 'ALLOW', 'UNDETERMINED'] as const
