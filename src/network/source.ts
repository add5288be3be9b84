/**
 * Reads a socket piece by piece: one that the proxy accepted, or one that it opened. An opened socket
 * reads into one buffer of its own, which makes a large answer about half again as fast as a fresh buffer
 * for every piece. A piece is valid only until its taker returns, or until the promise that the taker
 * returns is resolved.
 */
import type { OnReadOpts, Socket } from 'node:net'

/** A promise: nothing more is read until it is kept. */
type Taker = (piece: Buffer) => Promise<void> | undefined

export interface Source {
  readonly socket: Socket
  /** From now on pieces go there, what is held back first. */
  read(taker: Taker): void
  stop(): void
}

/** Of a socket that was accepted. */
export class AcceptedSource implements Source {
  readonly socket: Socket
  #taker: Taker | null = null
  readonly #onData = (piece: Buffer): void => {
    const wait = this.#taker?.(piece)
    if (wait === undefined) return
    this.socket.pause()
    wait.then(() => {
      if (this.#taker !== null) this.socket.resume()
    })
  }

  constructor(socket: Socket) {
    this.socket = socket
  }

  read(taker: Taker): void {
    const isNew = this.#taker === null
    this.#taker = taker
    if (isNew) this.socket.on('data', this.#onData)
    this.socket.resume()
  }

  stop(): void {
    this.#taker = null
    this.socket.removeListener('data', this.#onData)
    this.socket.pause()
  }
}

const BUFFER_BYTES = 128 * 1024

/** Of a socket that is still to be opened, with `onread` among its options. */
export class OpenedSource implements Source {
  readonly onread: OnReadOpts
  #socket: Socket | null = null
  #taker: Taker | null = null
  #held: Buffer | null = null

  constructor() {
    this.onread = {
      buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES),
      // The buffer is ours, and a Buffer.
      callback: (bytes, buffer) => this.#take((buffer as Buffer).subarray(0, bytes)),
    }
  }

  get socket(): Socket {
    if (this.#socket === null) throw new TypeError('the socket of a source is open when it is used')
    return this.#socket
  }

  opened(socket: Socket): void {
    this.#socket = socket
  }

  read(taker: Taker): void {
    this.#taker = taker
    const held = this.#held
    this.#held = null
    if (held === null || this.#hand(held)) this.socket.resume()
  }

  stop(): void {
    this.#taker = null
    this.socket.pause()
  }

  /** Returns false to stop reading until the socket is resumed. */
  #take(piece: Buffer): boolean {
    if (this.#taker !== null) return this.#hand(piece)
    // There is no taker now: copies the piece, because the buffer is used again.
    this.#held = Buffer.concat([this.#held ?? Buffer.alloc(0), piece])
    return false
  }

  #hand(piece: Buffer): boolean {
    const wait = this.#taker?.(piece)
    if (wait === undefined) return this.#taker !== null
    wait.then(() => {
      if (this.#taker !== null) this.socket.resume()
    })
    return false
  }
}
