/**
 * A program that stays and answers requests one after another, for work that a long-lived process asks
 * for often: starting a program costs a process of this size several milliseconds. It ends when its
 * input ends, so it outlives this process by no more than a moment, and keeps it from nothing.
 *
 * An answer is lines, the last of which is a single full stop.
 */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { type ProgramPath, startProgram } from './programs.ts'

const END = '.\n'
const TIMEOUT_MS = 600_000

export class AnsweringProgram {
  readonly #child: ChildProcess
  #isAlive = true
  #line: Promise<unknown> = Promise.resolve()
  #said = ''
  #settle: ((answer: string | null) => void) | null = null

  /** `handle` becomes descriptor 3 of the program. */
  constructor(program: ProgramPath, args: readonly string[], handle: number | null = null) {
    this.#child = startProgram(program, args, {
      stdio: ['pipe', 'pipe', 'ignore', ...(handle === null ? [] : [handle])],
    })
    for (const event of ['error', 'exit'] as const) this.#child.once(event, () => this.#over())
    this.#child.stdin?.on('error', () => this.end())
    this.#child.stdout?.on('data', (piece: Buffer) => this.#hear(piece.toString('latin1')))
    this.#hold(false)
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Returns the lines of the answer; null if the program is gone before it has answered. */
  ask(request: string): Promise<readonly string[] | null> {
    const asked = this.#line.then(() => this.#ask(request))
    this.#line = asked
    return asked
  }

  end(): void {
    this.#child.kill('SIGKILL')
    this.#over()
  }

  async #ask(request: string): Promise<readonly string[] | null> {
    if (!this.#isAlive) return null
    this.#hold(true)
    const timer = setTimeout(() => this.end(), TIMEOUT_MS)
    const answer = await new Promise<string | null>((resolve) => {
      this.#settle = resolve
      this.#child.stdin?.write(request, 'latin1')
    })
    clearTimeout(timer)
    this.#hold(false)
    return answer === null ? null : answer.split('\n').slice(0, -2)
  }

  #hear(text: string): void {
    this.#said += text
    if (this.#said !== END && !this.#said.endsWith(`\n${END}`)) return
    const said = this.#said
    this.#said = ''
    this.#settle?.(said)
  }

  #over(): void {
    this.#isAlive = false
    this.#settle?.(null)
  }

  /** Lets this process wait for an answer, and for nothing else of the program. */
  #hold(isAwaited: boolean): void {
    const { stdin, stdout } = this.#child
    // Node's pipes to a child are sockets.
    const sockets = [stdin, stdout] as unknown as readonly (Socket | Readable | null)[]
    for (const part of [this.#child, ...sockets]) {
      if (part === null || !('unref' in part)) continue
      if (isAwaited) part.ref()
      else part.unref()
    }
  }
}
