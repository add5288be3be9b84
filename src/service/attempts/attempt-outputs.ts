/**
 * The output of a participant and its operations: whole for live readers, shortened for the record.
 * Secrets are removed before shortening, so that no cut leaves half of one.
 */
import { Buffer } from 'node:buffer'
import { type SecretValues, withoutSpellings } from './secret-search.ts'

const BYTES_MAX = 16 * 1024 * 1024
const RECORDED_MAX = 256 * 1024

type Stream = 'stdout' | 'stderr'

export class AttemptOutputs {
  readonly #secrets: SecretValues
  readonly #parts: Record<Stream, Buffer[]> = { stdout: [], stderr: [] }
  readonly #kept = { stdout: 0, stderr: 0 }
  #isCut = false

  constructor(secrets: SecretValues) {
    this.#secrets = secrets
  }

  take(stream: Stream, bytes: Uint8Array): void {
    const room = BYTES_MAX - this.#kept[stream]
    if (bytes.length > room) this.#isCut = true
    if (room <= 0) return
    const part = Buffer.from(bytes.subarray(0, room))
    this.#parts[stream].push(part)
    this.#kept[stream] += part.length
  }

  get isCut(): boolean {
    return this.#isCut
  }

  whole(stream: Stream): Uint8Array {
    return Buffer.concat(this.#parts[stream])
  }

  /** As a result has it. */
  document(): { readonly stdout: string; readonly stderr: string; readonly truncated: boolean } {
    const [stdout, stderr] = [this.#recorded('stdout'), this.#recorded('stderr')]
    const isTruncated = this.#isCut || [stdout, stderr].some(({ length }) => length > RECORDED_MAX)
    return { stdout: cut(stdout), stderr: cut(stderr), truncated: isTruncated }
  }

  #recorded(stream: Stream): Buffer {
    const text = Buffer.concat(this.#parts[stream]).toString('utf8')
    return Buffer.from(withoutSpellings(text, this.#secrets))
  }
}

function cut(bytes: Buffer): string {
  return bytes.subarray(0, RECORDED_MAX).toString('utf8')
}
