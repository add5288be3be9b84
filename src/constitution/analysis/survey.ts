/**
 * What is odd about a ruleset: rules that can never match, rules that earlier ones always beat,
 * ALLOW and DENY that overlap, inputs for which nothing is said, and an ALLOW that is reached because
 * a field is missing. Exact, with inputs that show it.
 */
import { type AdmittedRuleset, type GuardPath, pathsRead } from '../../contracts/index.ts'
import { rankRules } from '../combine.ts'
import { pathsOfRule } from '../matcher.ts'
import type { Inputs } from '../projection.ts'
import type { EncodedRuleset } from './encoded-ruleset.ts'
import { type Budget, Inquiry } from './inquiry.ts'
import type { Literal } from './solver.ts'
import { unified } from './world.ts'

export interface RulePlace {
  readonly action_code: string
  readonly rule_id: string
}

export interface Survey {
  readonly unreachable: readonly RulePlace[]
  readonly shadowed: readonly (RulePlace & { readonly by: readonly string[] })[]
  readonly overlaps: readonly {
    readonly action_code: string
    readonly allow: string
    readonly denies: readonly string[]
    readonly witness: Inputs
  }[]
  readonly gaps: readonly { readonly action_code: string; readonly witness: Inputs }[]
  readonly missing_allows: readonly (RulePlace & {
    readonly path: GuardPath
    readonly witness: Inputs
  })[]
}

/** Told after each rule; a caller may show it. */
export type Progress = (done: number, total: number) => void

export function surveyRuleset(
  ruleset: AdmittedRuleset,
  budget: Budget,
  progress: Progress = () => undefined,
): Survey {
  const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], budget)
  const encoded = inquiry.encode(ruleset)
  const place = (index: number): RulePlace => ({
    action_code: ruleset.actionCode,
    rule_id: ruleset.rules[index]?.ruleId ?? '',
  })
  const unreachable: RulePlace[] = []
  const shadowed: Survey['shadowed'][number][] = []
  ruleset.rules.forEach((_, index) => {
    const match = encoded.matches[index] as Literal
    if (!inquiry.isPossible([match])) unreachable.push(place(index))
    else if (!inquiry.isPossible([encoded.gives[index] as Literal])) {
      shadowed.push({ ...place(index), by: shadowsOf(inquiry, encoded, ruleset, index) })
    }
    progress(index + 1, ruleset.rules.length)
  })
  const gap = inquiry.find([-encoded.said])
  return {
    unreachable,
    shadowed,
    overlaps: overlapsOf(inquiry, encoded, ruleset),
    gaps: gap === null ? [] : [{ action_code: ruleset.actionCode, witness: gap }],
    missing_allows: missingAllowsOf(inquiry, encoded, ruleset),
  }
}

/** The surveys of several rulesets as one; the budget is for all of them together. */
export function surveyRulesets(
  rulesets: readonly AdmittedRuleset[],
  budget: Budget,
  progress: Progress = () => undefined,
): Survey {
  const total = rulesets.reduce((sum, { rules }) => sum + rules.length, 0)
  let before = 0
  const surveys = rulesets.map((ruleset) => {
    const survey = surveyRuleset(ruleset, budget, (done) => progress(before + done, total))
    before += ruleset.rules.length
    return survey
  })
  return {
    unreachable: surveys.flatMap(({ unreachable }) => unreachable),
    shadowed: surveys.flatMap(({ shadowed }) => shadowed),
    overlaps: surveys.flatMap(({ overlaps }) => overlaps),
    gaps: surveys.flatMap(({ gaps }) => gaps),
    missing_allows: surveys.flatMap(({ missing_allows }) => missing_allows),
  }
}

/** A set of earlier rules that beat this one on all its inputs, from which none can be left out. */
function shadowsOf(
  inquiry: Inquiry,
  encoded: EncodedRuleset,
  ruleset: AdmittedRuleset,
  index: number,
): readonly string[] {
  const match = encoded.matches[index] as Literal
  const ranked = rankRules(ruleset.combineStrategy, ruleset.rules).map((row) => row.index)
  let shadows = ranked
    .slice(0, ranked.indexOf(index))
    .filter((earlier) => inquiry.isPossible([match, encoded.matches[earlier] as Literal]))
  for (const candidate of [...shadows]) {
    const rest = shadows.filter((one) => one !== candidate)
    const beaten = !inquiry.isPossible([
      match,
      ...rest.map((one) => -(encoded.matches[one] as Literal)),
    ])
    if (beaten) shadows = rest
  }
  return shadows.map((one) => ruleset.rules[one]?.ruleId ?? '')
}

/** For each ALLOW rule the DENY rules that match some of the same inputs. */
function overlapsOf(
  inquiry: Inquiry,
  encoded: EncodedRuleset,
  ruleset: AdmittedRuleset,
): Survey['overlaps'] {
  const indexesOf = (word: string) =>
    ruleset.rules.flatMap(({ verdict }, index) => (verdict === word ? [index] : []))
  const denies = indexesOf('DENY')
  return indexesOf('ALLOW').flatMap((allow) => {
    const match = encoded.matches[allow] as Literal
    const against = denies.filter((deny) =>
      inquiry.isPossible([match, encoded.matches[deny] as Literal]),
    )
    const [first] = against
    const witness =
      first === undefined ? null : inquiry.find([match, encoded.matches[first] as Literal])
    if (witness === null) return []
    const ids = against.map((deny) => ruleset.rules[deny]?.ruleId ?? '')
    return [
      {
        action_code: ruleset.actionCode,
        allow: ruleset.rules[allow]?.ruleId ?? '',
        denies: ids,
        witness,
      },
    ]
  })
}

/**
 * ALLOW comes out while the path is missing, and would not if some value stood there and everything
 * else stayed as it is.
 */
function missingAllowsOf(
  inquiry: Inquiry,
  encoded: EncodedRuleset,
  ruleset: AdmittedRuleset,
): Survey['missing_allows'] {
  return pathsOf(ruleset).flatMap((path) => {
    const present = inquiry.world.present(path)
    const variation = inquiry.variation([path])
    const varied = inquiry.encode(ruleset, variation)
    const because = [-present, variation.present(path), -varied.verdict.ALLOW]
    return ruleset.rules.flatMap((rule, index) => {
      if (rule.verdict !== 'ALLOW') return []
      const witness = inquiry.find([encoded.gives[index] as Literal, ...because])
      if (witness === null) return []
      return [{ action_code: ruleset.actionCode, rule_id: rule.ruleId, path, witness }]
    })
  })
}

/** Every path that some rule reads, those that are one in bound inputs once. */
function pathsOf(ruleset: AdmittedRuleset): readonly GuardPath[] {
  const read = new Set(
    ruleset.rules.flatMap((rule) => [...pathsRead(rule.guard), ...scopePaths(rule)]),
  )
  const byName = new Map([...read].map((path) => [unified(path), path]))
  return [...byName.values()]
}

function scopePaths(rule: AdmittedRuleset['rules'][number]): readonly GuardPath[] {
  return rule.scope === null
    ? []
    : pathsOfRule(rule).filter((path) => path.startsWith('permission_set.'))
}
