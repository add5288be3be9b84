/**
 * `writ rules check`, `writ rules diff` and `writ rules prove`: what the exact analysis finds out
 * about rules.
 */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import {
  difference,
  type Proof,
  prove,
  type RulesetSurvey,
  surveyRulesets,
  type VerdictClaim,
} from '../../constitution/index.ts'
import {
  type AdmittedRuleset,
  admitGuardText,
  admitRulesets,
  type Guard,
  type RulesAdmission,
  VERDICTS,
  type VerdictWord,
  type Violation,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { answerLines, type LineAnswer, readLine } from '../call/line-answers.ts'
import { progressBar, violationText } from '../call/terminal.ts'
import {
  admitRuleFiles,
  loadAdmitted,
  loadRules,
  noRuleFile,
  readRuleFiles,
  withinBudget,
  wordOn,
} from '../rules/files.ts'
import { surveyText, witnessText } from '../rules/survey-text.ts'

/** `writ rules check`: is a ruleset admissible, and what is odd about it. */
export async function checkRules(call: CommandCall): Promise<Exit> {
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

/** `writ rules diff`: exactly which inputs change their verdict, with one of each kind. */
export async function diffRules(call: CommandCall): Promise<Exit> {
  const [before, after, ...others] = call.arguments
  if (before === undefined || after === undefined || others.length > 0) {
    throw usageError(
      'name the old and the new rules: two files or two folders',
      'writ rules diff old.yaml new.yaml',
    )
  }
  const [old, fresh] = [await loadAdmitted([before]), await loadAdmitted([after])]
  const changes = withinBudget((budget) => difference(old, fresh, budget))
  const equal = changes.length === 0
  if (call.options.isOn('json')) await call.terminal.out(`${JSON.stringify({ equal, changes })}\n`)
  else if (equal) await call.terminal.out('no input changes its verdict\n')
  else {
    const lines = changes.map(({ action_code, from, to, witness }) => {
      const ruled = [...old, ...fresh].filter(({ actionCode }) => actionCode === action_code)
      return `${action_code}  ${from} → ${to}, for example\n${witnessText(witness, ruled).join('\n')}\n`
    })
    await call.terminal.out(lines.join(''))
  }
  return equal ? EXIT.yes : EXIT.no
}

/** `writ rules prove`: a proof that rules never or always say a word, or inputs that break it. */
export async function proveClaim(call: CommandCall): Promise<Exit> {
  const claim = claimOf(call)
  const names = [...call.options.texts('rules'), ...call.arguments]
  const { rulesets, files } = await loadRules(names, 'exact words')
  const chosen = ofAction(rulesets, call.options.text('action'))
  const proof = withinBudget((budget) => prove(chosen, claim, budget))
  if (proof.proved && proof.isVacuous) throw emptyClaim()
  if (call.options.isOn('json')) await call.terminal.out(`${JSON.stringify(proofAnswer(proof))}\n`)
  else if (proof.proved) await call.terminal.out(provedText(call, claim))
  else {
    const { actionCode, counterexample } = proof
    const broken = wordOn(files, counterexample, actionCode)
    const head = `${actionCode} says ${broken.verdict} (${broken.ruleRef ?? 'no rule matches'})`
    const about = chosen.filter((one) => one.actionCode === actionCode)
    await call.terminal.out(
      `${call.terminal.paint.bad('not so')}  ${head}, for example on\n${witnessText(counterexample, about).join('\n')}\n`,
    )
  }
  return proof.proved ? EXIT.yes : EXIT.no
}

function proofAnswer(proof: Proof): object {
  if (proof.proved) return { proved: true }
  return { proved: false, action_code: proof.actionCode, counterexample: proof.counterexample }
}

/** Proofs are about bound inputs; all others are UNDETERMINED by the kernel itself. */
function provedText({ terminal }: CommandCall, { verdict }: VerdictClaim): string {
  const binding =
    verdict === 'UNDETERMINED'
      ? 'inputs about different subjects are UNDETERMINED by themselves'
      : 'inputs about different subjects are always UNDETERMINED'
  return `${terminal.paint.good('proved')}  for every input whose documents are about one subject; ${binding}\n`
}

function emptyClaim(): FaultError {
  return faultError(
    'rules.claim_empty',
    '',
    'no input can fit the guard of `--when`, so the claim says nothing',
    'a field holds one word at a time: look for two words of one field, or a field and its absence',
  )
}

function claimOf(call: CommandCall): VerdictClaim {
  const never = call.options.text('never')
  const always = call.options.text('always')
  const word = never ?? always
  if (word === null || (never !== null && always !== null))
    throw usage('say `--never VERDICT` or `--always VERDICT`')
  const verdict = VERDICTS.find((one) => one === word.toUpperCase())
  if (verdict === undefined)
    throw usage(`${showName(word)} is no verdict: ALLOW, DENY or UNDETERMINED`)
  return {
    kind: never === null ? 'always' : 'never',
    verdict: verdict satisfies VerdictWord,
    when: guardOf(call.options.text('when')),
  }
}

function guardOf(text: string | null): Guard | null {
  if (text === null) return null
  const { guard, violations, warnings } = admitGuardText(text)
  const unknown = warnings.filter(({ code }) => code === 'ruleset.vocabulary')
  if (unknown.length > 0) throw unknownWord(unknown)
  if (guard !== null) return guard
  throw usage(
    `the guard of \`--when\` is refused: ${violations.map(({ message, code }) => `${message} (${code})`).join('; ')}`,
  )
}

function unknownWord(violations: readonly Violation[]): FaultError {
  const message = violations.map((one) => one.message).join('; ')
  return faultError('rules.claim_word', '', `\`--when\`: ${message}`)
}

function ofAction(
  rulesets: readonly AdmittedRuleset[],
  actionCode: string | null,
): readonly AdmittedRuleset[] {
  if (actionCode === null) return rulesets
  const found = rulesets.filter((ruleset) => ruleset.actionCode === actionCode)
  if (found.length === 0) throw usage(`no ruleset is about ${showName(actionCode)}`)
  return found
}

function usage(message: string): FaultError {
  return usageError(message, "writ rules prove --rules rules/ --never ALLOW --when 'EXISTS(…)'")
}
