/**
 * Surveys a ruleset: rules that can never match, rules that earlier rules always beat,
 * overlaps of ALLOW and DENY, inputs without a matching rule, and an ALLOW that depends on a
 * missing field. Findings are exact; where inputs can show a finding, it carries them.
 */
import type { AdmittedRuleset, GuardPath } from '../../contracts/index.ts'
import type { Inputs } from '../kernel/projection.ts'
import { type Budget, Inquiry } from './inquiry.ts'
import { Look } from './look.ts'
import { missingAllows, type Suspect, suspectOf } from './missing-allow.ts'
import { type Overlap, overlapOf } from './overlap.ts'
import { type RuleTable, ruleTable, type TableRow } from './rule-table.ts'
import { shadowsOf } from './shadow.ts'

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
