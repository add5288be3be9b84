/**
 * The program for `writ run` and `writ session`, which `bin/writ.cjs` starts for these commands: its
 * compiled code holds what sessions need, which the code of the whole program would make every other
 * command read.
 */
import { commandLine } from './command-line.ts'
import { SESSION_COMMANDS } from './commands/session-table.ts'
import { plainLines } from './history/text.ts'

export const main = commandLine(SESSION_COMMANDS, async () => plainLines)
