/**
 * The host's end of the side shell: a shell that waits next to a command, in the same namespaces and
 * under the same caps, and runs further commands one after another. It reads their scripts from the
 * socket of the first process, which the command does not have. Their streams are named pipes.
 */

import { faultError } from '../../base/index.ts'
import { quote } from '../../machine/index.ts'
import type { SideRequest } from '../driver/driver.ts'

import { type Ends, feed, finish, flow, openEnds, type Pipes } from '../pipes/pipe-ends.ts'
import { commandLines, limitLines, type ProcessLimits, toolPipes } from './run-script.ts'

export function noCommandLeft() {
  const message = 'the command of the sandbox has ended, so no other can run next to it'
  return faultError('sandbox.closed', '', message)
}

interface Told {
  readonly request: SideRequest
  readonly ends: Ends
  readonly settle: (status: number | null) => void
}

export class SideShell {
  readonly #pipes: Pipes
  readonly #limits: ProcessLimits
  readonly #tell: (line: string) => void
  #told: Told | null = null
  #isDone = false

  constructor(directory: string, limits: ProcessLimits, tell: (line: string) => void) {
    this.#pipes = toolPipes(directory)
    this.#limits = limits
    this.#tell = tell
  }

  /** The exit status; null when it did not come to its end. One at a time. */
  async run(request: SideRequest): Promise<number | null> {
    if (this.#isDone || this.#told !== null) throw noCommandLeft()
    return new Promise((settle) => {
      const ends = openEnds(this.#pipes)
      flow(ends, request.onOutput)
      this.#told = { request, ends, settle }
      for (const line of this.#script(request).split('\n')) this.#tell(`+${line}`)
      this.#tell('.')
    })
  }

  /** A line of the shells inside; false when it is not about this. */
  take(line: string): boolean {
    if (line === 'D') {
      this.#isDone = true
      if (this.#told === null) this.#tell('end')
      return true
    }
    if (line === 'S') {
      if (this.#told !== null) feed(this.#told.ends.stdin, this.#told.request.stdin)
      return true
    }
    const [, status] = /^O(\d+)$/.exec(line) ?? []
    if (status === undefined) return false
    this.#settle(Number(status))
    if (this.#isDone) this.#tell('end')
    return true
  }

  /** Everything inside is dead. */
  end(): void {
    this.#isDone = true
    this.#settle(null)
  }

  #settle(status: number | null): void {
    const told = this.#told
    if (told === null) return
    this.#told = null
    finish(told.ends, this.#pipes, told.request.onOutput)
    told.settle(status)
  }

  #script({ argv, cwd, env }: SideRequest): string {
    return [
      ...limitLines(this.#limits),
      `cd ${quote(cwd)} || exit 125`,
      ...commandLines(argv, env),
    ].join('\n')
  }
}
