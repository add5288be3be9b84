/**
 * Lines from a process inside, over one descriptor that goes both ways, each answered with one line
 * before the next is looked at. A line that is too long is skipped and answered with a fixed word, and
 * nothing more is read than is being answered, so that a flood stays with who makes it.
 */
import type { Duplex } from 'node:stream'
import type { ToolChannel } from '../driver/driver.ts'

const LINE_BYTES_MAX = 1024 * 1024
const NEWLINE = 0x0a

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
