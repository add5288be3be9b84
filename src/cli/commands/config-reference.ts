/** `writ config reference`: the page of all settings and variables, in Markdown. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { referencePage } from '../reference/settings.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const page = referencePage()
  await call.terminal.out(call.options.isOn('json') ? `${JSON.stringify({ page })}\n` : page)
  return EXIT.yes
}
