/** The program: the command line with every command, each loaded when it is called. */
import { commandLine } from './command-line.ts'
import { COMMANDS } from './commands/table.ts'

export const main = commandLine(COMMANDS, async () => {
  const { plainLines } = await import('./history/text.ts')
  return plainLines
})
