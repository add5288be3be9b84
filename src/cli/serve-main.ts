/**
 * The program for `writ serve` and `writ mcp`, which `bin/writ.cjs` starts for these commands. It holds
 * the HTTP server and the MCP server, which no other command needs.
 */
import { commandLine } from './command-line.ts'
import { run as mcp } from './commands/mcp.ts'
import { run as serve } from './commands/serve.ts'
import { SERVER_COMMANDS } from './commands/server-table.ts'
import { plainLines } from './history/text.ts'

const RUNS: Readonly<Record<string, typeof serve>> = { serve, mcp }

const commands = SERVER_COMMANDS.map((one) => {
  const { [one.name]: run = serve } = RUNS
  return { ...one, load: async () => ({ run }) }
})

export const main = commandLine(commands, async () => plainLines)
