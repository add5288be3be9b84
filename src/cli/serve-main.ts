/**
 * The program for `writ serve`, which `bin/writ.cjs` starts for that command. It holds the HTTP server,
 * which no other command needs.
 */
import { commandLine } from './command-line.ts'
import { run } from './commands/serve.ts'
import { SERVER_COMMANDS } from './commands/server-table.ts'
import { plainLines } from './history/text.ts'

const commands = SERVER_COMMANDS.map((one) => ({ ...one, load: async () => ({ run }) }))

export const main = commandLine(commands, async () => plainLines)
