/**
 * The program for `writ worker`, which `bin/writ.cjs` starts for it. It holds the engine of jobs, which
 * no other command needs.
 */
import { commandLine } from './command-line.ts'
import { FLEET_COMMANDS } from './commands/fleet-table.ts'
import { plainLines } from './history/text.ts'

export const main = commandLine(FLEET_COMMANDS, async () => plainLines)
