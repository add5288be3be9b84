/**
 * Our ends of the named pipes of a run. Both outputs are opened before the command's side is, so the
 * first writer finds a reader and the last one to leave ends the stream.
 */
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { RunRequest } from './driver.ts'

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

function openEnd(path: string, way: 'read' | 'write'): Socket {
  // For writing it is opened both ways, since a pipe without a reader cannot be opened otherwise.
  const flags = way === 'read' ? constants.O_RDONLY : constants.O_RDWR
  const fd = openSync(path, flags | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: way === 'read', writable: way === 'write' })
  socket.on('error', () => undefined)
  return socket
}

export function destroyEnds(ends: Ends): void {
  for (const socket of Object.values(ends)) socket.destroy()
}

/** Resolves when every writer is gone and everything written was handed over. */
export function flowing(socket: Socket, onBytes: (bytes: Uint8Array) => void): Promise<void> {
  socket.on('data', onBytes)
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
  })
}

export function feed(socket: Socket, stdin: RunRequest['stdin']): void {
  if (stdin === 'empty') socket.destroy()
  else if (stdin instanceof Uint8Array) socket.end(stdin, () => socket.destroy())
  else stdin.pipe(socket).once('finish', () => socket.destroy())
}
