/** The output of a command: the record keeps it up to a bound, a live reader gets all of it. */

const OUTPUT_BYTES_MAX = 256 * 1024

export class Outputs {
  readonly #parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] }
  readonly #kept = { stdout: 0, stderr: 0 }
  #isTruncated = false

  take(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    const room = OUTPUT_BYTES_MAX - this.#kept[stream]
    if (bytes.length > room) this.#isTruncated = true
    if (room <= 0) return
    const part = Buffer.from(bytes.subarray(0, room))
    this.#parts[stream].push(part)
    this.#kept[stream] += part.length
  }

  /** As text; bytes that spell nothing become U+FFFD. */
  document(): { readonly stdout: string; readonly stderr: string; readonly truncated: boolean } {
    const text = (stream: 'stdout' | 'stderr'): string =>
      Buffer.concat(this.#parts[stream]).toString('utf8')
    return { stdout: text('stdout'), stderr: text('stderr'), truncated: this.#isTruncated }
  }
}
