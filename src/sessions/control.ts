/**
 * How other processes of the same user speak with the process that runs a session: one line of JSON and
 * one answer, over a socket in the session's private directory, which no sandbox shows.
 */
import { closeSync, openSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { faultError } from '../base/index.ts'
import type { SessionFiles } from './session-files.ts'

/** What a person gives a session; zero for nothing. */
interface SessionExtension {
  readonly seconds: number
  readonly requests: number
  readonly tokens: number
  /** In millionths. */
  readonly cost: number
}

export type SessionOrder =
  | { readonly order: 'settle'; readonly take?: readonly string[] }
  | { readonly order: 'pending' }
  | { readonly order: 'stop' }
  | ({ readonly order: 'extend' } & SessionExtension)
  | { readonly order: 'discard'; readonly paths: readonly string[] }

const NAME = 'control'
const ANSWER_MS = 120_000
const LINE_BYTES_MAX = 1024 * 1024

/** Answers orders until the server is closed. */
export function serveOrders(
  { directory }: SessionFiles,
  answer: (order: SessionOrder) => Promise<unknown>,
): Server {
  rmSync(join(directory, NAME), { force: true })
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    const lines = createInterface({ input: socket })
    lines.once('line', async (line) => {
      lines.close()
      try {
        // Only this user reaches the socket, through `sendOrder`.
        const order = JSON.parse(line.slice(0, LINE_BYTES_MAX)) as SessionOrder
        socket.end(`${JSON.stringify({ ok: true, answer: await answer(order) })}\n`)
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        socket.end(`${JSON.stringify({ ok: false, message })}\n`)
      }
    })
  })
  atSocket(directory, (path) => server.listen(path))
  return server
}

/** Sends an order to the process that runs a session; fails if none does. */
export async function sendOrder<T>(files: SessionFiles, order: SessionOrder): Promise<T> {
  let isConnected = false
  const line = await new Promise<string>((resolve, reject) => {
    const socket = atSocket(files.directory, (path) => createConnection(path))
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('it does not answer')))
    socket.once('connect', () => {
      isConnected = true
    })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.once('error', reject)
    socket.once('end', () => (text.endsWith('\n') ? resolve(text) : reject(new Error('it ended'))))
    socket.write(`${JSON.stringify(order)}\n`)
  }).catch((error: Error) => {
    if (isConnected && !files.isLive) throw endedMeanwhile(files, order)
    const message = `the process that runs the session cannot be reached: ${error.message}`
    throw faultError('session.unreachable', files.id, message, '`writ session show` says more')
  })
  // `serveOrders` wrote it.
  const answer = JSON.parse(line) as { ok: true; answer: T } | { ok: false; message: string }
  if (answer.ok) return answer.answer
  throw faultError('session.failed', files.id, answer.message)
}

/** What it was doing may be half done. */
function endedMeanwhile({ id }: SessionFiles, { order }: SessionOrder) {
  const message = `the process that runs the session ended before it answered \`${order}\``
  const hint = `what it was doing may be half done: \`writ recover\` ends it, then \`writ session show ${id}\` shows what is pending`
  return faultError('session.unreachable', id, message, hint)
}

/** The path of a socket may have 107 bytes; through an open directory every directory is near enough. */
function atSocket<T>(directory: string, use: (path: string) => T): T {
  const held = openSync(directory, 'r')
  try {
    return use(`/proc/self/fd/${held}/${NAME}`)
  } finally {
    closeSync(held)
  }
}
