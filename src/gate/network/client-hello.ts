/**
 * The name at the beginning of TLS: reads a ClientHello out of the first bytes of a tunnel, over as
 * many records as it was cut into, and gives the server name. Nothing else of TLS is known here.
 *
 * INVARIANT (one reading): what two readers could understand differently (a name named twice, records
 *   of other kinds in between, lengths that do not add up) is refused, not repaired.
 */

export type ParsedHello =
  /** More bytes are needed. */
  | { readonly state: 'incomplete' }
  /** `name` is null when none is named; `isHidden` when another one is encrypted (ECH). */
  | { readonly state: 'hello'; readonly name: string | null; readonly isHidden: boolean }
  | { readonly state: 'not_tls' }

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const RECORD_HEAD = 5
const HANDSHAKE_HEAD = 4
const RECORD_MAX = 16_384
/** Real clients split a ClientHello into two or three records. Each call reads all of them again. */
const RECORDS_MAX = 64
/** Real ClientHellos are smaller, even with post-quantum keys. */
const HELLO_MAX = 32 * 1024
/** Includes the heads of all records. */
export const HELLO_BYTES_MAX = HELLO_MAX + RECORDS_MAX * RECORD_HEAD
const EXTENSION = { serverName: 0, encryptedHello: 0xfe0d, oldEncryptedNames: 0xffce } as const
const HOST_NAME = 0

const NOT_TLS: ParsedHello = { state: 'not_tls' }
const INCOMPLETE: ParsedHello = { state: 'incomplete' }

export function readClientHello(bytes: Uint8Array): ParsedHello {
  const gathered = gatherHandshake(bytes)
  if (gathered === null) return NOT_TLS
  const { parts, size, length } = gathered
  if (length === null || size < length) return INCOMPLETE
  // A client sends nothing after its ClientHello until the server answers.
  if (size > length) return NOT_TLS
  return readHello(new Cursor(joined(parts, size).subarray(HANDSHAKE_HEAD))) ?? NOT_TLS
}

interface Gathered {
  /** The handshake message as far as it came, without the heads of records. */
  readonly parts: readonly Uint8Array[]
  readonly size: number
  /** Of the whole message; null while its head is not there. */
  readonly length: number | null
}

/** Null when it cannot become a ClientHello. */
function gatherHandshake(bytes: Uint8Array): Gathered | null {
  const parts: Uint8Array[] = []
  let length: number | null = null
  let size = 0
  let at = 0
  while (at < bytes.length && (length === null || size < length)) {
    if (!isRecordHead(bytes, at)) return null
    if (bytes.length - at < RECORD_HEAD) break
    const recordLength = two(bytes, at + 3)
    if (parts.length === RECORDS_MAX) return null
    if (recordLength === 0 || recordLength > RECORD_MAX) return null
    const part = bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + recordLength)
    parts.push(part)
    size += part.length
    length ??= messageLength(parts, size)
    if (length === -1) return null
    at += RECORD_HEAD + recordLength
  }
  return { parts, size, length }
}

/** As far as the bytes are there. */
function isRecordHead(bytes: Uint8Array, at: number): boolean {
  const [type, major, minor = 0] = bytes.subarray(at, at + 3)
  return type === HANDSHAKE && (major === undefined || (major === 3 && minor <= 4))
}

/** Null while the head is not whole, -1 when it is no ClientHello of ordinary size. */
function messageLength(parts: readonly Uint8Array[], size: number): number | null {
  if (size === 0) return null
  if (size < HANDSHAKE_HEAD) return parts[0]?.[0] === CLIENT_HELLO ? null : -1
  const head = joined(parts, size)
  const length = HANDSHAKE_HEAD + (((head[1] ?? 0) << 16) | two(head, 2))
  return head[0] === CLIENT_HELLO && length <= HELLO_MAX ? length : -1
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const whole = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const RANDOM = 32
const VERSION = 2

function readHello(hello: Cursor): ParsedHello | null {
  hello.skip(VERSION + RANDOM)
  hello.vector(1)
  hello.vector(2)
  hello.vector(1)
  // A hello without extensions ends here.
  if (hello.isDone) return { state: 'hello', name: null, isHidden: false }
  const extensions = hello.vector(2)
  if (extensions === null || !hello.isDone || hello.isBroken) return null
  const seen = new Set<number>()
  let name: string | null = null
  let isHidden = false
  while (!extensions.isDone) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (content === null || extensions.isBroken || seen.has(type)) return null
    seen.add(type)
    if (type === EXTENSION.encryptedHello || type === EXTENSION.oldEncryptedNames) isHidden = true
    if (type !== EXTENSION.serverName) continue
    name = readServerName(content)
    if (name === null) return null
  }
  return { state: 'hello', name, isHidden }
}

/** One entry of the one kind that there is. */
function readServerName(content: Cursor): string | null {
  const list = content.vector(2)
  if (list === null || !content.isDone) return null
  const kind = list.number(1)
  const name = list.vector(2)
  if (name === null || kind !== HOST_NAME || !list.isDone || list.isBroken) return null
  const text = name.text()
  return /^[\x21-\x7e]+$/.test(text) ? text : null
}

class Cursor {
  readonly #bytes: Uint8Array
  #at = 0
  isBroken = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isDone(): boolean {
    return !this.isBroken && this.#at === this.#bytes.length
  }

  skip(count: number): void {
    this.#at += count
    if (this.#at > this.#bytes.length) this.isBroken = true
  }

  number(width: number): number {
    const from = this.#at
    this.skip(width)
    if (this.isBroken) return -1
    return width === 1 ? (this.#bytes[from] ?? 0) : two(this.#bytes, from)
  }

  /** A piece with its length in front; null when it does not fit. */
  vector(width: number): Cursor | null {
    const length = this.number(width)
    const from = this.#at
    if (this.isBroken) return null
    this.skip(length)
    return this.isBroken ? null : new Cursor(this.#bytes.subarray(from, from + length))
  }

  text(): string {
    return String.fromCharCode(...this.#bytes)
  }
}

function two(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
