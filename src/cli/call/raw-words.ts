/**
 * What a call names in bytes that are no text. Node hands such words and directories over with
 * replacement characters, by which they name something else: a command would be run on the wrong file.
 * So they are refused.
 */
import { isUtf8 } from 'node:buffer'
import { readFileSync, readlinkSync } from 'node:fs'
import type { FaultError } from '../../base/index.ts'
import { usageError } from './usage.ts'

const REPLACEMENT = '\ufffd'

export function refuseRawWords(argv: readonly string[]): void {
  if (argv.some((word) => isReplaced(word, () => readFileSync('/proc/self/cmdline')))) {
    throw refusal(
      'a word of the command line is not UTF-8 text',
      'put it into a script, and run that',
    )
  }
  if (isReplaced(currentDirectory(), () => readlinkSync('/proc/self/cwd', 'buffer'))) {
    throw refusal('the name of the current directory is not UTF-8 text', 'run it from above')
  }
}

/** Text may have the character of its own: then the bytes say so. */
function isReplaced(text: string, bytes: () => Buffer): boolean {
  if (!text.includes(REPLACEMENT)) return false
  try {
    return !isUtf8(bytes())
  } catch {
    // The bytes cannot be read, so the text counts as replaced.
    return true
  }
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    throw refusal('the current directory is not there any more', 'change to one that is')
  }
}

function refusal(message: string, hint: string): FaultError {
  return usageError(message, hint)
}
