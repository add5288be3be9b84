/**
 * The built program in a process that stays, for calls that a test makes to prepare something or to look
 * at it: a new Node process for each takes 0.15 s of a core, a call here 0.03 s. The answer is there when
 * `call` returns. Tests of the process itself, and of what it runs, start the program for themselves.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SERVER = join(process.cwd(), 'tests', 'warm-program.cjs')
const PIPES = ['answers', 'requests'] as const
const FILES = ['input', 'output', 'errors', 'secret'] as const

export interface WarmCall {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input: string | Buffer
  /** What the descriptor behind `--pass-fd` holds. */
  readonly secret: string | null
  readonly timeoutMs: number
}

export interface WarmAnswer {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

const KNOWN = new Map<string, WarmProgram>()

/** Returns the process for a program, started through these words, such as another user's. */
export function warmProgram(program: string, through: readonly string[] = []): WarmProgram {
  const name = JSON.stringify([program, through])
  const known = KNOWN.get(name) ?? new WarmProgram(program, through)
  KNOWN.set(name, known)
  return known
}

interface Served {
  readonly child: ChildProcess
  readonly requests: number
  readonly answers: number
}

class WarmProgram {
  readonly #argv: readonly string[]
  readonly #folder = mkdtempSync(join(tmpdir(), 'writ-warm-'))
  #served: Served | null = null

  constructor(program: string, through: readonly string[]) {
    const server = this.#path('server.cjs')
    this.#argv = [...through, process.execPath, server, program, this.#folder]
    // A copy, because another user may not read the checkout.
    writeFileSync(server, readFileSync(SERVER))
    execFileSync(
      'mkfifo',
      PIPES.map((name) => this.#path(name)),
    )
    for (const name of FILES) writeFileSync(this.#path(name), '')
    chmodSync(this.#folder, 0o755)
    for (const name of FILES) chmodSync(this.#path(name), 0o666)
    process.once('exit', () => this.#close())
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }

  /** Fails if the process ends without an answer; a status of null means that the time was used up. */
  call({ argv, cwd, env, input, secret, timeoutMs }: WarmCall): WarmAnswer {
    const served = this.#served ?? this.#start()
    this.#served = served
    writeFileSync(this.#path('input'), input)
    if (secret !== null) writeFileSync(this.#path('secret'), `${secret}\n`)
    const request = { argv, cwd, env, hasSecret: secret !== null, timeoutMs }
    writeAll(served.requests, `${JSON.stringify(request)}\n`)
    const line = readLine(served.answers)
    const [out, err] = [this.#text('output'), this.#text('errors')]
    const { status, isLast } = line === null ? { status: null, isLast: true } : JSON.parse(line)
    if (isLast) this.#stop(served)
    if (line === null) throw new Error(`the program ended without an answer: ${err}`)
    return { status, out, err }
  }

  #text(name: string): string {
    return readFileSync(this.#path(name), 'utf8')
  }

  #start(): Served {
    const [first = process.execPath, ...rest] = this.#argv
    const [read, write] = [constants.O_RDONLY, constants.O_WRONLY]
    // An end opens at once while this process has the whole pipe open.
    const whole = PIPES.map((name) => openSync(this.#path(name), constants.O_RDWR))
    const answers = openSync(this.#path('answers'), read)
    const requests = openSync(this.#path('requests'), write)
    const theirs = [
      openSync(this.#path('input'), read),
      openSync(this.#path('output'), write),
      openSync(this.#path('errors'), write),
      openSync(this.#path('answers'), write),
      openSync(this.#path('requests'), read),
    ]
    const child = spawn(first, rest, { cwd: '/', stdio: theirs })
    for (const descriptor of [...whole, ...theirs]) closeSync(descriptor)
    child.unref()
    return { child, requests, answers }
  }

  #stop({ child, requests, answers }: Served): void {
    child.kill('SIGKILL')
    closeSync(requests)
    closeSync(answers)
    this.#served = null
  }

  #close(): void {
    this.#served?.child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}

/** Waits without giving up the thread, as `spawnSync` does; null if the other end is closed. */
function readLine(descriptor: number): string | null {
  const chunk = Buffer.alloc(256)
  let text = ''
  while (!text.endsWith('\n')) {
    const length = readSync(descriptor, chunk)
    if (length === 0) return null
    text += chunk.toString('utf8', 0, length)
  }
  return text
}
