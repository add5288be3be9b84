/**
 * Named pipes in stock. Commands get real pipes as output, since what Node makes by itself are sockets,
 * and `echo > /dev/stdout` cannot open a socket. Node cannot make named pipes: a program makes many at
 * once, before they are needed.
 *
 * Several processes may share a stock: a pipe belongs to the process that renamed it.
 */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { requireProgram, runProgram } from '../../machine/index.ts'

const BATCH = 48
const LOW = 12
/** Sets the mode by the umask: `mkfifo -m` would set it later, when the pipe may have been renamed. */
const MAKE = 'umask 177; exec "$@"'

export class FifoStock {
  readonly #directory: string
  #made = 0
  #refill: Promise<void> | null = null

  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.#keepUp(readdirSync(directory).length)
  }

  /** Moves one pipe to each of these paths; false when there are not enough, and none was moved. */
  takeNow(paths: readonly string[]): boolean {
    const names = readdirSync(this.#directory)
    const moved = this.#move(names, paths)
    this.#keepUp(names.length - moved)
    if (moved === paths.length) return true
    // Another process took some in this moment.
    for (const path of paths.slice(0, moved)) this.#giveBack(path)
    return false
  }

  /** The same, after more were made. */
  async take(paths: readonly string[]): Promise<void> {
    while (!this.takeNow(paths)) await this.#order()
  }

  /** Waits for what is under way, so that the directory can be removed. */
  async settle(): Promise<void> {
    await this.#refill?.catch(() => undefined)
  }

  /** How many could be moved. */
  #move(names: readonly string[], paths: readonly string[]): number {
    let moved = 0
    for (const name of names) {
      const path = paths[moved]
      if (path === undefined) break
      if (isMoved(join(this.#directory, name), path)) moved++
    }
    return moved
  }

  #giveBack(path: string): void {
    renameSync(path, join(this.#directory, `${process.pid}-${this.#made++}`))
  }

  #keepUp(count: number): void {
    if (count < LOW) this.#order()
  }

  #order(): Promise<void> {
    if (this.#refill === null) {
      this.#refill = this.#make().finally(() => {
        this.#refill = null
      })
      // A caller that needs a pipe awaits the next order and gets the failure there.
      this.#refill.catch(() => undefined)
    }
    return this.#refill
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () =>
      join(this.#directory, `${process.pid}-${this.#made++}`),
    )
    const words = ['-c', MAKE, 'writ', requireProgram('mkfifo'), ...paths]
    const { error } = await runProgram(requireProgram('sh'), words)
    if (error !== null) throw faultError('sandbox.failed', this.#directory, error.message)
  }
}

/** False when another process was faster; fails if there is no such place. */
function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    // Thrown by renameSync.
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isGone && existsSync(dirname(to))) return false
    throw error
  }
}
