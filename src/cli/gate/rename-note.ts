/**
 * Recognises in the output of a command that failed that it could not rename a directory, and says why
 * and what to do: programs tell it by a word about devices that nobody understands here.
 */

import { installCommand } from '../../machine/index.ts'
import { findMakers } from '../../sandbox/index.ts'
import type { GateAnswer, ProposeOptions } from '../../service/index.ts'

type LiveRun = NonNullable<ProposeOptions['live']>

const WORDS = /EXDEV|cross-device link/i
/** A word may come in two pieces. */
const KEPT = 32

export class RenameNote {
  #tail = ''
  #isSeen = false

  /** The same run, with an ear on its output. */
  watching(run: LiveRun): LiveRun {
    return {
      ...run,
      onOutput: (stream, bytes) => {
        this.take(bytes)
        run.onOutput(stream, bytes)
      },
    }
  }

  take(bytes: Uint8Array): void {
    if (this.#isSeen) return
    const text = `${this.#tail}${Buffer.from(bytes).toString('latin1')}`
    this.#isSeen = WORDS.test(text)
    this.#tail = text.slice(-KEPT)
  }

  /** Null where the command said nothing of the kind, or went well. */
  text(result: GateAnswer['result'], makers = findMakers()): string | null {
    const isFailed = result !== null && result.execution.exit_code !== 0
    if (!this.#isSeen || !isFailed) return null
    return makers === 'one' ? REFUSED : NO_PERL
  }
}

const REFUSED = [
  'writ: the command could not rename a directory (EXDEV)',
  '  why:  something inside it is hidden from the run or may not be changed, or the new name lies in another tree',
  '  next: use `mv`, which copies, or rename what lies inside one by one',
].join('\n')

const NO_PERL = [
  'writ: the command could not rename a directory (EXDEV)',
  '  why:  directories of the real tree are renamed inside a run with the help of `perl`, which is not installed',
  `  next: ${installCommand('perl')}  (or use \`mv\`, which copies)`,
].join('\n')
