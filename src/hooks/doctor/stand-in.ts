/**
 * A stand-in for a model on this machine's loopback: plays a script of turns to whichever wire format
 * it is spoken to in, and keeps what it was sent. The number of tool results in a request chooses the
 * turn, so a host may repeat a request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { asObject, type JsonFields } from '../../hosts/index.ts'
import { type ModelTurn, wireOf } from './wires.ts'

interface ModelRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Null if the body is no JSON object. */
  readonly body: JsonFields | null
}

export interface StandIn {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string
  readonly requests: readonly ModelRequest[]
  readonly close: () => Promise<void>
}

const BODY_MAX = 32 * 1024 * 1024
/** What a host asks a model for itself, such as a title. */
const ASIDE: ModelTurn = { text: 'ok' }

/** The last turn is repeated. */
export async function startStandIn(turns: readonly ModelTurn[]): Promise<StandIn> {
  const { createServer } = await import('node:http')
  const requests: ModelRequest[] = []
  let count = 0
  const id = (prefix: string): string => `${prefix}_writ${++count}`
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const path = (request.url ?? '/').split('?')[0] ?? '/'
      requests.push({ method: request.method ?? '', path, headers: request.headers, body })
      respond(response, { path, body, turns, id })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests, close: () => closed(server) }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

function readBody(request: IncomingMessage): Promise<JsonFields | null> {
  return new Promise((resolve) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => {
      text += piece
      if (text.length > BODY_MAX) request.destroy()
    })
    request.on('error', () => resolve(null))
    request.on('end', () => {
      try {
        resolve(asObject(JSON.parse(text)))
      } catch {
        resolve(null)
      }
    })
  })
}

interface Asked {
  readonly path: string
  readonly body: JsonFields | null
  readonly turns: readonly ModelTurn[]
  readonly id: (prefix: string) => string
}

function respond(response: ServerResponse, { path, body, turns, id }: Asked): void {
  const found = wireOf(path)
  if (found === null || body === null) return respondAside(response, path)
  const { wire } = found
  const place = Math.min(wire.results(body), turns.length - 1)
  const turn = wire.offersTools(body) ? (turns[place] ?? ASIDE) : ASIDE
  const model = typeof body['model'] === 'string' ? body['model'] : 'stand-in'
  const { whole, events } = wire.answer(turn, model, id)
  if (!(found.isStreamed ?? body['stream'] === true)) return sendJson(response, 200, whole)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const { name, data } of events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === null ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
  response.end()
}

function respondAside(response: ServerResponse, path: string): void {
  if (/count_?tokens$/i.test(path))
    return sendJson(response, 200, { input_tokens: 10, totalTokens: 10 })
  if (path.endsWith('/models')) {
    const data = [{ id: 'stand-in', object: 'model' }]
    return sendJson(response, 200, { object: 'list', data, models: [] })
  }
  sendJson(response, 404, { error: { message: 'the stand-in knows no such path' } })
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
