/**
 * The program for `writ exec` alone, which `bin/writ.cjs` starts for that command. It imports all its
 * work at once, so esbuild writes the modules one after another into one scope, and leaves out what no
 * statement of them uses. In the whole program each module is a function that the next one calls.
 */
import { commandLine } from './command-line.ts'
import { run } from './commands/exec.ts'
import { EXEC } from './commands/exec-words.ts'
import { plainLines } from './history/text.ts'

export const main = commandLine([{ ...EXEC, load: async () => ({ run }) }], async () => plainLines)
