/**
 * A shell that stays and starts tools, for processes that start many: forking a small shell takes a
 * fraction of what forking this process takes, and does not stop it meanwhile. One tool at a time.
 *
 * What a tool wrote ends with a mark that it cannot know. The shell ends when its input does, so with
 * this process, however that ends; it keeps nothing alive.
 */
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { requireProgram, startProgram } from '../sandbox/programs.ts'

export interface ShellCall {
  readonly command: string
  readonly args: readonly string[]
  /** A tool to be run after it when it succeeded, for what it writes; its status 1 is none. */
  readonly reader?: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number
}

export interface ShellOutcome {
  /** Null when it took too long and was killed. */
  readonly status: number | null
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** Stands for a status that nobody heard. */
const LOST = -1

export class ToolShell {
  readonly #process: ChildProcess
  readonly #sockets: readonly Socket[]
  readonly #output = new Written()
  readonly #words = new Written()
  #onBytes: () => void = () => undefined
  #isBusy = false
  #isOver = false

  constructor() {
    // A group of its own, so that a tool that hangs can be ended with it.
    this.#process = startProgram(requireProgram('sh'), [])
    const { stdin, stdout, stderr } = this.#process
    // Pipes of Node are sockets.
    this.#sockets = [stdin, stdout, stderr] as unknown as readonly Socket[]
    stdout?.on('data', (bytes: Buffer) => {
      this.#output.add(bytes)
      this.#onBytes()
    })
    stderr?.on('data', (bytes: Buffer) => {
      this.#words.add(bytes)
      this.#onBytes()
    })
    stdin?.on('error', () => undefined)
    const over = (): void => {
      this.#isOver = true
      this.#onBytes()
    }
    this.#process.on('error', over)
    this.#process.on('exit', over)
    this.#rest()
  }

  get isFree(): boolean {
    return !this.#isBusy && !this.#isOver
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Null when the shell ended; whether the tool ran is not known then. */
  async run({ command, args, reader, cwd, timeoutMs }: ShellCall): Promise<ShellOutcome | null> {
    const mark = randomBytes(16).toString('hex')
    this.#isBusy = true
    for (const socket of this.#sockets) socket.ref()
    const tool = `( cd ${quoted(cwd)} && exec ${sentence([command, ...args])} ) </dev/null`
    const reading =
      reader === undefined
        ? ''
        : ` && { ${sentence(reader)} </dev/null 2>/dev/null || ( exit $(($? == 1 ? 0 : $?)) ); }`
    const lines = [`${tool}${reading}`, `echo "${mark}$?"; echo ${mark} >&2`, ''].join('\n')
    this.#process.stdin?.write(lines)
    try {
      return await this.#ended(mark, timeoutMs)
    } finally {
      this.#isBusy = false
      this.#rest()
    }
  }

  /** With the tool that it runs, if any. */
  end(): void {
    this.#isOver = true
    const { pid } = this.#process
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It ended by itself in this moment.
    }
  }

  #ended(mark: string, timeoutMs: number): Promise<ShellOutcome | null> {
    return new Promise((resolved) => {
      const finish = (status: number | null): void => {
        clearTimeout(timer)
        this.#onBytes = () => undefined
        const [stdout, stderr] = [this.#output.take(mark), this.#words.take(mark)]
        resolved(status === LOST ? null : { status, stdout, stderr })
      }
      const timer = setTimeout(() => {
        this.end()
        finish(null)
      }, timeoutMs)
      this.#onBytes = () => {
        const status = this.#output.behind(mark)
        if (status !== null && this.#words.behind(mark) !== null) finish(Number(status))
        else if (this.#isOver) finish(LOST)
      }
    })
  }

  #rest(): void {
    this.#process.unref()
    for (const socket of this.#sockets) socket.unref()
  }
}

function sentence(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

const TAIL_BYTES = 64

/** What came over one pipe, and the end of it, where the mark is looked for. */
class Written {
  #pieces: Buffer[] = []
  #tail = ''

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    const end = piece.subarray(-TAIL_BYTES).toString('latin1')
    this.#tail = (this.#tail + end).slice(-TAIL_BYTES)
  }

  /** What stands between the mark and the last end of a line; null while it did not come. */
  behind(mark: string): string | null {
    const start = this.#tail.lastIndexOf(mark)
    if (start < 0 || !this.#tail.endsWith('\n')) return null
    return this.#tail.slice(start + mark.length, -1)
  }

  /** All that came before the mark; forgotten here. */
  take(mark: string): Buffer {
    const all = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#tail = ''
    const end = all.lastIndexOf(mark)
    return end < 0 ? all : all.subarray(0, end)
  }
}
