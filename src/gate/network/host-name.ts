/**
 * Host names as they are compared: lower case, in ASCII (IDNA), without the dot at the end, an IPv6
 * address without brackets in its shortest form. The platform's URL parser reads them the way clients
 * do, so `0x7f.1` is `127.0.0.1` here as well; what it would only repair is no name.
 *
 * Addresses that a run never reaches by a name: the machine itself, the networks around it, the
 * places where clouds hand out credentials, and every form that hides one of them in another. The
 * ranges are those of the IANA registries of special-purpose addresses. Unassigned addresses are
 * refused as well.
 *
 * INVARIANT (unknown is refused): a text that is no address gets a reason, never null.
 */

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
const GROUP = /^[0-9a-f]{1,4}$/i
const LONGEST_6 = 45

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

/** An address as its bytes: 4 or 16. */
export type AddressBytes = readonly number[]

interface Range {
  readonly prefix: AddressBytes
  readonly bits: number
  readonly says: string
}

const RANGES_4: readonly Range[] = [
  range4('0.0.0.0', 8, 'this network'),
  range4('10.0.0.0', 8, 'private'),
  range4('100.64.0.0', 10, 'shared by a carrier'),
  range4('127.0.0.0', 8, 'loopback'),
  range4('169.254.0.0', 16, 'link-local'),
  range4('172.16.0.0', 12, 'private'),
  range4('192.0.0.0', 24, 'for protocols'),
  range4('192.0.2.0', 24, 'documentation'),
  range4('192.88.99.0', 24, '6to4 relay'),
  range4('192.168.0.0', 16, 'private'),
  range4('198.18.0.0', 15, 'benchmarking'),
  range4('198.51.100.0', 24, 'documentation'),
  range4('203.0.113.0', 24, 'documentation'),
  range4('224.0.0.0', 4, 'multicast'),
  range4('240.0.0.0', 4, 'reserved'),
]

/** Addresses of clouds that answer with credentials, outside the ranges above. */
const METADATA_4: ReadonlySet<string> = new Set(['168.63.129.16'])

const RANGES_6: readonly Range[] = [
  range6('2001:0000', 23, 'for protocols'),
  range6('2001:0db8', 32, 'documentation'),
  range6('3fff:0000', 20, 'documentation'),
]

/** Prefixes in front of an IPv4 address, which decides. */
const MAPPED: AddressBytes = [...zeros(10), 0xff, 0xff]
const TRANSLATED: AddressBytes = [...zeros(8), 0xff, 0xff, 0, 0]
const NAT64: AddressBytes = [0, 0x64, 0xff, 0x9b, ...zeros(8)]
const NAT64_LOCAL: AddressBytes = [0, 0x64, 0xff, 0x9b, 0, 1]
const SIX_TO_FOUR: AddressBytes = [0x20, 0x02]

/** Returns why an address is refused unless its literal is in scope; null for a public address. */
export function refusedAddress(text: string): string | null {
  const bytes = parseAddress(text)
  if (bytes === null) return 'no address'
  return bytes.length === 4 ? refused4(bytes) : refused6(bytes)
}

function refused4(bytes: AddressBytes): string | null {
  if (METADATA_4.has(bytes.join('.'))) return 'metadata of a cloud'
  return RANGES_4.find((range) => isIn(bytes, range))?.says ?? null
}

function refused6(bytes: AddressBytes): string | null {
  if (startsWith(bytes, zeros(15))) return bytes[15] === 1 ? 'loopback' : 'this network'
  for (const prefix of [MAPPED, TRANSLATED, NAT64]) {
    if (startsWith(bytes, prefix)) return hiding(bytes.slice(12))
  }
  if (startsWith(bytes, NAT64_LOCAL)) return 'NAT64 of a local network'
  if (startsWith(bytes, SIX_TO_FOUR)) return hiding(bytes.slice(2, 6)) ?? '6to4 relay'
  const [first = 0] = bytes
  if (first === 0xff) return 'multicast'
  if ((first & 0xfe) === 0xfc) return 'private'
  // IANA has assigned only 2000::/3: the rest is link-local, site-local or unassigned.
  if ((first & 0xe0) !== 0x20) return first === 0xfe ? 'link-local' : 'reserved'
  return RANGES_6.find((range) => isIn(bytes, range))?.says ?? null
}

function hiding(bytes: AddressBytes): string | null {
  const reason = refused4(bytes)
  return reason === null ? null : `${reason}, inside an IPv6 address`
}

/** Reads an IPv4 address in four decimal parts, or an IPv6 address without zone; else null. */
export function parseAddress(text: string): AddressBytes | null {
  return text.includes(':') ? parse6(text) : parse4(text)
}

function parse4(text: string): AddressBytes | null {
  const parts = text.split('.')
  if (parts.length !== 4) return null
  if (!parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return null
  return parts.map(Number)
}

function parse6(text: string): AddressBytes | null {
  if (text.length > LONGEST_6) return null
  const halves = withoutDots(text)?.split('::') ?? []
  if (halves.length === 0 || halves.length > 2) return null
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!groups.every((group) => GROUP.test(group))) return null
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/** Rewrites an IPv4 address at the end as two groups of hex digits. */
function withoutDots(text: string): string | null {
  const at = text.lastIndexOf(':') + 1
  const last = text.slice(at)
  if (!last.includes('.')) return text
  const bytes = parse4(last)
  if (bytes === null) return null
  const [one = 0, two = 0, three = 0, four = 0] = bytes
  return `${text.slice(0, at)}${((one << 8) | two).toString(16)}:${((three << 8) | four).toString(16)}`
}

function isIn(bytes: AddressBytes, { prefix, bits }: Range): boolean {
  return prefix.every((part, index) => {
    const left = Math.min(Math.max(bits - index * 8, 0), 8)
    const mask = (0xff << (8 - left)) & 0xff
    return ((bytes[index] ?? 0) & mask) === (part & mask)
  })
}

function startsWith(bytes: AddressBytes, prefix: AddressBytes): boolean {
  return prefix.every((part, index) => bytes[index] === part)
}

function zeros(count: number): number[] {
  return Array<number>(count).fill(0)
}

function range4(text: string, bits: number, says: string): Range {
  return { prefix: text.split('.').map(Number), bits, says }
}

function range6(groups: string, bits: number, says: string): Range {
  const prefix = groups.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
  return { prefix, bits, says }
}
