/** Answers of commands that were asked for with an idempotency key, kept for a day. */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, readIfThere, writeWhole } from '../machine/index.ts'
import type { Reply } from './handlers/route-call.ts'

const DAY_MS = 86_400_000

export class KeptAnswers {
  readonly #folder: string

  constructor(state: string) {
    this.#folder = join(state, 'service', 'answers')
  }

  keep(name: string, reply: Reply): void {
    makeFolder(this.#folder, 0o700)
    this.#forget()
    writeWhole(this.#file(name), JSON.stringify(reply), 0o600)
  }

  find(name: string): Reply | null {
    const text = readIfThere(this.#file(name))
    // The file is this class's own.
    return text === null ? null : (JSON.parse(text.toString()) as Reply)
  }

  #file(name: string): string {
    return join(this.#folder, createHash('sha256').update(name).digest('hex'))
  }

  #forget(): void {
    for (const file of readdirSync(this.#folder)) {
      const path = join(this.#folder, file)
      if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { force: true })
    }
  }
}
