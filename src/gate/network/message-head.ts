/**
 * Heads of HTTP/1 messages. Reads a request to the proxy strictly: CONNECT with an authority, any other method with an absolute
 * `http` address. Refuses what two parsers could read differently: a Host that differs, two lengths, a
 * length together with chunks, folded lines, blanks before a colon, bare line feeds.
 *
 * A connection carries one request. A client opens a new connection for the next, and the proxy judges
 * that one separately.
 *
 * Of a response head it reads as much as the proxy needs: the status, and the fields about the connection,
 * which always closes after this response. The proxy passes a redirect on to the client and does not
 * follow it. If the client follows it, that is a new request.
 */
import type { Code } from '../../base/index.ts'
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
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FIELDS_MAX = 128
/** Visible characters, blanks and what is beyond ASCII; no other control character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const PIECE = 8_192
export const RESPONSE_HEAD_MAX = 128 * 1024

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

type Field = readonly [name: string, value: string]

/** Where a head ends: the index after the empty line, or null while it did not come. */
export function headEnd(bytes: Uint8Array, from = 0): number | null {
  for (let at = Math.max(from, 3); at < bytes.length; at++) {
    if (bytes[at] !== 10 || bytes[at - 1] !== 13) continue
    if (bytes[at - 2] === 10 && bytes[at - 3] === 13) return at + 1
  }
  return null
}

/** The first line and the fields; null when a line can be read in two ways. */
function readHead(bytes: Uint8Array): { readonly first: string; readonly fields: Field[] } | null {
  const text = latin1(bytes)
  if (!text.endsWith('\r\n\r\n')) return null
  const [first = '', ...lines] = text.slice(0, -4).split('\r\n')
  if (lines.length > FIELDS_MAX || !VALUE.test(first)) return null
  const fields: Field[] = []
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    const value = line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '')
    // A folded line begins with a blank, which no name holds.
    if (!TOKEN.test(name) || !VALUE.test(value)) return null
    fields.push([name, value])
  }
  return { first, fields }
}

function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Returns all values of a field. `name` is in lower case; the case of the field does not matter. */
function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
}

/** The words of a field that is a list. */
function wordsOf(fields: readonly Field[], name: string): readonly string[] {
  return valuesOf(fields, name)
    .flatMap((value) => value.split(','))
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
}

function writeHead(first: string, fields: readonly Field[]): Uint8Array {
  const text = [first, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0))
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  }
  return text
}

export interface ResponseHead {
  readonly status: number
  /** As the client gets it. */
  readonly bytes: Uint8Array
}

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
