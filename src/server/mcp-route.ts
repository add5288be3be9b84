/** MCP over HTTP (M-1), at one address next to the table of routes: its contract is the protocol's. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../ledger/index.ts'
import type { mcpDoor } from '../mcp/index.ts'

export const MCP_PATH = '/mcp'

/** Hands a request to the protocol and its answer back. A client that goes away ends its call. */
export async function answerMcp(
  door: ReturnType<typeof mcpDoor>,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const { body, method } = request
  const asked = new Request(`http://localhost${MCP_PATH}`, {
    method,
    headers: headersOf(request),
    signal: gone.signal,
    ...(method === 'POST' ? { body: JSON.stringify(body ?? null) } : {}),
  })
  const answer = await door(asked, caller, method === 'POST' ? body : undefined)
  reply.status(answer.status)
  for (const [name, value] of answer.headers) reply.header(name, value)
  if (answer.body === null) return reply.send()
  // The two declarations of the stream differ in name only.
  return reply.send(Readable.fromWeb(answer.body as ReadableStream))
}

/** Without the length, which is that of the bytes as they came. */
function headersOf({ headers }: FastifyRequest): Headers {
  const kept = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== 'content-length') kept.set(name, value)
  }
  return kept
}
