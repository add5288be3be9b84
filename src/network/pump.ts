/**
 * Copies bytes from one socket to another, no faster than the other takes them. One direction may end
 * before the other. The caller may inspect every piece and stop.
 */
import type { Socket } from 'node:net'
import type { Source } from './source.ts'

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
