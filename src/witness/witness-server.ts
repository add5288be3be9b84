/**
 * Serves a witness: `POST /add-checkpoint` and nothing else. A request is judged, kept and answered in
 * one turn of this process, which holds the lock of the directory, so no two requests can pass each
 * other between the check and the record.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { faultCode, faultError } from '../base/index.ts'
import {
  formatNote,
  judgeRequest,
  originOf,
  parseWitnessRequest,
  type WitnessAnswer,
} from '../ledger/index.ts'
import { type ListenPlace, refuseOpenAddress } from '../machine/index.ts'
import type { WitnessDirectory } from './witness-directory.ts'

interface WitnessOptions {
  readonly directory: WitnessDirectory
  readonly listen: Omit<ListenPlace, 'hasTls'>
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly nowMs: () => number
  /** Takes a line of the log. */
  readonly writeLog: (line: string) => void
}

const PATH = '/add-checkpoint'
/** A checkpoint of a home with thousands of streams is smaller. */
const BODY_BYTES_MAX = 1_100_000
const REQUEST_MS = 20_000
const CONNECTIONS_MAX = 500
const DRAIN_MS = 5_000

export async function startWitness(
  options: WitnessOptions,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { directory, listen, tls } = options
  refuseOpenAddress({ ...listen, hasTls: tls !== null })
  const release = directory.hold()
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    answerRequest(request, response, options).catch(() => response.destroy())
  }
  const server =
    tls === null
      ? createServer(answer)
      : createSecureServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, answer)
  server.requestTimeout = REQUEST_MS
  server.headersTimeout = REQUEST_MS
  server.maxConnections = CONNECTIONS_MAX
  const { host } = listen
  try {
    await listenAt(server, listen)
  } catch (error) {
    release()
    const message = `cannot listen at ${host}:${listen.port}: ${(error as Error).message}` // Node's own.
    throw faultError('service.address', host, message)
  }
  // An address of a server that listens on TCP.
  const { port } = server.address() as AddressInfo
  const shown = host.includes(':') ? `[${host}]` : host
  return {
    url: `${tls === null ? 'http' : 'https'}://${shown}:${port}`,
    async stop() {
      const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeIdleConnections()
      })
      clearTimeout(late)
      release()
    },
  }
}

function listenAt(server: Server, { host, port }: Omit<ListenPlace, 'hasTls'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: WitnessOptions,
): Promise<void> {
  if (request.url !== PATH) return say(response, 404, 'there is only /add-checkpoint here')
  if (request.method !== 'POST') return say(response, 405, 'send a POST', { allow: 'POST' })
  const body = await bodyOf(request)
  if (body === null) return say(response, 413, 'the request is too large', { connection: 'close' })
  let told: string
  try {
    told = answerText(body, response, options)
  } catch (error) {
    // Nothing left the process for this log. The operator reads why; the client learns no paths.
    told = `500 ${faultCode(error) ?? 'cli.bug'} ${(error as Error).message}` // Thrown by our own code.
    say(response, 500, 'the witness cannot answer for this log now')
  }
  options.writeLog(`${new Date(options.nowMs()).toISOString()} ${told}\n`)
}

/** Judges, keeps and answers, without giving another request a turn. Returns the line of the log. */
function answerText(
  body: string,
  response: ServerResponse,
  { directory, nowMs }: WitnessOptions,
): string {
  const request = parseWitnessRequest(body)
  const origin = request === null ? null : originOf(request)
  if (request === null || origin === null) {
    say(response, 400, 'the request is not a checkpoint with its proof')
    return '400'
  }
  const answer: WitnessAnswer = directory.hasRoomFor(origin)
    ? judgeRequest(request, directory.log(origin))
    : { status: 403, why: 'the witness begins no more logs' }
  const line = `${answer.status} ${JSON.stringify(origin)} old ${request.oldSize}`
  if (answer.status === 409) {
    say(response, 409, String(answer.size), { 'content-type': 'text/x.tlog.size' })
    return `${line} kept ${answer.size}`
  }
  if (answer.status !== 200) {
    say(response, answer.status, answer.why)
    return `${line} ${answer.why}`
  }
  const signature = directory.cosign(answer.checkpoint, request.note, nowMs())
  // A note without a text is its signature lines, after the blank line.
  say(response, 200, formatNote({ text: '', signatures: [signature] }).trim())
  return `${line} size ${answer.checkpoint.size}`
}

function say(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers })
  response.end(`${text}\n`)
}

/** Null when it is longer than any request. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
