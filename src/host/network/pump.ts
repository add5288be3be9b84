/**
 * Bytes from one socket to another, no faster than the other takes them, and the end of one direction
 * without the end of the other. Whoever pumps may look at every piece and stop.
 */
import type { Socket } from 'node:net'

/** What of a piece may pass; null when nothing more may, and the pump stops. */
export type Take = (chunk: Buffer) => Buffer | null

/** `onEnd` is called once, when the last piece that may pass is on its way. */
export function pump(from: Socket, to: Socket, take: Take | null, onEnd: () => void): void {
  const onDrain = (): void => void from.resume()
  const stop = (): void => {
    from.removeListener('data', onData).removeListener('end', onFinish)
    to.removeListener('drain', onDrain)
    onEnd()
  }
  const onData = (chunk: Buffer): void => {
    const passing = take === null ? chunk : take(chunk)
    if (passing === null) return stop()
    if (passing.length === 0 || to.destroyed) return
    if (!to.write(passing)) from.pause()
  }
  const onFinish = (): void => {
    if (!to.destroyed) to.end()
    stop()
  }
  to.on('drain', onDrain)
  from.on('data', onData).once('end', onFinish)
  from.resume()
}

/** Resolves when both directions are over, or one side is gone. */
export function bothEnded(one: Socket, other: Socket): Promise<void> {
  return new Promise((resolve) => {
    let open = 2
    const closed = (): void => {
      open--
      // A side that is gone takes nothing more, and whoever waits for it would wait for ever.
      for (const socket of [one, other]) if (!socket.destroyed && open === 1) finish(socket)
      if (open === 0) resolve()
    }
    for (const socket of [one, other]) {
      if (socket.closed) closed()
      else socket.once('close', closed)
    }
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
