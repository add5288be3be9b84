/** `writ completion SHELL`: prints a completion script. */
import { FaultError, fault } from '../../base/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { COMMANDS } from '../commands.ts'
import { completionScript, SHELLS } from '../reference/completion.ts'

export async function run(call: Call): Promise<Exit> {
  const [named, ...others] = call.arguments
  const shell = SHELLS.find((one) => one === named)
  if (shell === undefined || others.length > 0) {
    const message = `name one shell: ${SHELLS.join(', ')}`
    throw new FaultError(
      fault('cli.usage', '', null, { message, hint: 'source <(writ completion bash)' }),
    )
  }
  const script = completionScript(shell, COMMANDS)
  await call.terminal.out(
    call.options.isOn('json') ? `${JSON.stringify({ shell, script })}\n` : script,
  )
  return EXIT.yes
}
