/**
 * The standard input of this process, which it has in common with whoever started it: a loop of a shell
 * goes on to read it after us. So nothing of it is taken that nobody asked for, and of a file not more
 * than was read in the end.
 *
 * It is never handed inside. A file that is open can be opened anew for writing and given another mode,
 * a pipe can be written to, and so could a script that the shell outside is still reading.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  type Stats,
} from 'node:fs'
import { Socket } from 'node:net'
import { isatty, ReadStream } from 'node:tty'
import type { FileInput, PassingInput, SharedInput } from './driver.ts'

const NULL_DEVICE = 0x103
const PIECE_BYTES = 64 * 1024

/** Another descriptor that is used in the same way can be named. */
export function standardInput(descriptor = 0): SharedInput | 'empty' {
  const stats = statsOf(descriptor)
  if (stats === null || stats.isDirectory()) return 'empty'
  if (stats.isCharacterDevice() && stats.rdev === NULL_DEVICE) return 'empty'
  if (stats.isFile()) return new OwnFile(descriptor, stats)
  const own = stats.isFIFO() || isatty(descriptor) ? openAnew(descriptor) : null
  if (own !== null) return new OwnStream(own)
  return descriptor === 0 ? new CommonStream() : new OwnStream(descriptor)
}

/** Null when there is none. */
function statsOf(descriptor: number): Stats | null {
  try {
    return fstatSync(descriptor)
  } catch {
    return null
  }
}

/** With flags of its own, so that others who read it go on to wait for what comes; null if forbidden. */
function openAnew(descriptor: number): number | null {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants
  try {
    return openSync(`/proc/self/fd/${descriptor}`, O_RDONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    return null
  }
}

class OwnStream implements PassingInput {
  readonly kind = 'passing'
  readonly #descriptor: number
  #socket: Socket | null = null

  constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  take(bytesMax: number): Uint8Array | null {
    return readAtMost(this.#descriptor, bytesMax, null)
  }

  stream(): NodeJS.ReadableStream {
    const fd = this.#descriptor
    this.#socket = isatty(fd) ? new ReadStream(fd) : new Socket({ fd, writable: false })
    return this.#socket
  }

  end(): void {
    if (this.#socket === null) closeSync(this.#descriptor)
    else this.#socket.destroy()
  }
}

/** What cannot be opened a second time, such as a socket. */
class CommonStream implements PassingInput {
  readonly kind = 'passing'

  take(bytesMax: number): Uint8Array | null {
    // Looking at Node's own stream has reads not wait, until this process ends.
    return readAtMost(process.stdin.fd, bytesMax, null)
  }

  stream(): NodeJS.ReadableStream {
    return process.stdin
  }

  end(): void {
    process.stdin.pause()
  }
}

/** Read beside the place that is common to all, which is moved when the run is over. */
class OwnFile implements FileInput {
  readonly kind = 'file'
  readonly size: number
  readonly #descriptor: number
  #at: number
  #taken = 0

  constructor(descriptor: number, { size }: Stats) {
    this.#descriptor = descriptor
    this.#at = placeOf('self', descriptor)
    this.size = Math.max(0, size - this.#at)
  }

  take(bytesMax: number): Uint8Array {
    const bytes = readAtMost(this.#descriptor, bytesMax, this.#at) ?? new Uint8Array()
    this.#at += bytes.length
    this.#taken += bytes.length
    return bytes
  }

  end(unread: number): void {
    // Node cannot seek; reading moves the common place as well.
    for (let ahead = this.#taken - unread; ahead > 0; ) {
      const bytes = readAtMost(this.#descriptor, Math.min(ahead, PIECE_BYTES), null)
      if (bytes === null || bytes.length === 0) return
      ahead -= bytes.length
    }
  }
}

/** Where a process goes on to read an open file. */
export function placeOf(process: number | 'self', descriptor: number): number {
  const text = readFileSync(`/proc/${process}/fdinfo/${descriptor}`, 'latin1')
  return Number(/^pos:\s*(\d+)$/m.exec(text)?.[1] ?? 0)
}

/** Null when there is nothing yet. What cannot be read has ended. */
export function readAtMost(
  descriptor: number,
  count: number,
  at: number | null,
): Uint8Array | null {
  const bytes = Buffer.allocUnsafe(Math.min(count, PIECE_BYTES))
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, at))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EAGAIN' || code === 'EINTR' ? null : bytes.subarray(0, 0)
  }
}
