/**
 * What is refused before a route is looked for: names that are not ours, pages of other origins, and
 * requests that two readers could read differently.
 */
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemOf } from '../api/index.ts'
import { type Code, fault, faultError } from '../base/index.ts'

/** Headers of which a second one would be a second opinion. */
const SINGLE = new Set([
  'authorization',
  'cookie',
  'content-type',
  'host',
  'idempotency-key',
  'last-event-id',
  'origin',
  'writ-page-key',
])

/** Fails if a request can be read in two ways, or is not in the one form of its body. */
export function refuseAmbiguous({ raw, headers }: FastifyRequest): void {
  if (raw.url?.startsWith('/') !== true)
    throw faultError('api.malformed', '', 'the address of a request begins with a slash')
  const seen = new Set<string>()
  for (const [index, header] of raw.rawHeaders.entries()) {
    const name = header.toLowerCase()
    if (index % 2 === 1 || !SINGLE.has(name)) continue
    if (seen.has(name)) throw faultError('api.malformed', '', `the header \`${name}\` comes twice`)
    seen.add(name)
  }
  const { 'content-encoding': packed = 'identity', 'content-type': type = '' } = headers
  if (packed !== 'identity') throw faultError('api.media', '', 'a packed body is not taken')
  const [, charset = 'utf-8'] = /;\s*charset=\s*"?([^";\s]+)/i.exec(type) ?? []
  if (!/^utf-?8$/i.test(charset)) throw faultError('api.media', '', 'the body is not UTF-8')
}

/** Fails if the service is asked under another name, or by a page of another origin. */
export function refuseForeign({ headers }: FastifyRequest, names: ReadonlySet<string>): void {
  const host = (headers.host ?? '').toLowerCase()
  if (!names.has(host)) {
    const message = 'the service does not answer under this name'
    throw faultError('api.host', host, message, '`writ serve --name NAME` adds a name')
  }
  const { origin } = headers
  if (origin === undefined) return
  if (names.has(origin.toLowerCase().replace(/^https?:\/\//, ''))) return
  throw faultError('api.origin', origin, 'the request comes from a page of another origin')
}

const PARSER_CODES: Readonly<Record<string, Code>> = { HPE_HEADER_OVERFLOW: 'api.too_large' }

/** Answers bytes that are no request, and closes. */
export function answerNoRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOf(fault(PARSER_CODES[error.code ?? ''] ?? 'api.malformed', '', null))
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Aborted when a client goes away before it has its answer. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}

/** On every answer that is no page. */
export const PLAIN_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
