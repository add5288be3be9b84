/**
 * Our ends of the named pipes of a run. They are opened before the command's side is, so that the first
 * writer finds a reader.
 */
import { chmodSync, chownSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import type { RunRequest } from '../driver/driver.ts'

/** The pipes by name; the command's ends are opened by the holder. */
export interface Pipes {
  readonly stdin: string
  readonly stdout: string
  readonly stderr: string
}

export interface Ends {
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
}

export function openEnds({ stdin, stdout, stderr }: Pipes): Ends {
  return {
    stdin: openEnd(stdin, 'write'),
    stdout: openEnd(stdout, 'read'),
    stderr: openEnd(stderr, 'read'),
  }
}

/** Of the sockets here, which close them when they are destroyed. */
const descriptors = new WeakMap<Socket, number>()

export function openEnd(path: string, way: 'read' | 'write'): Socket {
  // For writing it is opened both ways, since a pipe without a reader cannot be opened otherwise.
  const flags = way === 'read' ? constants.O_RDONLY : constants.O_RDWR
  const fd = openSync(path, flags | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: way === 'read', writable: way === 'write' })
  socket.on('error', () => undefined)
  descriptors.set(socket, fd)
  return socket
}

export function destroyEnds(ends: Ends): void {
  for (const socket of Object.values(ends)) socket.destroy()
}

/**
 * Takes away every right to open the standard output; both ends, which are open by now, stay. A process
 * inside cannot change the mode, since the mount of its end is read-only. For root inside, which needs no
 * mode, the pipe is given to an owner that the sandbox does not know. Returns what undoes it.
 */
export function closeToOthers(
  { stdout }: Pick<Pipes, 'stdout'>,
  withheld: number | null,
): () => void {
  chmodSync(stdout, 0)
  if (withheld !== null) chownSync(stdout, withheld, withheld)
  return () => {
    if (withheld !== null) chownSync(stdout, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
    chmodSync(stdout, 0o600)
  }
}

type OnOutput = RunRequest['onOutput']

export function flow({ stdout, stderr }: Ends, onOutput: OnOutput): void {
  stdout.on('data', (bytes) => onOutput('stdout', bytes))
  stderr.on('data', (bytes) => onOutput('stderr', bytes))
}

/**
 * When everything inside is dead: hands over what still lies in the pipes, and closes. Not by waiting
 * for their end, since bubblewrap holds them open until it has been told of the death.
 */
export function finish(ends: Ends, pipes: Pipes, onOutput: OnOutput): void {
  for (const name of ['stdout', 'stderr'] as const) {
    if (!ends[name].readableEnded) drain(ends[name], pipes[name], (bytes) => onOutput(name, bytes))
  }
  destroyEnds(ends)
}

const CHUNK_BYTES = 64 * 1024

const chunk = Buffer.allocUnsafe(CHUNK_BYTES)

type OnBytes = (bytes: Uint8Array) => void

/** Reads the rest. A socket that failed has closed its descriptor, so its number may be in use again. */
function drain(socket: Socket, path: string, onBytes: OnBytes): void {
  const own = socket.destroyed ? undefined : descriptors.get(socket)
  if (own !== undefined) {
    readAll(own, onBytes)
    return
  }
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    readAll(fd, onBytes)
  } finally {
    closeSync(fd)
  }
}

function readAll(fd: number, onBytes: OnBytes): void {
  for (let bytes = readNow(fd); bytes !== null; bytes = readNow(fd)) onBytes(bytes)
}

function readNow(fd: number): Uint8Array | null {
  try {
    const count = readSync(fd, chunk)
    return count === 0 ? null : Buffer.from(chunk.subarray(0, count))
  } catch (error) {
    // Thrown by readSync.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
    throw error
  }
}

/**
 * Copies the standard input to the command's pipe, as fast as the command reads it. What has been read
 * from a pipe or a file and not been taken by the command is lost to later readers of the same input.
 */
export function feed(socket: Socket, stdin: RunRequest['stdin']): void {
  if (stdin === 'empty') socket.destroy()
  else if (stdin instanceof Uint8Array) socket.end(stdin, () => socket.destroy())
  else {
    // A directory cannot be read, for example.
    stdin.once('error', () => socket.destroy())
    socket.once('close', () => stdin.pause())
    stdin.pipe(socket).once('finish', () => socket.destroy())
  }
}
