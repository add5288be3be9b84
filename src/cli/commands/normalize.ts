/** `writ normalize`: repairs what a contract allows to be repaired, says what it did, validates. */
import { randomUUID } from 'node:crypto'
import type { FaultError } from '../../base/index.ts'
import {
  type Context,
  type NormaliseAnswer,
  normaliseAndValidate,
  normaliseRefused,
  type Sources,
} from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { answerLines, readEnvelope } from '../call/line-answers.ts'
import { parseSource, readContext, readSource } from '../call/source.ts'
import type { Paint } from '../call/terminal.ts'
import { usageError } from '../call/usage.ts'

export async function run(call: CommandCall): Promise<Exit> {
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
    json ? `${JSON.stringify(answer)}\n` : toText(answer, call.terminal.paint),
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

function toText({ valid, normalized, repairs, error }: NormaliseAnswer, paint: Paint): string {
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
