/** `writ completion SHELL`: prints a completion script; with `--ids` what the script offers. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
import { completionScript, ID_KINDS, knownIds, SHELLS } from '../reference/completion.ts'
import { COMMANDS } from './table.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const kind = call.options.text('ids')
  if (kind !== null) return printIds(call, kind)
  const [named, ...others] = call.arguments
  const shell = SHELLS.find((one) => one === named)
  if (shell === undefined || others.length > 0) {
    throw usageError(`name one shell: ${SHELLS.join(', ')}`, 'source <(writ completion bash)')
  }
  const script = completionScript(shell, COMMANDS)
  await call.terminal.out(
    call.options.isOn('json') ? `${JSON.stringify({ shell, script })}\n` : script,
  )
  return EXIT.yes
}

/** Nothing where no home is, or one that cannot be read: a tab key is no place for an error. */
async function printIds(call: CommandCall, named: string): Promise<Exit> {
  const kind = ID_KINDS.find((one) => one === named)
  if (kind === undefined) {
    throw usageError(`name one kind of ids: ${ID_KINDS.join(', ')}`)
  }
  const ids = await knownIds(call, kind).catch(() => [])
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify({ ids })}\n`
      : ids.map((id) => `${id}\n`).join(''),
  )
  return EXIT.yes
}
