/** `writ rules fmt` and `writ rules import`: rulesets printed in one form. */
import { writeFile } from 'node:fs/promises'
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import { rewriteGuards } from '../../constitution/index.ts'
import { importTemplate, type JsonObject, type Violation } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseActorsOut } from '../call/output-file.ts'
import { reasonOf } from '../call/source.ts'
import { admitRuleFiles, placedText, type RuleFile, readRuleFiles } from '../rules/files.ts'
import { toJson, toYaml, withGuards } from '../rules/survey-text.ts'

/**
 * `writ rules fmt`: one way to write a ruleset. Text guards by default, trees with `--guards tree`;
 * YAML stays YAML and JSON stays JSON unless `--to` says otherwise. Formatting twice changes nothing.
 */
export async function formatFile(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) throw usage('name one rule file')
  if (call.options.isOn('write')) await refuseActorsOut(call, name, '--write')
  const [file] = await readRuleFiles([name])
  if (file === undefined) throw usage('name one rule file')
  const text = format(
    file,
    choice(call, 'guards', ['text', 'tree'], 'text'),
    choice(call, 'to', ['yaml', 'json'], isYaml(name) ? 'yaml' : 'json'),
  )
  if (!call.options.isOn('write')) await call.terminal.out(text)
  else if (text !== file.text) await rewrite(name, text)
  return EXIT.yes
}

function format(file: RuleFile, guards: 'text' | 'tree', to: 'yaml' | 'json'): string {
  const document = rewriteGuards(file.document, guards)
  if (document === null) throw inadmissible(file)
  if (to === 'json') return toJson(document)
  return isYaml(file.name) ? withGuards(file.text, document) : toYaml(document)
}

function inadmissible(file: RuleFile): FaultError {
  const [first] = admitRuleFiles([file]).violations
  const reason =
    first === undefined
      ? `${showName(file.name)}: it is not a \`ruleset_v0\``
      : placedText(first, [file])
  const hint =
    first === undefined ? 'see `writ rules import`' : '`writ rules check` lists everything'
  return faultError('rules.inadmissible', file.name, `cannot be formatted: ${reason}`, hint)
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/i.test(name)
}

export function choice<const W extends string>(
  call: CommandCall,
  option: string,
  words: readonly W[],
  usual: W,
): W {
  const given = call.options.text(option)
  if (given === null) return usual
  const found = words.find((word) => word === given)
  if (found === undefined) throw usage(`\`--${option}\` is one of ${words.join(', ')}`)
  return found
}

async function rewrite(name: string, text: string): Promise<void> {
  try {
    await writeFile(name, text)
  } catch (thrown) {
    const reason = reasonOf(thrown)
    throw new FaultError(fault('cli.file_unwritable', name, { file: name, reason }))
  }
}

function usage(message: string): FaultError {
  return usageError(message, 'writ rules fmt apply.yaml')
}

/** `writ rules import`: prints a template-form file (`control_ruleset_v0`) as a `ruleset_v0`. */
export async function importFile(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  const [file] = name === undefined || others.length > 0 ? [] : await readRuleFiles([name])
  if (file === undefined)
    throw usageError('name one template file', 'writ rules import control.json')
  if (file.refusal !== null) throw notImported(file, file.refusal)
  const imported = importTemplate(file.document)
  if (!imported.ok) throw notImported(file, imported.violations[0])
  const to = choice(call, 'to', ['yaml', 'json'], call.options.isOn('json') ? 'json' : 'yaml')
  // An admitted template translates to an admitted ruleset, so this is never null.
  const document = rewriteGuards(imported.ruleset, to === 'yaml' ? 'text' : 'tree') as JsonObject
  await call.terminal.out(to === 'yaml' ? toYaml(document) : toJson(document))
  return EXIT.yes
}

function notImported(file: RuleFile, first: Violation | undefined): FaultError {
  const reason = first === undefined ? showName(file.name) : placedText(first, [file])
  return faultError(
    'rules.inadmissible',
    file.name,
    `cannot be imported: ${reason}`,
    '`writ rules check` lists everything',
  )
}
