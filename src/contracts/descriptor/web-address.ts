/**
 * Web addresses and the hosts a scope names. The platform's URL parser reads an address the way the
 * clients do, so `http://0x7f.1/` is `127.0.0.1` here as well; the entry of a scope must be written
 * the way that parser writes it, which leaves one spelling per host.
 */

export interface WebAddress {
  /** Lower case, without port; an IPv6 address in its brackets. */
  readonly host: string
  readonly port: number
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
const ADDRESS_LENGTH_MAX = 8_192

/** Reads an http or https URL that carries no credentials; null for everything else. */
export function parseWebAddress(text: string): WebAddress | null {
  if (text.length > ADDRESS_LENGTH_MAX || !isUrlText(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const standard = DEFAULT_PORTS[url.protocol]
  if (standard === undefined || url.hostname === '') return null
  if (url.username !== '' || url.password !== '') return null
  return { host: url.hostname, port: url.port === '' ? standard : Number(url.port) }
}

/** What a URL is made of; blanks, control characters and backslashes are repaired by browsers only. */
function isUrlText(text: string): boolean {
  return /^https?:\/\/[^\s\\\p{Cc}/?#][^\s\\\p{Cc}]*$/iu.test(text)
}

/** Reads an entry of `scope.network.hosts`: `host` or `host:port`; null when it is neither. */
export function parseHost(text: string): { host: string; port: number | null } | null {
  const [, host = '', digits] = /^([^:[\]]+|\[[^\]]+\])(?::(\d{1,5}))?$/.exec(text) ?? []
  // A port other than the scheme's own survives parsing, so the host is read on its own.
  const address = parseWebAddress(`http://${host}/`)
  if (address === null || address.host !== host || /[/?#@]/.test(host)) return null
  const port = digits === undefined ? null : Number(digits)
  return port === 0 || (port ?? 0) > 65_535 ? null : { host, port }
}

/** The path that a `file:///…` address of this machine names; null for everything else. */
export function fileAddressPath(text: string): string | null {
  if (
    text.length > ADDRESS_LENGTH_MAX ||
    !/^file:\/\/\/[^\s\\\p{Cc}]*$/u.test(text) ||
    !URL.canParse(text)
  )
    return null
  const { host, pathname } = new URL(text)
  if (host !== '') return null
  try {
    const path = decodeURIComponent(pathname)
    return path.includes('\0') ? null : path
  } catch {
    return null
  }
}

/** Whether the hosts name this address: exactly, and with its port unless that is 80 or 443. */
export function namesAddress(hosts: ReadonlySet<string>, { host, port }: WebAddress): boolean {
  if (hosts.has(`${host}:${port}`)) return true
  return (port === 80 || port === 443) && hosts.has(host)
}
