/**
 * Short lines from a socket to another process, one after the other. A waiting caller gets null when the
 * other side is gone. What comes from inside a sandbox is bounded.
 */
import type { Duplex, Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ToolChannel } from '../driver/driver.ts'

const PENDING_MAX = 64 * 1024
const LINE_BYTES_MAX = 1024 * 1024
const NEWLINE = 0x0a

export class Lines {
  readonly #ready: string[] = []
  #partial = ''
  #isEnded = false
  #wake: (() => void) | null = null

  constructor(source: Readable) {
    source.setEncoding('utf8')
    source.on('data', (text: string) => this.#take(text))
    source.on('error', () => this.#end())
    source.on('close', () => this.#end())
    source.on('end', () => this.#end())
  }

  /** The next line, or null when there will be none. One caller waits at a time. */
  async next(): Promise<string | null> {
    for (;;) {
      const line = this.#ready.shift()
      if (line !== undefined) return line
      if (this.#isEnded) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** The next line, or null when there is none by the time `end` has come. */
  async nextOr(end: Promise<unknown>): Promise<string | null> {
    let isOver = false
    const over = end.then(() => {
      isOver = true
    })
    for (;;) {
      const line = this.#ready.shift()
      if (line !== undefined) return line
      if (this.#isEnded) return null
      if (isOver) return this.#last()
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      await Promise.race([woken, over])
    }
  }

  /** What was written before the end lies in the socket; a turn of the loop brings it. */
  async #last(): Promise<string | null> {
    for (let turn = 0; turn < 2 && this.#ready.length === 0; turn++) await nextTurn()
    return this.#ready.shift() ?? null
  }

  /** What has come and was not asked for. */
  rest(): string {
    return [...this.#ready, this.#partial].join('\n').trim()
  }

  #take(text: string): void {
    const lines = (this.#partial + text).split('\n')
    this.#partial = (lines.pop() ?? '').slice(0, PENDING_MAX)
    if (this.#ready.length < PENDING_MAX) this.#ready.push(...lines)
    this.#awake()
  }

  #end(): void {
    this.#isEnded = true
    this.#awake()
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = null
    wake?.()
  }
}

/**
 * Lines from a process inside, over one descriptor that goes both ways, each answered with one line
 * before the next is looked at. A line that is too long is skipped and answered with a fixed word, and
 * nothing more is read than is being answered, so that a flood stays with who makes it.
 */
export class LineChannel {
  readonly #socket: Duplex
  readonly #channel: ToolChannel
  readonly #onBytes = (bytes: Buffer): void => this.#take(bytes)
  #parts: Buffer[] = []
  #length = 0
  /** The rest of a line that was too long is on its way. */
  #isSkipping = false
  #lines: (string | null)[] = []
  #isAnswering = false
  #answering: Promise<void> = Promise.resolve()
  #isOver = false
  #failure: unknown = null

  constructor(socket: Duplex, channel: ToolChannel) {
    this.#socket = socket
    this.#channel = channel
    socket.on('data', this.#onBytes)
    socket.resume()
  }

  /** No further line is looked at; resolves when the last answer was given. Rejects if one failed. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#socket.off('data', this.#onBytes)
    this.#socket.pause()
    await this.#answering
    if (this.#failure !== null) throw this.#failure
  }

  #take(bytes: Buffer): void {
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      this.#add(bytes.subarray(from, end))
      this.#lines.push(this.#isSkipping ? null : Buffer.concat(this.#parts).toString('utf8'))
      this.#begin()
      from = end + 1
    }
    this.#add(bytes.subarray(from))
    if (this.#lines.length > 0 && !this.#isAnswering) this.#answering = this.#answer()
  }

  #add(bytes: Buffer): void {
    this.#length += bytes.length
    if (this.#length > LINE_BYTES_MAX) this.#isSkipping = true
    if (this.#isSkipping) this.#parts = []
    else if (bytes.length > 0) this.#parts.push(Buffer.from(bytes))
  }

  #begin(): void {
    this.#parts = []
    this.#length = 0
    this.#isSkipping = false
  }

  async #answer(): Promise<void> {
    this.#isAnswering = true
    this.#socket.pause()
    try {
      while (this.#lines.length > 0 && !this.#isOver) {
        const line = this.#lines.shift() ?? null
        const answer = line === null ? this.#channel.tooLong : await this.#channel.onLine(line)
        this.#socket.write(`${answer.replaceAll('\n', ' ')}\n`)
      }
    } catch (error) {
      this.#failure ??= error
      this.#lines = []
    } finally {
      this.#isAnswering = false
      if (!this.#isOver) this.#socket.resume()
    }
  }
}
