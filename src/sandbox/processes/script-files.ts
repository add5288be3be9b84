/**
 * The files that the shells inside read, held open for writing: they lie there for whichever shell is
 * told to begin, and nothing has to be opened when a command is waited for.
 */
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxFailure } from '../driver/failure.ts'
import type { RunScripts } from './run-script.ts'

/** Their names in a sandbox's directory. */
export const OWN = 'command'
export const AROUND = 'around'

export class ScriptFiles {
  readonly #own: ScriptFile
  readonly #around: ScriptFile

  constructor(directory: string) {
    this.#own = new ScriptFile(join(directory, OWN))
    try {
      this.#around = new ScriptFile(join(directory, AROUND))
    } catch (error) {
      this.#own.close()
      throw error
    }
  }

  write({ own, around }: RunScripts): void {
    this.#own.write(own)
    this.#around.write(around)
  }

  close(): void {
    this.#own.close()
    this.#around.close()
  }
}

class ScriptFile {
  readonly #descriptor: number
  /** What is in it; null when that is not known. */
  #text: string | null = ''

  constructor(path: string) {
    this.#descriptor = openSync(path, 'wx', 0o600)
  }

  write(text: string): void {
    if (text === this.#text) return
    const isEmpty = this.#text === ''
    this.#text = null
    if (!isEmpty) ftruncateSync(this.#descriptor)
    if (!this.#isWritten(Buffer.from(text))) {
      throw sandboxFailure('sandbox.failed', '', 'there is no room for the script of the command')
    }
    this.#text = text
  }

  #isWritten(bytes: Buffer): boolean {
    try {
      return writeSync(this.#descriptor, bytes, 0, bytes.length, 0) === bytes.length
    } catch (error) {
      // Thrown by writeSync.
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
      throw error
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
