/** `writ rules diff`: exactly which inputs change their verdict, with one of each kind. */
import { difference } from '../../constitution/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
import { withinBudget } from '../rules/budget.ts'
import { loadAdmitted } from '../rules/files.ts'
import { witnessText } from '../rules/survey-text.ts'

export async function run(call: CommandCall): Promise<Exit> {
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
