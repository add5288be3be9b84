/** The mode of this process's own terminal, for what Node has no call for. */
import { findProgram, runProgramNow } from './programs.ts'

/** Stops the terminal from making two characters of a line feed; without `stty` it goes on. */
export function stopOutputProcessing(): void {
  const stty = findProgram('stty')
  if (stty !== null) runProgramNow(stty, ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}
