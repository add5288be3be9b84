/**
 * Brings a large file to the command through its pipe, as fast as that is read, and counts: what lies
 * unread in the pipe in the end was not read by anybody.
 *
 * INVARIANT (whole writes): pieces are so small that the kernel takes one whole or not at all, so what
 *   is on the way in the end has not reached the pipe.
 */
import { closeSync, constants, openSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { FileInput } from './driver.ts'
import { readAtMost } from './standard-input.ts'

/** `PIPE_BUF` on Linux. */
const WHOLE_BYTES = 4096
const PIECE_BYTES = 64 * 1024

export class FileRelay {
  readonly #input: FileInput
  readonly #socket: Socket
  /** Keeps what nobody read until it is counted. */
  readonly #reader: number
  #ahead: Uint8Array
  #onTheWay = 0
  #isOver = false

  /** `ahead` was taken already. */
  constructor(input: FileInput, socket: Socket, path: string, ahead: Uint8Array) {
    this.#input = input
    this.#ahead = ahead
    this.#socket = socket
    this.#reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.#next()
  }

  /** Everybody inside is dead. */
  end(): void {
    this.#isOver = true
    const unread = this.#ahead.length + this.#onTheWay + this.#unread()
    closeSync(this.#reader)
    this.#socket.destroy()
    this.#input.end(unread)
  }

  /** One piece after the other: several at once would be written in parts. */
  #next(): void {
    if (this.#isOver) return
    if (this.#ahead.length === 0) this.#ahead = this.#input.take(PIECE_BYTES)
    const piece = this.#ahead.subarray(0, WHOLE_BYTES)
    this.#ahead = this.#ahead.subarray(WHOLE_BYTES)
    this.#onTheWay = piece.length
    if (piece.length === 0) this.#socket.destroy()
    else this.#socket.write(piece, (error) => this.#written(error))
  }

  #written(error: Error | null | undefined): void {
    if (this.#isOver || error) return
    this.#onTheWay = 0
    // Others have their turn now and then, however fast it is read.
    if (this.#ahead.length > 0) this.#next()
    else setImmediate(() => this.#next())
  }

  #unread(): number {
    let count = 0
    for (;;) {
      const bytes = readAtMost(this.#reader, PIECE_BYTES, null)
      if (bytes === null || bytes.length === 0) return count
      count += bytes.length
    }
  }
}
