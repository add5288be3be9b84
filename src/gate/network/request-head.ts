/**
 * Reads a request to the proxy strictly: CONNECT with an authority, any other method with an absolute
 * `http` address. Refuses what two parsers could read differently: a Host that differs, two lengths, a
 * length together with chunks, folded lines, blanks before a colon, bare line feeds.
 *
 * A connection carries one request. A client opens a new connection for the next, and the proxy judges
 * that one separately.
 */
import type { Code } from '../../base/index.ts'
import { type Field, isToken, readHead, valuesOf, wordsOf, writeHead } from './head-text.ts'
import { type HostName, hostPort, showHostPort } from './host-name.ts'

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }

export interface RequestHead {
  readonly method: string
  readonly host: HostName
  readonly port: number
  /** Whole; null for a tunnel. */
  readonly url: string | null
  /** Path and query for the server; empty for a tunnel. */
  readonly target: string
  readonly fields: readonly Field[]
  readonly body: Body
}

export type ParsedHead =
  | { readonly ok: true; readonly head: RequestHead }
  | {
      readonly ok: false
      readonly code: Code
      readonly says: string
      /** What could be read of it before. */
      readonly seen: Partial<Pick<RequestHead, 'method' | 'host' | 'port' | 'url'>>
    }

export const HEAD_MAX = 32 * 1024

type Seen = Extract<ParsedHead, { ok: false }>['seen']

export function readRequestHead(bytes: Uint8Array): ParsedHead {
  const read = readHead(bytes)
  if (read === null) return malformed('a line of the head is malformed', {})
  const [, method = '', target = '', minor] =
    /^([^ ]+) ([^ ]+) HTTP\/1\.([01])$/.exec(read.first) ?? []
  if (minor === undefined || !isToken(method)) return malformed('the first line is malformed', {})
  const place = method === 'CONNECT' ? readAuthority(target) : readAbsolute(target)
  if (place === null) {
    const wanted = method === 'CONNECT' ? 'HOST:PORT' : 'an absolute http address'
    return malformed(`the target is not ${wanted}`, { method })
  }
  return readRest({ method, ...place }, read.fields, minor)
}

type Place = Pick<RequestHead, 'host' | 'port' | 'url' | 'target'>

function readRest(
  start: Place & { readonly method: string },
  fields: readonly Field[],
  minor: string,
): ParsedHead {
  const { method, host, port, url } = start
  const seen = { method, host, port, url }
  const hosts = valuesOf(fields, 'host')
  if (hosts.length > 1 || (hosts.length === 0 && minor === '1')) {
    return malformed('there is not exactly one Host', seen)
  }
  if (hosts.some((value) => !agrees(value, start))) {
    return malformed('Host names another host than the target', seen)
  }
  const named = wordsOf(fields, 'connection')
  if (named.some((word) => KEPT.has(word))) {
    return malformed('Connection names a field that has to stay', seen)
  }
  if (wordsOf(fields, 'upgrade').some((word) => word !== 'h2c')) {
    const says = 'another protocol is asked for'
    return { ok: false, code: 'network.upgrade', says, seen }
  }
  const body = method === 'CONNECT' ? tunnelBody(fields) : readBody(fields, minor)
  if (body === null) return malformed('the length of the body can be read in two ways', seen)
  return { ok: true, head: { ...start, fields, body } }
}

function malformed(says: string, seen: Seen): ParsedHead {
  return { ok: false, code: 'network.request', says, seen }
}

function readAuthority(target: string): Place | null {
  const read = hostPort(target)
  if (read === null || read.port === null) return null
  return { host: read, port: read.port, url: null, target: '' }
}

const ABSOLUTE = /^http:\/\/([^/?#]+)([/?][\x21-\x22\x24-\x7e]*)?$/i

/** No user, no fragment; `https` would have to be a tunnel. */
function readAbsolute(target: string): Place | null {
  const [, authority = '', rest = '/'] = ABSOLUTE.exec(target) ?? []
  const read = hostPort(authority)
  if (read === null) return null
  const port = read.port ?? 80
  const path = rest.startsWith('?') ? `/${rest}` : rest
  const shown = showHostPort(read.name, port === 80 ? null : port)
  return { host: read, port, url: `http://${shown}${path}`, target: path }
}

function agrees(value: string, { host, port, url }: Place): boolean {
  const read = hostPort(value)
  if (read === null || read.name !== host.name) return false
  return (read.port ?? (url === null ? port : 80)) === port
}

/** Returns a URL as it is recorded: a query or fragment may hold secrets, so only its length is kept. */
export function recordedUrl(url: string): string {
  const at = url.search(/[?#]/)
  return at < 0 ? url : `${url.slice(0, at + 1)}(${url.length - at - 1} characters)`
}

/** Before a tunnel there is no body. */
function tunnelBody(fields: readonly Field[]): Body | null {
  const lengths = valuesOf(fields, 'content-length')
  const isEmpty = lengths.every((value) => value === '0')
  return isEmpty && valuesOf(fields, 'transfer-encoding').length === 0 ? { kind: 'none' } : null
}

function readBody(fields: readonly Field[], minor: string): Body | null {
  const codings = valuesOf(fields, 'transfer-encoding')
  const lengths = valuesOf(fields, 'content-length')
  if (codings.length > 0) {
    const isPlain = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked'
    return isPlain && lengths.length === 0 && minor === '1' ? { kind: 'chunked' } : null
  }
  const [length] = lengths
  if (length === undefined) return { kind: 'none' }
  if (lengths.length > 1 || !/^\d{1,15}$/.test(length)) return null
  return Number(length) === 0 ? { kind: 'none' } : { kind: 'length', length: Number(length) }
}

/** Fields between two neighbours only, and what belongs to the proxy. */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
])
const KEPT: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-type',
  'authorization',
])

/** The head as the server gets it: its own path, one Host, and an end after one answer. */
export function forwardedHead({ method, host, port, target, fields }: RequestHead): Uint8Array {
  const named = new Set(wordsOf(fields, 'connection'))
  const kept = fields.filter(([name]) => {
    const lower = name.toLowerCase()
    return lower !== 'host' && !DROPPED.has(lower) && !named.has(lower)
  })
  const shown = showHostPort(host.name, port === 80 ? null : port)
  return writeHead(`${method} ${target} HTTP/1.1`, [
    ['Host', shown],
    ...kept,
    ['Connection', 'close'],
  ])
}
