/**
 * Where a chunked body ends. Reads strictly (sizes in hex, CR LF, no extensions, no trailers) and keeps
 * no bytes: what it has read is passed on as it is.
 */

export type ChunkedState = 'more' | 'done' | 'broken'

const SIZE_DIGITS_MAX = 12

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
