/**
 * Reads a socket piece by piece: one that the proxy accepted, or one that it opened. An opened socket
 * reads into one buffer of its own, which makes a large answer about half again as fast as a fresh buffer
 * for every piece. A piece is valid only until its taker returns, or until the promise that the taker
 * returns is resolved.
 *
 * `pump` copies bytes from one socket to another, no faster than the other takes them. One direction may end
 * before the other. The caller may inspect every piece and stop.
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

const FIRST_BYTES = 4_096

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

type Gathered =
  | { readonly state: 'enough'; readonly bytes: Buffer }
  /** `closed`: it ended before. */
  | { readonly state: 'too_long' | 'late' | 'closed'; readonly bytes: Buffer }

interface GatherLimits {
  /** Called with all bytes so far, and how many of them were there the last time. */
  readonly isEnough: (bytes: Buffer, known: number) => boolean
  readonly bytesMax: number
  readonly timeoutMs: number
}

/**
 * Reads the beginning of what a socket sends, until it is enough to judge by. Bounded in bytes and in
 * time. Pauses the socket afterwards; the next reader goes on with the rest.
 */
export function gather(
  source: Source,
  first: Buffer,
  { isEnough, bytesMax, timeoutMs }: GatherLimits,
): Promise<Gathered> {
  const { socket } = source
  return new Promise((resolve) => {
    // Grown by doubling: bytes that come one by one are not copied again and again.
    let held = Buffer.alloc(Math.max(FIRST_BYTES, first.length))
    let size = first.copy(held)
    const end = (state: Gathered['state']): void => {
      clearTimeout(timer)
      source.stop()
      socket.removeListener('end', onEnd).removeListener('close', onEnd)
      resolve({ state, bytes: held.subarray(0, size) })
    }
    const look = (known: number): boolean => {
      if (isEnough(held.subarray(0, size), known)) end('enough')
      else if (size > bytesMax) end('too_long')
      else return false
      return true
    }
    const take = (piece: Buffer): undefined => {
      const known = size
      if (size + piece.length > held.length) {
        const larger = Buffer.alloc(2 * (size + piece.length))
        held.copy(larger, 0, 0, size)
        held = larger
      }
      size += piece.copy(held, size)
      look(known)
    }
    const onEnd = (): void => end('closed')
    const timer = setTimeout(() => end('late'), timeoutMs)
    if (size > 0 && look(0)) return
    if (socket.destroyed || socket.readableEnded) return end('closed')
    socket.once('end', onEnd).once('close', onEnd)
    source.read(take)
  })
}

/** What of a piece may pass; null when nothing more may, and the pump stops. */
export type Take = (piece: Buffer) => Buffer | null

/** The same, where the answer may have to be waited for. */
export type SlowTake = (piece: Buffer) => Buffer | null | Promise<Buffer | null>

export function pump(from: Source, to: Socket, take: SlowTake | null): void {
  const pass = (passing: Buffer | null): Promise<void> | undefined => {
    if (passing === null) {
      from.stop()
      return undefined
    }
    if (passing.length === 0 || to.destroyed || to.writableEnded) return undefined
    return written(to, passing)
  }
  from.read((piece) => {
    const passing = take === null ? piece : take(piece)
    return passing instanceof Promise ? passing.then(pass) : pass(passing)
  })
  const end = (): void => {
    if (!to.destroyed) to.end()
  }
  if (from.socket.readableEnded) end()
  else from.socket.once('end', end)
}

/** Kept when the bytes are on their way, or will never be. */
function written(to: Socket, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    to.write(piece, () => resolve())
  })
}

/** Closes one side when the other is closed, after the bytes that are still to be written. */
export async function bothEnded(client: Socket, server: Socket): Promise<void> {
  // No client is left to take what the server sends.
  const first = closed(client).then(() => server.destroySoon())
  const second = closed(server).then(() => finish(client))
  await Promise.all([first, second])
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** What was written still goes out; then the socket is closed, after a while in any case if so said. */
export function finish(socket: Socket, withinMs: number | null = null): void {
  if (socket.destroyed) return
  socket.end()
  socket.resume()
  if (withinMs === null) return
  const timer = setTimeout(() => socket.destroy(), withinMs)
  socket.once('close', () => clearTimeout(timer))
}
