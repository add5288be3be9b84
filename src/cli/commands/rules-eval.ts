/** `writ rules eval` and `writ rules test`: rules applied to inputs. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import {
  type Constitution,
  establish,
  type Inputs,
  inputsAreBound,
  uncovered,
} from '../../constitution/index.ts'
import {
  type ControlVerdict,
  findContract,
  isObject,
  VERDICTS,
  validate,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { answerLines, type LineAnswer, readLine } from '../call/line-answers.ts'
import { parseSource, readSource } from '../call/source.ts'
import { violationText } from '../call/terminal.ts'
import type { RecordedEvaluation, RulesEvaluation } from '../history/evaluation.ts'
import {
  admitRuleFiles,
  loadAdmitted,
  noRuleFile,
  placedText,
  type RuleFile,
  readRuleFiles,
} from '../rules/files.ts'

const INPUT_CONTRACTS = {
  problem_state: 'problem_state_v1',
  uncertainty_envelope: 'uncertainty_envelope_v0',
  permission_set: 'permission_set_v0',
} as const

/**
 * `writ rules eval`: the verdicts of rulesets on inputs, and nothing else. Exits 0 whenever verdicts
 * were computed, even if every one of them denies; inputs are never refused, their violations are
 * warnings.
 */
export async function evaluate(call: CommandCall): Promise<Exit> {
  if (call.options.isOn('jsonl')) {
    if (!call.options.isOn('record')) return answerLines(call, evalLine)
    throw usageError('`--record` writes one evaluation; it cannot be combined with `--jsonl`')
  }
  const names = [...call.options.texts('rules'), ...call.arguments]
  const inputsName = call.options.text('inputs')
  if (names.length === 0 || inputsName === null) {
    throw usageError('name rules and inputs', 'writ rules eval --rules apply.yaml --inputs in.json')
  }
  const files = await readRuleFiles(names)
  if (files.length === 0) throw noRuleFile()
  for (const { name, refusal } of files) if (refusal !== null) warn(call, name, [refusal])
  const constitution = establish(files.filter(({ refusal }) => refusal === null))
  const inputs = await readInputs(inputsName)
  warnAboutInputs(call, inputs)
  const atMs = momentOf(call)
  const verdicts = constitution.evaluate(inputs, atMs)
  if (verdicts.length === 0)
    call.terminal.err(
      'warning: the permission set names no candidate action, so there is no verdict\n',
    )
  explain(call, files, inputs, verdicts)
  const recorded = call.options.isOn('record')
    ? await record(call, { files, inputs, atMs, verdicts })
    : null
  await show(call, verdicts, recorded, inputsAreBound(inputs))
  return EXIT.yes
}

/** Loads the home and its ledger here, so that a call without `--record` loads neither. */
async function record(call: CommandCall, evaluation: RulesEvaluation): Promise<RecordedEvaluation> {
  const { recordEvaluation } = await import('../history/evaluation.ts')
  return recordEvaluation(call, evaluation)
}

async function readInputs(name: string): Promise<Inputs> {
  const reading = await parseSource(await readSource(name))
  if (!reading.ok)
    throw new FaultError(
      fault(reading.refusal.code, name, null, { message: reading.refusal.message }),
    )
  if (!isObject(reading.value)) throw faultError('cli.usage', name, 'the inputs are not an object')
  return reading.value
}

function momentOf(call: CommandCall): number {
  const text = call.options.text('at')
  if (text === null) return Date.now()
  if (!/^\d{1,15}$/.test(text)) throw usageError('`--at` is a time in milliseconds')
  return Number(text)
}

function warnAboutInputs(call: CommandCall, inputs: Inputs): void {
  for (const [key, name] of Object.entries(INPUT_CONTRACTS)) {
    const contract = findContract(name)
    // The keys of the table are those of `Inputs`.
    const document = inputs[key as keyof Inputs]
    if (contract !== null && document !== undefined)
      warn(call, key, validate(contract, document).violations)
  }
}

