/**
 * Whether the terminal of a run is a place to ask in. The command has used it, so two things are not
 * done there: nothing is asked while its output may still be on the way to the screen, and no
 * passphrase is asked for at all, since the command could have drawn the same prompt.
 */
import { fstatSync } from 'node:fs'
import type { Question } from '../../service/index.ts'
import type { Options } from '../call/command.ts'

/** Returns why a question of a run waits in the inbox although a person is there; null if it does not. */
export function whyNotHere({ need }: Pick<Question, 'need'>, options: Options): string | null {
  if (isPiped()) {
    return 'standard output goes through a pipe, so the command’s output could come after the question'
  }
  if (need === 'plain' || options.text('pass-fd') !== null) return null
  return `it needs a ${need} (\`writ principal pass\` sets one), which writ never asks for in a terminal that a command has used`
}

/** What went into a pipe is shown by another program, at a time of its own. */
function isPiped(): boolean {
  const output = fstatSync(1)
  return output.isFIFO() || output.isSocket()
}
