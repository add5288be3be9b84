/**
 * Surveys a ruleset: rules that can never match, rules that earlier rules always beat,
 * overlaps of ALLOW and DENY, inputs without a matching rule, and an ALLOW that depends on a
 * missing field. Findings are exact; where inputs can show a finding, it carries them.
 */
import type { AdmittedRuleset, GuardPath } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { Look } from './domain.ts'
import { type Budget, Inquiry } from './inquiry.ts'
import { missingAllows, type Suspect, suspectOf } from './missing-allow.ts'
import { type RuleTable, ruleTable, type TableRow } from './rule-table.ts'
import type { SolverLiteral } from './solver.ts'

interface RulePlace {
  readonly action_code: string
  readonly rule_id: string
}

export interface RulesetSurvey {
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

/** Receives the progress of a survey. `done` never falls, and ends at `total`. */
export type Progress = (done: number, total: number) => void

export function surveyRuleset(
  ruleset: AdmittedRuleset,
  budget: Budget,
  progress: Progress = () => undefined,
): RulesetSurvey {
  const inquiry = new Inquiry([ruleset], [], [ruleset.actionCode], budget)
  const table = ruleTable(inquiry, ruleset)
  const total = ruleset.rules.length
  const tell = (part: number) => progress(Math.floor(total * part), total)
  const found = table.rows.map((row, done) => {
    tell(done / table.rows.length / 2)
    return lookAt(inquiry, table, row)
  })
  const suspects = found.flatMap(({ suspect }) => (suspect === null ? [] : [suspect]))
  const missing = missingAllows(inquiry, table, suspects, (part) => tell((1 + part) / 2))
  const gaps = gapsOf(inquiry, table, ruleset.actionCode)
  tell(1)
  const place = (index: number): RulePlace => ({
    action_code: ruleset.actionCode,
    rule_id: ruleset.rules[index]?.ruleId ?? '',
  })
  const idOf = ({ index }: TableRow) => place(index).rule_id
  return {
    unreachable: table.unreachable.map(place),
    shadowed: found.flatMap(({ row, shadows }) =>
      shadows === null ? [] : [{ ...place(row.index), by: shadows.map(idOf) }],
    ),
    overlaps: found.flatMap(({ row, overlap }) => {
      if (overlap === null) return []
      const { denies, witness } = overlap
      const action_code = ruleset.actionCode
      return [{ action_code, allow: idOf(row), denies: denies.map(idOf), witness }]
    }),
    gaps,
    missing_allows: [...missing]
      .sort((left, right) => left.row.index - right.row.index)
      .map(({ row, path, witness }) => ({ ...place(row.index), path, witness })),
  }
}

interface Finding {
  readonly row: TableRow
  readonly shadows: readonly TableRow[] | null
  readonly overlap: Overlap | null
  /** Null for a rule that others always beat: it gives no verdict, with or without the field. */
  readonly suspect: Suspect | null
}

function lookAt(inquiry: Inquiry, table: RuleTable, row: TableRow): Finding {
  const neighbours = table.neighboursOf(row)
  const sample = new Look(inquiry.formulas, row.sample)
  const isAllow = row.verdict === 'ALLOW'
  const shadows = shadowsOf(inquiry, row, neighbours, sample)
  const overlap = isAllow ? overlapOf(inquiry, row, neighbours, sample) : null
  const suspect = isAllow && shadows === null ? suspectOf(row, neighbours, table) : null
  inquiry.spend(sample.steps)
  return { row, shadows, overlap, suspect }
}

function gapsOf(inquiry: Inquiry, { rows }: RuleTable, action_code: string): RulesetSurvey['gaps'] {
  const witness = inquiry.find(rows.map(({ match }) => -match))
  return witness === null ? [] : [{ action_code, witness }]
}

/** Surveys several rulesets under one budget and joins the results. */
export function surveyRulesets(
  rulesets: readonly AdmittedRuleset[],
  budget: Budget,
  progress: Progress = () => undefined,
): RulesetSurvey {
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

interface Overlap {
  /** In file order; never empty. */
  readonly denies: readonly TableRow[]
  /** Inputs that the rule and the first of `denies` match. */
  readonly witness: Inputs
}

/** For an ALLOW rule the DENY rules that match some of the same inputs. */
function overlapOf(
  inquiry: Inquiry,
  allow: TableRow,
  neighbours: readonly TableRow[],
  /** A model in which the rule matches. */
  sample: Look,
): Overlap | null {
  const denies = neighbours
    .filter(({ verdict }) => verdict === 'DENY')
    .filter((deny) => sample.holds(deny.match) || canMeet(inquiry, allow, deny))
    .sort((left, right) => left.index - right.index)
  const [first] = denies
  const witness = first === undefined ? null : inquiry.find([allow.match, first.match])
  return witness === null ? null : { denies, witness }
}

/** The other's own sample may show it before anything is asked. */
function canMeet(inquiry: Inquiry, allow: TableRow, deny: TableRow): boolean {
  const look = new Look(inquiry.formulas, deny.sample)
  const isShown = look.holds(allow.match)
  inquiry.spend(look.steps)
  return isShown || inquiry.model([allow.match, deny.match]) !== null
}

/**
 * Finds rules that earlier rules always beat, and names a minimal set of these.
 *
 * Returns rules that together beat this one on all its inputs, by rank; null if it ever decides.
 */
function shadowsOf(
  inquiry: Inquiry,
  row: TableRow,
  neighbours: readonly TableRow[],
  /** A model in which the rule matches. */
  sample: Look,
): readonly TableRow[] | null {
  const earlier = neighbours.filter(({ rank }) => rank < row.rank)
  if (earlier.every(({ match }) => !sample.holds(match))) return null
  const beaten = earlier.map(({ match }) => -match)
  const core = inquiry.refusals([row.match], beaten)(beaten)
  if (core === null) return null
  const needed = new Set(withoutSpare(inquiry, row.match, [...new Set(core)]))
  // Rules with equal guards share one literal; only the first of them is named.
  return earlier.filter(({ match }) => needed.delete(-match))
}

/** Removes literals one by one as long as the rest is still unsatisfiable. */
function withoutSpare(
  inquiry: Inquiry,
  match: SolverLiteral,
  core: readonly SolverLiteral[],
): readonly SolverLiteral[] {
  const refusalOf = inquiry.refusals([match], core)
  let kept = core
  for (const candidate of core) {
    if (!kept.includes(candidate)) continue
    kept = refusalOf(kept.filter((one) => one !== candidate)) ?? kept
  }
  return kept
}
