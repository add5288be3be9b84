/** `writ log --follow` in a process of its own, and what it has printed so far. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const WAIT_MS_MAX = 45_000

// biome-ignore lint/suspicious/noExplicitAny: facts are looked into by the tests
type Json = any

export class Follower {
  readonly #child: ChildProcess
  #out = ''
  /** What it printed for people. */
  said = ''
  /** The exit status. */
  readonly ended: Promise<number | null>

  constructor(cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]) {
    const words = [PROGRAM, 'log', '--follow', '--jsonl', ...args]
    const child = spawn(process.execPath, words, { cwd, env })
    this.#child = child
    this.ended = new Promise((resolve) => child.once('close', resolve))
    child.stdout.on('data', (chunk) => {
      this.#out += chunk
    })
    child.stderr.on('data', (chunk) => {
      this.said += chunk
    })
  }

  get facts(): readonly Json[] {
    return this.#out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  get seqs(): readonly number[] {
    return this.facts.map(({ seq }) => seq)
  }

  /** Waits until so many facts were printed. */
  async reached(count: number): Promise<void> {
    for (const until = Date.now() + WAIT_MS_MAX; this.facts.length < count; ) {
      if (Date.now() > until || this.#child.exitCode !== null) {
        throw new Error(`followed: ${this.#out} ${this.said}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async end(): Promise<void> {
    this.#child.kill()
    await this.ended
  }
}
