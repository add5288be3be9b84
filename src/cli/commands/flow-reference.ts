/** `writ flow reference`: the page of the flow language; docs/flow-language.md is exactly this. */
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { flowLanguagePage } from '../reference/flow-language.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const page = flowLanguagePage()
  await call.terminal.out(call.options.isOn('json') ? `${JSON.stringify({ page })}\n` : page)
  return EXIT.yes
}
