/**
 * The rules of a ruleset for its survey: those that can match, each with its requirements and with
 * one model in which it matches. A question about a rule can leave out every rule whose
 * requirements clash with those of the first.
 */
import {
  type AdmittedRule,
  type AdmittedRuleset,
  type GuardPath,
  pathsRead,
  type VerdictWord,
} from '../../contracts/index.ts'
import { pathsOfRule } from '../kernel/matcher.ts'
import { rankRules } from '../kernel/verdict.ts'
import { type Model, unified } from './domain.ts'
import { type Inquiry, STEPS_OF_CLASH } from './inquiry.ts'
import { clash, type Requirements } from './requirement.ts'
import type { SolverLiteral } from './solver.ts'

export interface TableRow {
  /** The rule's place in the file, and in the order of deciding. */
  readonly index: number
  readonly rank: number
  readonly rule: AdmittedRule
  readonly verdict: VerdictWord
  readonly match: SolverLiteral
  readonly requires: Requirements
  /** One model in which the rule matches. */
  readonly sample: Model
}

export interface RuleTable {
  /** Rules that can match, by their place in the file. */
  readonly rows: readonly TableRow[]
  /** Places of the rules that can never match. */
  readonly unreachable: readonly number[]
  /** Every path that some rule reads; those that are one in bound inputs once. */
  readonly paths: readonly GuardPath[]
  /** The other rules that may match some of the same inputs, by rank. */
  neighboursOf(row: TableRow): readonly TableRow[]
}

export function ruleTable(inquiry: Inquiry, ruleset: AdmittedRuleset): RuleTable {
  const ranked: TableRow[] = []
  const unreachable: number[] = []
  rankRules(ruleset.combineStrategy, ruleset.rules).forEach(({ index, rule }, rank) => {
    const { verdict } = rule
    const match = inquiry.world.rule(rule)
    const sample = inquiry.model([match])
    if (sample === null) unreachable.push(index)
    else {
      const requires = inquiry.requirements.of(match)
      ranked.push({ index, rank, rule, verdict, match, requires, sample })
    }
  })
  inquiry.spend(inquiry.formulas.size)
  return {
    rows: [...ranked].sort((left, right) => left.index - right.index),
    unreachable: unreachable.sort((left, right) => left - right),
    paths: pathsOf(ruleset),
    neighboursOf: (row) => {
      inquiry.spend(STEPS_OF_CLASH * ranked.length)
      return ranked.filter((other) => other !== row && !clash(other.requires, row.requires))
    },
  }
}

function pathsOf({ rules }: AdmittedRuleset): readonly GuardPath[] {
  const read = new Set(rules.flatMap((rule) => [...pathsReadBy(rule)]))
  return [...new Map([...read].map((path) => [unified(path), path])).values()]
}

/** Returns the paths that a rule's guard or scope reads. */
export function pathsReadBy(rule: AdmittedRule): ReadonlySet<GuardPath> {
  const scoped =
    rule.scope === null
      ? []
      : pathsOfRule(rule).filter((path) => path.startsWith('permission_set.'))
  return new Set([...pathsRead(rule.guard), ...scoped])
}
