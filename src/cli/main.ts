/** The program: the command line with every command, each loaded when it is called. */
import type { Command } from './call/command.ts'
import { commandLine } from './command-line.ts'
import { COMMANDS } from './commands/table.ts'

/** With `WRIT_URL` a service carries the commands out that it has routes for. */
const isServed = (process.env['WRIT_URL'] ?? '') !== ''

function served(command: Command): Command {
  const load = async () => (await import('./remote/carried-out.ts')).carriedOut(command)
  return { ...command, load }
}

export const main = commandLine(isServed ? COMMANDS.map(served) : COMMANDS, async () => {
  const { plainLines } = await import('./history/text.ts')
  return plainLines
})
