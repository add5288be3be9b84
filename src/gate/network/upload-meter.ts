/**
 * What a connection sends: where a chunked body ends, and how much goes to a read-only host beyond
 * ordinary requests.
 */

/** Twice the size of the largest handshakes that clients send, those with post-quantum keys. */
export const HANDSHAKE_FREE = 4 * 1024
/** The head of a request to a registry is 300 to 700 bytes. */
export const REQUEST_FREE = 1024
/** A keep-alive from the server is shorter than this; a "304 Not Modified" is longer. */
export const ANSWER_MIN = 256

const RECORD_HEAD = 5
const CHANGE_CIPHER = 20
const HANDSHAKE = 22

/**
 * Counts what a connection to a read-only host sends beyond ordinary requests. TLS hides the requests
 * but not the kinds of its records, so the meter can tell handshakes from data. Data that the client
 * sends after a response begins another request.
 *
 * INVARIANT (nothing is free twice): each byte that goes up is a handshake's within its allowance, a
 *   request's within its allowance, or counted.
 */
export class UploadMeter {
  readonly #records: RecordKinds | null
  #handshakeLeft = HANDSHAKE_FREE
  #requestLeft = REQUEST_FREE
  #answered = 0

  /** `isTls`: what goes up is a sequence of TLS records. */
  constructor(isTls: boolean) {
    this.#records = isTls ? new RecordKinds() : null
  }

  /** Takes the next bytes that go up and returns how many of them are counted. */
  up(chunk: Uint8Array): number {
    const handshake = this.#records?.handshakeBytes(chunk) ?? 0
    const freeHandshake = Math.min(handshake, this.#handshakeLeft)
    this.#handshakeLeft -= freeHandshake
    const data = chunk.length - freeHandshake
    if (data === 0) return 0
    if (this.#answered >= ANSWER_MIN) this.#requestLeft = REQUEST_FREE
    this.#answered = 0
    const freeData = Math.min(data, this.#requestLeft)
    this.#requestLeft -= freeData
    return data - freeData
  }

  down(bytes: number): void {
    this.#answered += bytes
  }
}

/** Follows the records of one direction over pieces that begin and end anywhere. */
class RecordKinds {
  readonly #head = new Uint8Array(RECORD_HEAD)
  #headBytes = 0
  #bodyLeft = 0
  #isHandshake = false

  /** Returns how many of the bytes are records of a handshake, heads included. */
  handshakeBytes(chunk: Uint8Array): number {
    let [at, count] = [0, 0]
    while (at < chunk.length) {
      const used = this.#bodyLeft > 0 ? this.#body(chunk.length - at) : this.#headByte(chunk[at])
      if (this.#isHandshake) count += used
      at += used
    }
    return count
  }

  #body(available: number): number {
    const used = Math.min(this.#bodyLeft, available)
    this.#bodyLeft -= used
    return used
  }

  #headByte(byte = 0): number {
    if (this.#headBytes === 0) this.#isHandshake = byte === HANDSHAKE || byte === CHANGE_CIPHER
    this.#head[this.#headBytes++] = byte
    if (this.#headBytes < RECORD_HEAD) return 1
    this.#headBytes = 0
    const [, , , high = 0, low = 0] = this.#head
    this.#bodyLeft = high * 256 + low
    return 1
  }
}

export type ChunkedState = 'more' | 'done' | 'broken'

const SIZE_DIGITS_MAX = 12

/**
 * Where a chunked body ends. Reads strictly (sizes in hex, CR LF, no extensions, no trailers) and keeps
 * no bytes: what it has read is passed on as it is.
 */
export class ChunkedBody {
  #state: 'size' | 'content' | 'content_end' | 'last_end' | 'done' | 'broken' = 'size'
  #line = ''
  #left = 0

  /** How many of the bytes belong to the body, and whether it is over. */
  take(bytes: Uint8Array): { readonly used: number; readonly state: ChunkedState } {
    let at = 0
    while (at < bytes.length && this.#state !== 'done' && this.#state !== 'broken') {
      if (this.#state === 'content') {
        const count = Math.min(this.#left, bytes.length - at)
        this.#left -= count
        at += count
        if (this.#left === 0) this.#state = 'content_end'
      } else this.#takeLineByte(bytes[at++] ?? 0)
    }
    const state = this.#state === 'done' || this.#state === 'broken' ? this.#state : 'more'
    return { used: at, state }
  }

  #takeLineByte(byte: number): void {
    this.#line += String.fromCharCode(byte)
    if (!this.#line.endsWith('\n')) {
      if (this.#line.length > SIZE_DIGITS_MAX + 1) this.#state = 'broken'
      return
    }
    const line = this.#line
    this.#line = ''
    if (this.#state === 'size') this.#takeSize(line)
    else if (line !== '\r\n') this.#state = 'broken'
    else this.#state = this.#state === 'last_end' ? 'done' : 'size'
  }

  #takeSize(line: string): void {
    if (!/^[0-9a-fA-F]+\r\n$/.test(line)) {
      this.#state = 'broken'
      return
    }
    this.#left = Number.parseInt(line, 16)
    this.#state = this.#left === 0 ? 'last_end' : 'content'
  }
}
