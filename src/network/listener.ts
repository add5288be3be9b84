/**
 * The door of a sandbox to the proxy: a socket that listens on the loopback of the sandbox's own
 * network namespace; this process accepts its connections. A helper program enters the namespace, opens
 * the socket, hands it over and exits. It does not run while the command does, and only the proxy
 * copies bytes.
 *
 * A namespace has no names and no route: this socket is all there is.
 */
import type { ChildProcess } from 'node:child_process'
import { Server } from 'node:net'
import { PROXY_PORT } from '../gate/index.ts'
import { requireProgram, startProgram } from '../machine/index.ts'

const BACKLOG = 256
const OPENING_MS = 10_000

const PROGRAM = `
const server = require('node:net').createServer()
server.on('error', (error) => process.send(String(error.code), () => process.exit(1)))
server.listen({ host: '127.0.0.1', port: ${PROXY_PORT}, backlog: ${BACKLOG} }, () =>
  process.send('open', server, () => process.exit(0)))
`

export interface Namespace {
  /** A process in the user namespace that made the network namespace, or in one above it. */
  readonly owner: number
  /** A process in the network namespace. */
  readonly inside: number
}

/** Starts a program of Node in a namespace, with a channel to this process. */
export function startInside(
  { owner, inside }: Namespace,
  program: string,
  timeoutMs?: number,
): ChildProcess {
  return startProgram(
    requireProgram('nsenter'),
    [
      `--user=/proc/${owner}/ns/user`,
      `--net=/proc/${inside}/ns/net`,
      '--preserve-credentials',
      '--',
      process.execPath,
      '-e',
      program,
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      killSignal: 'SIGKILL',
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    },
  )
}

/** Rejects with a plain error when the namespace cannot be entered. */
export function openListener(namespace: Namespace): Promise<Server> {
  const child = startInside(namespace, PROGRAM, OPENING_MS)
  let words = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    words = `${words}${chunk}`.slice(0, 1_000)
  })
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new Error(`no socket could be opened inside: ${reason}`))
    child.once('error', ({ message }) => fail(message))
    child.once('exit', () => fail(words.trim() || 'it ended without a word'))
    child.once('message', (message, handle) => {
      if (!(handle instanceof Server)) return fail(String(message))
      // Either direction of a connection can end before the other.
      Object.assign(handle, { allowHalfOpen: true, noDelay: true })
      resolve(handle)
    })
  })
}
