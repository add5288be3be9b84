/**
 * `writ rules test`: runs the cases that a rule suite carries, and says which rules and branches no
 * case reaches. A suite is a folder of rule files with `cases/*.json` in it.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { type Constitution, establish, type Inputs, uncovered } from '../../constitution/index.ts'
import { isObject, VERDICTS } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { parseSource, readSource } from '../call/source.ts'
import { usageError } from '../call/usage.ts'
import { loadAdmitted } from '../rules/files.ts'

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

export async function run(call: CommandCall): Promise<Exit> {
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
