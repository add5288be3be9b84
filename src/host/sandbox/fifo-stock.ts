/**
 * Named pipes in stock. Commands get real pipes as output, since what Node makes by itself are sockets,
 * and `echo > /dev/stdout` cannot open a socket. Node cannot make named pipes: a program makes many at
 * once, before they are needed.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { sandboxFailure } from './failure.ts'
import { PROGRAM_ENV, requireProgram } from './programs.ts'

const BATCH = 48
const LOW = 12

export class FifoStock {
  readonly #directory: string
  #stock: string[] = []
  #made = 0
  #refill: Promise<void> | null = null

  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(directory, { mode: 0o700 })
    this.#order()
  }

  /** Moves one pipe to each of these paths. */
  async take(paths: readonly string[]): Promise<void> {
    while (this.#stock.length < paths.length) await this.#order()
    for (const path of paths) renameSync(this.#stock.pop() ?? '', path)
    if (this.#stock.length < LOW) this.#order()
  }

  /** Waits for what is under way, so that the directory can be removed. */
  async settle(): Promise<void> {
    await this.#refill?.catch(() => undefined)
  }

  #order(): Promise<void> {
    if (this.#refill === null) {
      this.#refill = this.#make().finally(() => {
        this.#refill = null
      })
      // Whoever needs a pipe awaits the next order and hears of the failure there.
      this.#refill.catch(() => undefined)
    }
    return this.#refill
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.#directory, `${this.#made++}`))
    await new Promise<void>((resolve, reject) => {
      const options = { env: PROGRAM_ENV, cwd: '/' }
      execFile(requireProgram('mkfifo'), ['-m', '600', ...paths], options, (error) => {
        if (error === null) resolve()
        else reject(sandboxFailure('sandbox.failed', this.#directory, error.message))
      })
    })
    this.#stock.push(...paths)
  }
}
