/**
 * `writ check` and `writ normalize`: one document, or one a line, judged or repaired and judged.
 */
import { randomUUID } from 'node:crypto'
import type { FaultError } from '../../base/index.ts'
import {
  type CheckAnswer,
  type Context,
  checkDocument,
  checkRead,
  type NormaliseAnswer,
  normaliseAndValidate,
  normaliseRefused,
  resolveContract,
  type Sources,
  unknownContract,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { answerLines, readEnvelope } from '../call/line-answers.ts'
import { parseSource, readContext, readSource } from '../call/source.ts'
import { type Paint, violationText } from '../call/terminal.ts'

/** `writ check`: is this document valid, and if not, what is wrong and where. */
export async function check(call: CommandCall): Promise<Exit> {
  const context = await readContext(call.options.text('context'))
  const as = call.options.text('as')
  if (call.options.isOn('jsonl')) return answerLines(call, (line) => checkLine(line, as, context))
  if (call.arguments.length === 0) {
    throw usageError('name a file, or `-` for standard input', 'writ check task.json')
  }
  const answers: NamedAnswer[] = []
  for (const file of call.arguments) answers.push({ file, ...(await checkFile(file, as, context)) })
  await call.terminal.out(
    call.options.isOn('json') ? toJson(answers) : checkText(answers, call.terminal.paint),
  )
  return answers.every(({ valid }) => valid) ? EXIT.yes : EXIT.no
}

interface NamedAnswer extends CheckAnswer {
  readonly file: string
}

async function checkFile(file: string, as: string | null, context: Context): Promise<CheckAnswer> {
  const source = await readSource(file)
  const named = as === null ? null : resolveContract(as)
  if (as !== null && named === null) {
    return { valid: false, contract: null, violations: [unknownContract(as)] }
  }
  const reading = await parseSource(source, named?.contract.limits)
  if (!reading.ok) {
    return { valid: false, contract: named?.contract.name ?? null, violations: [reading.refusal] }
  }
  return checkDocument(reading.value, as === null ? { context } : { as, context })
}

const VALID_LINES = new Map<string, string>()

function checkLine(
  line: Buffer | null,
  as: string | null,
  context: Context,
): { text: string; valid: boolean } {
  const envelope = readEnvelope(line)
  if (!envelope.ok) return lineOf({ valid: false, contract: null, violations: [envelope.refusal] })
  const name = envelope.as ?? as
  const joined = { ...context, ...envelope.context }
  const options = name === null ? { context: joined } : { as: name, context: joined }
  return lineOf((envelope.isSmall ? checkRead : checkDocument)(envelope.document, options))
}

function lineOf(answer: CheckAnswer): { text: string; valid: boolean } {
  if (!answer.valid) return { text: `${JSON.stringify(shape(answer))}\n`, valid: false }
  const name = answer.contract ?? ''
  let text = VALID_LINES.get(name)
  if (text === undefined) {
    text = `${JSON.stringify(shape(answer))}\n`
    VALID_LINES.set(name, text)
  }
  return { text, valid: true }
}

function shape({ valid, contract, violations }: CheckAnswer): CheckAnswer {
  return { valid, contract, violations }
}

function toJson(answers: readonly NamedAnswer[]): string {
  const [first, ...others] = answers
  if (first !== undefined && others.length === 0) return `${JSON.stringify(shape(first))}\n`
  return `${JSON.stringify({ valid: answers.every(({ valid }) => valid), files: answers })}\n`
}

function checkText(answers: readonly NamedAnswer[], paint: Paint): string {
  return answers.map((answer) => `${answerText(answer, paint)}\n`).join('')
}

function answerText({ file, valid, contract, violations }: NamedAnswer, paint: Paint): string {
  const name = contract ?? 'unknown contract'
  if (valid) return `${paint.good('valid')}    ${file}  ${paint.dim(name)}`
  const count = violations.length === 1 ? '1 violation' : `${violations.length} violations`
  return [
    `${paint.bad('invalid')}  ${file}  ${paint.dim(name)}, ${count}`,
    ...violations.map((one) => violationText(one, paint)),
  ].join('\n')
}

/** `writ normalize`: repairs what a contract allows to be repaired, says what it did, validates. */
export async function normalize(call: CommandCall): Promise<Exit> {
  const context = await readContext(call.options.text('context'))
  const scope = call.options.text('as')
  if (call.options.isOn('jsonl'))
    return answerLines(call, (line) => normaliseLine(line, scope, context))
  if (scope === null) throw usage('name the scope with `--as`, such as `--as TASK_ACTION`')
  const [file, ...others] = call.arguments
  if (file === undefined || others.length > 0)
    throw usage('name one file, or `-` for standard input')
  const answer = await normaliseFile(file, scope, context)
  const json = call.options.isOn('json') || !call.terminal.isTty
  await call.terminal.out(
    json ? `${JSON.stringify(answer)}\n` : normalisedText(answer, call.terminal.paint),
  )
  return answer.valid ? EXIT.yes : EXIT.no
}

function usage(message: string): FaultError {
  return usageError(message, 'writ normalize --as PLAN_GEN plan.json')
}

function sources(): Sources {
  return { nowMs: Date.now(), newId: randomUUID }
}

async function normaliseFile(
  file: string,
  scope: string,
  context: Context,
): Promise<NormaliseAnswer> {
  const reading = await parseSource(await readSource(file))
  if (!reading.ok) return normaliseRefused(scope, reading.refusal)
  return normaliseAndValidate(scope, reading.value, context, sources())
}

function normaliseLine(
  line: Buffer | null,
  scope: string | null,
  context: Context,
): { text: string; valid: boolean } {
  const envelope = readEnvelope(line)
  const answer = envelope.ok
    ? normaliseAndValidate(
        envelope.as ?? scope ?? '',
        envelope.document,
        { ...context, ...envelope.context },
        sources(),
      )
    : normaliseRefused(scope ?? '', envelope.refusal)
  return { text: `${JSON.stringify(answer)}\n`, valid: answer.valid }
}

function normalisedText(
  { valid, normalized, repairs, error }: NormaliseAnswer,
  paint: Paint,
): string {
  const repaired = repairs.map(({ path, rule, from, to }) => {
    const change = `${JSON.stringify(from) ?? 'absent'} → ${JSON.stringify(to) ?? 'absent'}`
    return `  ${paint.accent(path === '' ? '(the document)' : path)}  ${paint.dim(rule)}  ${cut(change)}\n`
  })
  const failure =
    error === null
      ? ''
      : `${paint.bad('invalid')}  ${error.json_path}: expected ${error.expected}, found ${error.actual}\n`
  const head = `${valid ? paint.good('valid') : ''}${valid ? `  after ${repairs.length} repairs\n` : ''}`
  return `${JSON.stringify(normalized, null, 2)}\n${head}${failure}${repaired.join('')}`
}

function cut(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`
}
