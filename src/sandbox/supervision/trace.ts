/**
 * Which accesses were refused to a run, by the paths that it named: a tracer that is attached from
 * outside sees every call that takes a path and fails. Slow, and only if the request asks for it.
 *
 * Paths are as the run named them, made whole by the directory it was in; links are not followed, so
 * a link to a refused place is reported by its own name.
 */
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { isAbsolute, join, normalize } from 'node:path'
import { faultError } from '../../base/index.ts'
import { requireProgram, runProgramNow, startProgram } from '../../machine/index.ts'
import type { RefusedAccess } from '../driver/driver.ts'

import { openEnd } from '../pipes/pipe-ends.ts'
import { childrenOf } from './meters.ts'

/** What masks and unwritable mounts answer with. */
const REFUSALS = /^(?:EACCES|EROFS|EPERM|EBUSY|EXDEV)$/
const CALL = /^(?:\d+ +)?(\w+)\((.*)\) = -1 (E[A-Z]+)/
const PATH = /(?:(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"/g
const READING = /^(?:stat|lstat|newfstatat|statx|access|faccessat2?|readlink(?:at)?|chdir|statfs)$/
const RUNNING = /^execve(?:at)?$/
const WRITING = /O_(?:WRONLY|RDWR|CREAT|TRUNC)/
const KEPT_MAX = 10_000
const ATTACH_MS = 10_000
/** The tracer ends by itself when there is nothing left to trace. */
const END_MS = 5_000

/** A module of Node that only a traced run needs. */
type Readline = Pick<typeof import('node:readline'), 'createInterface'>

export class Trace {
  readonly #process: ChildProcess
  readonly #first: string
  readonly #cwd: string
  readonly #readline: Readline
  readonly #ended: Promise<void>
  readonly #found = new Map<string, RefusedAccess>()

  private constructor(
    process: ChildProcess,
    first: number,
    cwd: string,
    source: Socket,
    readline: Readline,
  ) {
    this.#process = process
    this.#first = `${first} `
    this.#cwd = cwd
    this.#readline = readline
    readline.createInterface({ input: source }).on('line', (line) => this.#take(line))
    this.#ended = new Promise((resolve) => source.once('close', () => resolve()))
  }

  /**
   * Resolves when nothing is missed any more of the first process inside, of the shell that is ready to
   * become the command, and of all that they make. `pipe` is made here: what the tracer says of itself
   * comes at once only when its findings go elsewhere.
   */
  static async attach(pid: number, cwd: string, pipe: string): Promise<Trace> {
    const readline = await import('node:readline')
    const ready = childrenOf(pid)
    if (ready.length === 0) throw notAttached('the shell that is ready cannot be found')
    const traced = [pid, ...ready]
    const { status } = runProgramNow(requireProgram('mkfifo'), ['-m', '600', pipe])
    if (status !== 0) throw notAttached('its pipe could not be made')
    const source = openEnd(pipe, 'read')
    const words = ['-f', '-y', '-s', '4096', '-e', 'trace=%file', '-e', 'status=failed']
    const targets = traced.flatMap((each) => ['-p', String(each)])
    const args = [...words, '-e', 'signal=none', '-o', pipe, ...targets]
    const child = startProgram(requireProgram('strace'), args, {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const trace = new Trace(child, pid, cwd, source, readline)
    try {
      await trace.#attached(traced.length)
      return trace
    } catch (error) {
      source.destroy()
      throw error
    }
  }

  /** When everything that was traced is dead. */
  async end(): Promise<readonly RefusedAccess[]> {
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), END_MS)
    await this.#ended
    clearTimeout(timer)
    return [...this.#found.values()]
  }

  async #attached(count: number): Promise<void> {
    let left = count
    const words: string[] = []
    await new Promise<void>((resolve, reject) => {
      const fail = (): void => {
        clearTimeout(timer)
        this.#process.kill('SIGKILL')
        reject(notAttached(words.join('\n')))
      }
      const timer = setTimeout(fail, ATTACH_MS)
      // Asked for as a pipe above.
      const input = this.#process.stderr as NodeJS.ReadableStream
      const lines = this.#readline.createInterface({ input })
      lines.on('line', (line) => {
        words.push(line)
        if (!/ attached/.test(line) || --left > 0) return
        clearTimeout(timer)
        resolve()
      })
      this.#process.once('error', fail)
      this.#process.once('close', fail)
    })
  }

  #take(line: string): void {
    // The first process asks for others, who are refused or not by its answer.
    if (line.startsWith(this.#first)) return
    const [, call = '', args = '', error = ''] = CALL.exec(line) ?? []
    if (!REFUSALS.test(error) || this.#found.size >= KEPT_MAX) return
    const mode = modeOf(call, args, error)
    for (const [, directory, name = ''] of args.matchAll(PATH)) {
      const path = this.#whole(directory, unescaped(name))
      this.#found.set(`${mode} ${path}`, { path, mode })
    }
  }

  #whole(directory: string | undefined, name: string): string {
    if (isAbsolute(name)) return normalize(name)
    return join(directory === undefined ? this.#cwd : unescaped(directory), name)
  }
}

function modeOf(call: string, args: string, error: string): RefusedAccess['mode'] {
  if (RUNNING.test(call)) return 'exec'
  if (error === 'EROFS') return 'write'
  const isOpening = /^(?:open|openat|openat2|creat)$/.test(call)
  if (isOpening) return call === 'creat' || WRITING.test(args) ? 'write' : 'read'
  return READING.test(call) ? 'read' : 'write'
}

/** As C writes texts. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  const bytes = text.replaceAll(/\\([0-7]{1,3}|.)/g, (_, code: string) => {
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8))
    return { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' }[code] ?? code
  })
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

function notAttached(words: string) {
  const message = `accesses cannot be traced: ${words.split('\n')[0] || 'strace ended'}`
  const hint = 'sudo sysctl -w kernel.yama.ptrace_scope=0'
  return faultError('sandbox.control_missing', 'strace', message, hint)
}
