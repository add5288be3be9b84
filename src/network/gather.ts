/**
 * Reads the beginning of what a socket sends, until it is enough to judge by. Bounded in bytes and in
 * time. Pauses the socket afterwards; the next reader goes on with the rest.
 */
import type { Source } from './source.ts'

type Gathered =
  | { readonly state: 'enough'; readonly bytes: Buffer }
  /** `closed`: it ended before. */
  | { readonly state: 'too_long' | 'late' | 'closed'; readonly bytes: Buffer }

interface Gathering {
  /** Called with all bytes so far, and how many of them were there the last time. */
  readonly isEnough: (bytes: Buffer, known: number) => boolean
  readonly bytesMax: number
  readonly timeoutMs: number
}

const FIRST_BYTES = 4_096

export function gather(
  source: Source,
  first: Buffer,
  { isEnough, bytesMax, timeoutMs }: Gathering,
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
