/** The program: the command line with every command, each loaded when it is called. */
import type { Command } from './call/command.ts'
import { commandLine } from './command-line.ts'
import { COMMANDS } from './commands/table.ts'

/** With `WRIT_URL` a service carries the commands out that it has routes for. */
const isServed = (process.env['WRIT_URL'] ?? '') !== ''

async function served(): Promise<readonly Command[]> {
  const { carriedOut, withProof } = await import('./remote/carried-out.ts')
  return COMMANDS.map((one) => ({ ...withProof(one), load: () => carriedOut(one) }))
}

const loadLines = async () => (await import('./history/text.ts')).plainLines

export async function main(argv: readonly string[]) {
  return commandLine(isServed ? await served() : COMMANDS, loadLines)(argv)
}
