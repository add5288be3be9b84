/**
 * Host names as they are compared: lower case, in ASCII (IDNA), without the dot at the end, an IPv6
 * address without brackets in its shortest form. The platform's URL parser reads them the way clients
 * do, so `0x7f.1` is `127.0.0.1` here as well; what it would only repair is no name.
 */
import { parseAddress } from './address.ts'

export interface HostName {
  readonly name: string
  readonly isAddress: boolean
}

export interface HostPort extends HostName {
  /** Null when none is named. */
  readonly port: number | null
}

const NAME_LENGTH_MAX = 253
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** Null when the text is no host. */
export function hostName(text: string): HostName | null {
  if (text.startsWith('[')) return bracketed(text)
  if (text === '' || text.length > 4 * NAME_LENGTH_MAX || isForeign(text)) return null
  const address = `http://${text}/`
  if (!URL.canParse(address)) return null
  const name = new URL(address).hostname.replace(/\.$/, '')
  if (parseAddress(name) !== null) return { name, isAddress: true }
  if (name.length > NAME_LENGTH_MAX || !name.split('.').every((label) => LABEL.test(label))) {
    return null
  }
  return { name, isAddress: false }
}

/** It holds characters that mean something to a URL, or that it would drop or decode. */
function isForeign(text: string): boolean {
  return /[\s\p{Cc}/?#@\\%:[\]]/u.test(text)
}

function bracketed(text: string): HostName | null {
  if (!text.endsWith(']')) return null
  const inner = text.slice(1, -1)
  if (!inner.includes(':') || parseAddress(inner) === null) return null
  return { name: shortest(inner), isAddress: true }
}

/** As the platform writes an IPv6 address. */
function shortest(text: string): string {
  return new URL(`http://[${text}]/`).hostname.slice(1, -1)
}

/** One spelling for an address that a resolver or a socket gave. */
export function addressName(text: string): string {
  return text.includes(':') && parseAddress(text) !== null ? shortest(text) : text
}

/** Reads `host` or `host:port`; null when it is neither. */
export function hostPort(text: string): HostPort | null {
  const [, host = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? []
  const name = hostName(host)
  if (name === null) return null
  if (digits === undefined) return { ...name, port: null }
  const port = Number(digits)
  return port >= 1 && port <= 65_535 ? { ...name, port } : null
}

/** As people write it: an IPv6 address in brackets. */
export function showHostPort(name: string, port: number | null): string {
  const host = name.includes(':') ? `[${name}]` : name
  return port === null ? host : `${host}:${port}`
}
