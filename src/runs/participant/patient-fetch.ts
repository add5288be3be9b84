/**
 * `fetch` over Node's own client. The built-in one gives up on an endpoint that thinks for more than five
 * minutes; here the time of the node is the only limit.
 */
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { Readable } from 'node:stream'

interface Posted {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** Sends one request and returns the answer as soon as its head has come. */
export function answerTo(
  url: string,
  { method = 'POST', headers, body, signal }: Posted,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith('https:') ? tlsRequest : plainRequest
    const asked = start(url, { method, headers, signal }, resolve)
    asked.on('error', reject)
    asked.end(body)
  })
}

/** What the clients of chat and MCP endpoints call: texts are posted, redirects are not followed. */
export async function patientFetch(
  to: string | URL | Request,
  { method = 'GET', headers, body, signal }: RequestInit = {},
): Promise<Response> {
  const response = await answerTo(to instanceof Request ? to.url : String(to), {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: typeof body === 'string' ? body : '',
    signal: signal ?? new AbortController().signal,
  })
  const { statusCode: status = 0, headers: answered } = response
  const pairs = Object.entries(answered).map(([name, value]) => [name, String(value)] as const)
  const isEmpty = status === 204 || status === 304
  // Node's stream is the web's by another name.
  const text = isEmpty ? null : (Readable.toWeb(response) as ReadableStream)
  return new Response(text, { status, headers: Object.fromEntries(pairs) })
}