function warn(
  call: CommandCall,
  what: string,
  violations: readonly Parameters<typeof violationText>[0][],
): void {
  if (violations.length === 0) return
  const paint = call.terminal.paintError
  call.terminal.err(`warning: ${what} breaks its contract and is evaluated as it is\n`)
  for (const violation of violations) call.terminal.err(`${violationText(violation, paint)}\n`)
}

/** Says on standard error why verdicts are UNDETERMINED; the verdict documents say no reason (K-5). */
function explain(
  call: CommandCall,
  files: readonly RuleFile[],
  inputs: Inputs,
  verdicts: readonly ControlVerdict[],
): void {
  if (verdicts.length > 0 && !inputsAreBound(inputs))
    call.terminal.err(
      'note: problem_state and permission_set must have the same subjectRef, and problem_state_ref of uncertainty_envelope must be the problem_state_id; otherwise every verdict is UNDETERMINED\n',
    )
  if (!verdicts.some(({ ruleset_status }) => ruleset_status === 'INVALID')) return
  const read = files.filter(({ refusal }) => refusal === null)
  for (const violation of admitRuleFiles(read).violations)
    call.terminal.err(`note: ${placedText(violation, read)}\n`)
  call.terminal.err('note: a ruleset with such a fault says nothing; see `writ rules check`\n')
}

const STATUS_TEXT = {
  MISSING: 'no ruleset is about this action',
  INVALID: 'the ruleset is not admissible',
} as const

/** Shown to people, a verdict is its word: no colour of danger, no order but the candidates'. */
async function show(
  call: CommandCall,
  verdicts: readonly ControlVerdict[],
  recorded: RecordedEvaluation | null,
  isBound: boolean,
): Promise<void> {
  if (call.options.isOn('json')) {
    const answer = recorded === null ? { verdicts } : { verdicts, recorded }
    return call.terminal.out(`${JSON.stringify(answer)}\n`)
  }
  const lines = verdicts.map(({ action_code, verdict, rule_ref, ruleset_status }) => {
    const silent = isBound ? 'no rule matches' : 'the documents are not about one subject'
    const origin = rule_ref ?? (ruleset_status === 'APPLIED' ? silent : STATUS_TEXT[ruleset_status])
    return `${action_code.padEnd(12)}  ${verdict.padEnd(12)}  ${origin}\n`
  })
  return call.terminal.out(lines.join(''))
}

/** A line is `{"rulesets": […], "inputs": {…}, "at"?: MS}`; without `at` it is now. */
function evalLine(line: Buffer | null): LineAnswer {
  const reading = readLine(line, ['rulesets', 'inputs', 'at'])
  if (!reading.ok) return refused(reading.refusal.code, reading.refusal.message)
  const { rulesets, inputs, at = Date.now() } = reading.value
  const isTime = typeof at === 'number' && Number.isInteger(at)
  if (!Array.isArray(rulesets) || !isObject(inputs) || !isTime) {
    return refused(
      'document.envelope',
      'a line is {"rulesets": […], "inputs": {…}, "at"?: milliseconds}',
    )
  }
  const verdicts = establish(rulesets.map((document: unknown) => ({ document }))).evaluate(
    inputs,
    at,
  )
  return { text: `${JSON.stringify({ verdicts })}\n`, valid: true }
}

function refused(code: string, message: string): LineAnswer {
  return { text: `${JSON.stringify({ verdicts: [], error: { code, message } })}\n`, valid: false }
}

interface Case {
  readonly name: string
  readonly inputs: Inputs
  readonly expected: Readonly<Record<string, unknown>>
}

interface CaseResult {
  readonly name: string
  readonly passed: boolean
  readonly expected: Readonly<Record<string, unknown>>
  readonly actual: Readonly<Record<string, string>>
}

/**
 * `writ rules test`: runs the cases that a rule suite carries, and says which rules and branches no
 * case reaches. A suite is a folder of rule files with `cases/*.json` in it.
 */
