/** The workers of `workers.ts`, in a sandbox or in a plain directory, one command after another. */
import { spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import type { RunOutcome, Sandbox } from '../../src/sandbox/index.ts'
import { WORKER_PROGRAM, WORKERS } from './workers.ts'

export interface Peer {
  ask(worker: number | 'x', ...words: readonly string[]): Promise<string>
  end(): Promise<void>
}

/** Answers come in the order of the commands. */
class Answers {
  #text = ''
  #ended: string | null = null
  readonly #waiting: ((line: string) => void)[] = []

  add(text: string): void {
    this.#text += text
    for (let end = this.#text.indexOf('\n'); end >= 0; end = this.#text.indexOf('\n')) {
      const line = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 1)
      this.#waiting.shift()?.(line)
    }
  }

  next(): Promise<string> {
    if (this.#ended !== null) return Promise.resolve(`ended ${this.#ended}`)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  end(why: string): void {
    this.#ended = why
    for (const wake of this.#waiting.splice(0)) wake(`ended ${why}`)
  }
}

const ARGV = (root: string): [string, ...string[]] => [
  '/usr/bin/perl',
  '-e',
  WORKER_PROGRAM,
  root,
  String(WORKERS),
]

export function startInside(
  sandbox: Sandbox,
  root: string,
): Peer & { outcome: Promise<RunOutcome> } {
  const stdin = new PassThrough()
  const answers = new Answers()
  const abort = new AbortController()
  const outcome = sandbox.run({
    argv: ARGV(root),
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdin,
    terminal: null,
    onOutput: (stream, bytes) => {
      if (stream === 'stdout') answers.add(Buffer.from(bytes).toString('latin1'))
      else process.stderr.write(bytes)
    },
    abort: abort.signal,
  })
  outcome.then(
    (end) => answers.end(JSON.stringify(end)),
    (error: unknown) => answers.end(String(error)),
  )
  return {
    outcome,
    ask: (worker, ...words) => {
      stdin.write(`${[worker, ...words].join('\t')}\n`, 'latin1')
      return answers.next()
    },
    end: async () => {
      abort.abort()
      await outcome
    },
  }
}

export function startOutside(root: string): Peer {
  const [program, ...args] = ARGV(root)
  const child = spawn(program, args, { cwd: '/', stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = new Answers()
  child.stdout.on('data', (bytes: Buffer) => answers.add(bytes.toString('latin1')))
  child.once('close', (status) => answers.end(String(status)))
  return {
    ask: (worker, ...words) => {
      child.stdin.write(`${[worker, ...words].join('\t')}\n`, 'latin1')
      return answers.next()
    },
    end: () =>
      new Promise((resolve) => {
        child.once('close', () => resolve())
        child.stdin.end()
        child.kill('SIGKILL')
      }),
  }
}
