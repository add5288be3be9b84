/** `writ rules check`: is a ruleset admissible, and what is odd about it. */
import { type RulesetSurvey, surveyRulesets } from '../../constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRulesets,
  type RulesAdmission,
  type Violation,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { answerLines, type LineAnswer, readLine } from '../call/line-answers.ts'
import { progressBar, violationText } from '../call/terminal.ts'
import { usageError } from '../call/usage.ts'
import { withinBudget } from '../rules/budget.ts'
import { admitRuleFiles, noRuleFile, readRuleFiles } from '../rules/files.ts'
import { surveyText } from '../rules/survey-text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const strict = call.options.isOn('strict')
  if (call.options.isOn('jsonl')) return answerLines(call, (line) => checkLine(line, strict))
  if (call.arguments.length === 0)
    throw usageError('name rule files or folders', 'writ rules check rules/')
  const files = await readRuleFiles(call.arguments)
  if (files.length === 0) throw noRuleFile()
  const admission = admitRuleFiles(files, strict)
  const analysis =
    admission.accepted && !call.options.isOn('no-analysis') ? analyse(call, admission) : null
  const { accepted, violations, warnings } = admission
  if (call.options.isOn('json'))
    await call.terminal.out(`${JSON.stringify({ accepted, violations, warnings, analysis })}\n`)
  else
    await call.terminal.out(
      toText(
        call,
        files.map(({ name }) => name),
        admission,
        analysis,
      ),
    )
  return accepted ? EXIT.yes : EXIT.no
}

function admittedOf(rulesets: RulesAdmission['rulesets']): readonly AdmittedRuleset[] {
  return rulesets.flatMap(({ ruleset }) => (ruleset === null ? [] : [ruleset]))
}

function analyse(call: CommandCall, { rulesets }: RulesAdmission): RulesetSurvey {
  const bar = progressBar(call.terminal, 'analysing')
  try {
    return withinBudget((budget) => surveyRulesets(admittedOf(rulesets), budget, bar.tick))
  } finally {
    bar.end()
  }
}

/** A line is `{"ruleset"}` or `{"rulesets"}`. */
function checkLine(line: Buffer | null, strict: boolean): LineAnswer {
  const reading = readLine(line, ['ruleset', 'rulesets'])
  if (!reading.ok) return answerOf({ accepted: false, violations: [reading.refusal] })
  const { ruleset, rulesets } = reading.value
  const documents = Array.isArray(rulesets) ? rulesets : [ruleset]
  const isEnvelope =
    Object.keys(reading.value).length === 1 && (ruleset !== undefined || Array.isArray(rulesets))
  if (!isEnvelope) {
    const message = 'a line is {"ruleset": …} or {"rulesets": […]}'
    return answerOf({
      accepted: false,
      violations: [{ code: 'document.envelope', path: '', message }],
    })
  }
  return answerOf(admitRulesets(documents, { strict }))
}

function answerOf({
  accepted,
  violations,
}: {
  accepted: boolean
  violations: readonly Violation[]
}): LineAnswer {
  return { text: `${JSON.stringify({ accepted, violations })}\n`, valid: accepted }
}

function toText(
  call: CommandCall,
  names: readonly string[],
  { accepted, violations, warnings, rulesets }: RulesAdmission,
  analysis: RulesetSurvey | null,
): string {
  const { paint } = call.terminal
  const several = names.length > 1
  const placed = ({ path, ...rest }: Violation): Violation =>
    several ? { ...rest, path: namedPath(path, names) } : { ...rest, path }
  const head = accepted ? paint.good('accepted') : paint.bad('refused')
  return [
    `${head}  ${names.length === 1 ? names[0] : `${names.length} files`}`,
    ...violations.map((one) => violationText(placed(one), paint)),
    ...warnings.map((one) => `${paint.dim('warning')}${violationText(placed(one), paint)}`),
    ...(analysis === null ? [] : surveyText(analysis, admittedOf(rulesets))),
    '',
  ].join('\n')
}

/** `/2/rules/0` of several files is `apply.yaml /rules/0`. */
function namedPath(path: string, names: readonly string[]): string {
  const index = /^\/(\d+)/.exec(path)
  return index === null ? path : `${names[Number(index[1])]} ${path.slice(index[0].length)}`
}
