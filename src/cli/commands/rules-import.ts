/** `writ rules import`: prints a template-form file (`control_ruleset_v0`) as a `ruleset_v0`. */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { rewriteGuards } from '../../constitution/index.ts'
import { importTemplate, type JsonObject, type Violation } from '../../contracts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
import { placedText, type RuleFile, readRuleFiles } from '../rules/files.ts'
import { toJson, toYaml } from '../rules/print.ts'
import { choice } from './rules-fmt.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  const [file] = name === undefined || others.length > 0 ? [] : await readRuleFiles([name])
  if (file === undefined)
    throw usageError('name one template file', 'writ rules import control.json')
  if (file.refusal !== null) throw inadmissible(file, file.refusal)
  const imported = importTemplate(file.document)
  if (!imported.ok) throw inadmissible(file, imported.violations[0])
  const to = choice(call, 'to', ['yaml', 'json'], call.options.isOn('json') ? 'json' : 'yaml')
  // An admitted template translates to an admitted ruleset, so this is never null.
  const document = rewriteGuards(imported.ruleset, to === 'yaml' ? 'text' : 'tree') as JsonObject
  await call.terminal.out(to === 'yaml' ? toYaml(document) : toJson(document))
  return EXIT.yes
}

function inadmissible(file: RuleFile, first: Violation | undefined): FaultError {
  const reason = first === undefined ? showName(file.name) : placedText(first, [file])
  return faultError(
    'rules.inadmissible',
    file.name,
    `cannot be imported: ${reason}`,
    '`writ rules check` lists everything',
  )
}
