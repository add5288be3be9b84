/**
 * Recognises in the output of a command that failed what cannot be done inside a run (a directory that
 * cannot be renamed, hard links of a local `git clone`), and says why and what to type: the words of
 * the programs themselves do not tell.
 */

import type { GateAnswer, ProposeOptions } from '../../service/index.ts'

type LiveRun = NonNullable<ProposeOptions['live']>

const RENAME = /EXDEV|cross-device link/i
const HARD_LINK = /hardlink (?:different from source|cannot be checked)/
/** A word may come in two pieces. */
const KEPT = 48

export class FailureNote {
  #tail = ''
  #seen: 'rename' | 'hard_link' | null = null

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
    if (this.#seen !== null) return
    const text = `${this.#tail}${Buffer.from(bytes).toString('latin1')}`
    if (RENAME.test(text)) this.#seen = 'rename'
    else if (HARD_LINK.test(text)) this.#seen = 'hard_link'
    this.#tail = text.slice(-KEPT)
  }

  /** Null where the command said nothing of the kind, or went well. */
  text(result: GateAnswer['result']): string | null {
    const isFailed = result !== null && result.execution.exit_code !== 0
    if (this.#seen === null || !isFailed) return null
    return this.#seen === 'hard_link' ? LINKED : REFUSED
  }
}

const LINKED = [
  'writ: git could not link the files of the repository that it copies',
  '  why:  a clone of a directory of this machine makes hard links; inside a run a link to a real file has another inode number, which git takes for an attack',
  '  next: git clone --no-hardlinks DIR; for a submodule: git -c protocol.file.allow=always submodule add file:///PATH/OF/DIR',
].join('\n')

const REFUSED = [
  'writ: the command could not rename a directory (EXDEV)',
  '  why:  something inside it is hidden from the run or may not be changed, or the new name lies in another tree',
  '  next: use `mv`, which copies, or rename what lies inside one by one',
].join('\n')