export async function test(call: CommandCall): Promise<Exit> {
  const [suite = '.', ...others] = call.arguments
  if (others.length > 0)
    throw usageError('name one suite folder', 'writ rules test examples/constitution')
  const rules = call.options.texts('rules')
  const rulesets = await loadAdmitted(rules.length > 0 ? rules : [suite])
  const cases = await readCases(call.options.text('cases') ?? join(suite, 'cases'))
  const constitution = establish(rulesets.map(({ document }) => ({ document })))
  const given = new Set<string>()
  const results = cases.map((one) => runCase(constitution, one, given))
  const failed = results.filter(({ passed }) => !passed).length
  const answer = {
    passed: results.length - failed,
    failed,
    cases: results,
    uncovered: uncovered(
      rulesets,
      cases.map(({ inputs }) => inputs),
      given,
    ),
  }
  await call.terminal.out(
    call.options.isOn('json') ? `${JSON.stringify(answer)}\n` : toText(call, answer),
  )
  return failed === 0 ? EXIT.yes : EXIT.no
}

async function readCases(folder: string): Promise<readonly Case[]> {
  let names: readonly string[]
  try {
    names = (await readdir(folder)).filter((name) => /\.(?:json|ya?ml)$/.test(name)).sort()
  } catch {
    throw faultError('cli.usage', folder, `there is no folder ${showName(folder)} with cases`)
  }
  if (names.length === 0) throw faultError('cli.usage', folder, `${showName(folder)} holds no case`)
  return Promise.all(names.map((name) => readCase(join(folder, name))))
}

async function readCase(name: string): Promise<Case> {
  const reading = await parseSource(await readSource(name))
  if (!reading.ok) throw badCase(name, reading.refusal.message)
  const { value } = reading
  if (!isObject(value)) throw badCase(name, 'a case is an object')
  const { inputs, expected, note, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw badCase(name, `a case has no key ${showName(unknown)}`)
  if (!isObject(inputs)) throw badCase(name, '`inputs` is not an object')
  if (
    !isObject(expected) ||
    !Object.values(expected).every((word) => VERDICTS.some((one) => one === word))
  ) {
    throw badCase(name, '`expected` gives each action code one of ALLOW, DENY, UNDETERMINED')
  }
  if (note !== undefined && typeof note !== 'string') throw badCase(name, '`note` is not a string')
  return { name, inputs, expected }
}

function badCase(name: string, message: string): FaultError {
  return faultError(
    'rules.case',
    name,
    `${showName(name)}: ${message}`,
    'a case is {"note"?, "inputs", "expected": {"AO-APPLY": "DENY"}}',
  )
}

/** Every expected word is said, and no verdict goes unexpected. */
function runCase(
  constitution: Constitution,
  { name, inputs, expected }: Case,
  given: Set<string>,
): CaseResult {
  const verdicts = constitution.evaluate(inputs, 0)
  for (const { rule_ref } of verdicts) if (rule_ref !== undefined) given.add(rule_ref)
  const actual = Object.fromEntries(
    verdicts.map(({ action_code, verdict }) => [action_code, verdict]),
  )
  const codes = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return {
    name,
    passed: [...codes].every((code) => expected[code] === actual[code]),
    expected,
    actual,
  }
}

interface Answer {
  readonly passed: number
  readonly failed: number
  readonly cases: readonly CaseResult[]
  readonly uncovered: ReturnType<typeof uncovered>
}

function toText(
  { terminal: { paint } }: CommandCall,
  { passed, failed, cases, uncovered: open }: Answer,
): string {
  const failures = cases
    .filter((one) => !one.passed)
    .map(
      ({ name, expected, actual }) =>
        `${paint.bad('failed')}  ${name}\n    expected ${JSON.stringify(expected)}\n    actual   ${JSON.stringify(actual)}\n`,
    )
  const holes = open.map(({ action_code, rule_id, branch }) =>
    branch === undefined
      ? `  ${action_code}  ${rule_id}: no case makes it give the verdict\n`
      : `  ${action_code}  ${rule_id}: no case has ${branch.guard} ${branch.value ? 'true' : 'false'}\n`,
  )
  return `${failures.join('')}${passed} passed, ${failed} failed\n${holes.length === 0 ? '' : `not reached:\n${holes.join('')}`}`
}
