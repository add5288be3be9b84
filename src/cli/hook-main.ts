/**
 * The program for `writ hook event`, which hooks start before and after each tool call of an agent:
 * reading the whole program would take longer than all that it does.
 */
import { commandLine } from './command-line.ts'
import { HOOK_EVENT } from './commands/hook-table.ts'
import { plainLines } from './history/text.ts'

export const main = commandLine([HOOK_EVENT], async () => plainLines)
