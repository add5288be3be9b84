/**
 * The program of this installation, run for a request: a process of its own, without a shell, as the
 * bearer of the token that the request showed. So who calls is looked at again by the command itself,
 * and a request can do what the same call at a terminal could, and nothing else.
 */
import type { ChildProcess } from 'node:child_process'
import { faultError } from '../../base/index.ts'
import { startOwn } from '../../machine/index.ts'
import { Turnstile } from './turnstile.ts'

export interface ProgramOrder {
  readonly argv: readonly string[]
  readonly cwd: string
  /** Null for the local human, who has none. */
  readonly token: string | null
  /** Handed over on the descriptor of `--pass-fd`. */
  readonly passphrase: string | null
  /** Null for an input that ends with the service. */
  readonly input: string | null
  /** Files outside of this directory are not read; null for no such bound. */
  readonly readsBelow: string | null
  readonly limitMs: number
  /** Waits for no other command; a halt is one. */
  readonly isUrgent: boolean
  /** Ends the process. */
  readonly abort: AbortSignal | null
}

export interface ProgramEnd {
  /** Null of a process that was ended. */
  readonly status: number | null
  readonly out: string
  readonly err: string
}

interface StartedProgram {
  readonly ended: Promise<ProgramEnd>
  /** What it has written to its standard error so far. */
  readonly err: () => string
}

export const PASS_DESCRIPTOR = 3
const OUTPUT_BYTES_MAX = 64 << 20
const ERROR_BYTES_MAX = 1 << 20
const GRACE_MS = 5_000
/** Of one caller. */
const WAITING_MAX = 16
const URGENT_AT_ONCE = 2
const WALKS_MAX = 32
/** How long a process that walks a run may take to stop in order. */
const DRAIN_MS = 20_000

export class ProgramRuns {
  readonly #program: string
  readonly #env: NodeJS.ProcessEnv
  readonly #places: Turnstile
  readonly #urgent = new Turnstile(URGENT_AT_ONCE, WAITING_MAX)
  readonly #walks = new Map<ChildProcess, Promise<ProgramEnd>>()

  constructor(program: string, env: NodeJS.ProcessEnv, atOnce: number) {
    this.#program = program
    this.#env = ownVariables(env)
    this.#places = new Turnstile(atOnce, WAITING_MAX)
  }

  /** Runs a command to its end. */
  run(order: ProgramOrder): Promise<ProgramEnd> {
    const places = order.isUrgent ? this.#urgent : this.#places
    return places.pass(() => watched(this.#start(order), order).ended, order.token ?? '')
  }

  /** Starts a command that may take hours; it is stopped with the service. */
  walk(order: ProgramOrder): StartedProgram {
    if (this.#walks.size >= WALKS_MAX)
      throw faultError('api.busy', '', 'too many runs are walked', 'ask again when some have ended')
    const child = this.#start(order)
    const started = watched(child, order)
    this.#walks.set(child, started.ended)
    started.ended.finally(() => this.#walks.delete(child)).catch(() => undefined)
    return started
  }

  /** How many commands are under way, for the metrics. */
  get walks(): number {
    return this.#walks.size
  }

  /** Stops what is walked; its facts are there to go on from. */
  async close(): Promise<void> {
    const late = setTimeout(() => this.#end('SIGKILL'), DRAIN_MS)
    this.#end('SIGTERM')
    await Promise.allSettled(this.#walks.values())
    clearTimeout(late)
  }

  #end(signal: NodeJS.Signals): void {
    for (const child of this.#walks.keys()) child.kill(signal)
  }

  #start({ argv, cwd, token, passphrase, input, readsBelow }: ProgramOrder): ChildProcess {
    const env = {
      ...this.#env,
      ...(token === null ? {} : { WRIT_TOKEN: token }),
      ...(readsBelow === null ? {} : { WRIT_READS_BELOW: readsBelow }),
    }
    const child = startOwn(this.#program, argv, { cwd, env })
    // A command that ends before it has read everything is no failure.
    for (const stream of child.stdio) stream?.on('error', () => undefined)
    // Without an end of its input a command knows that the service is there.
    if (input !== null) child.stdin?.end(input)
    const secret = child.stdio[PASS_DESCRIPTOR]
    // The descriptor is a pipe to write to.
    if (secret !== null && secret !== undefined && 'end' in secret)
      secret.end(passphrase === null ? '' : `${passphrase}\n`)
    return child
  }
}

/** What the service was started with does not speak for its callers. */
function ownVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^WRIT_|^NODE_OPTIONS$/.test(name))
  return { ...Object.fromEntries(kept), NO_COLOR: '1', PAGER: 'cat' }
}

function watched(child: ChildProcess, { limitMs, abort }: ProgramOrder): StartedProgram {
  const out: Buffer[] = []
  let size = 0
  let err = ''
  const end = (): void => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref()
  }
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > OUTPUT_BYTES_MAX) end()
    else out.push(chunk)
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    if (err.length < ERROR_BYTES_MAX) err += chunk.toString()
  })
  const late = Number.isFinite(limitMs) ? setTimeout(end, limitMs) : undefined
  abort?.addEventListener('abort', end, { once: true })
  if (abort?.aborted === true) end()
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      clearTimeout(late)
      abort?.removeEventListener('abort', end)
      resolve({
        status: size > OUTPUT_BYTES_MAX ? null : status,
        out: Buffer.concat(out).toString(),
        err,
      })
    })
  })
  return { ended, err: () => err }
}
