/**
 * Reads as much of a response head as the proxy needs: the status, and the fields about the connection,
 * which always closes after this response. The proxy passes a redirect on to the client and does not
 * follow it. If the client follows it, that is a new request.
 */
import { type Field, readHead, writeHead } from './head-text.ts'

export interface ResponseHead {
  readonly status: number
  /** As the client gets it. */
  readonly bytes: Uint8Array
}

export const RESPONSE_HEAD_MAX = 128 * 1024

const CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'alt-svc',
])

/** Null when it is no head of HTTP/1. */
export function readResponseHead(bytes: Uint8Array): ResponseHead | null {
  const read = readHead(bytes)
  const [, digits] = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/.exec(read?.first ?? '') ?? []
  if (read === null || digits === undefined) return null
  const status = Number(digits)
  const end: Field[] = status < 200 ? [] : [['Connection', 'close']]
  const kept = read.fields.filter(([name]) => !CONNECTION.has(name.toLowerCase()))
  return { status, bytes: writeHead(read.first, [...kept, ...end]) }
}
