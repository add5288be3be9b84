/**
 * Bodies that this process has just written or found on the server: a run reads what it wrote a moment
 * before. A body that another process drops is still given for as long as one is kept here.
 */
import type { Digest } from '../../base/index.ts'

const KEPT_MS = 3_000
/** A larger body is read again. */
const BODY_BYTES_MAX = 64 * 1024
const BYTES_MAX = 8 * 1024 * 1024

interface Recent {
  /** Null where only its presence is known. */
  readonly bytes: Uint8Array | null
  readonly untilMs: number
}

export class RecentBodies {
  /** The oldest come first. */
  readonly #kept = new Map<Digest, Recent>()
  #bytes = 0

  has(digest: Digest): boolean {
    return this.#find(digest) !== null
  }

  get(digest: Digest): Uint8Array | null {
    const bytes = this.#find(digest)?.bytes ?? null
    // Callers own what they get.
    return bytes === null ? null : new Uint8Array(bytes)
  }

  #find(digest: Digest): Recent | null {
    const recent = this.#kept.get(digest)
    return recent !== undefined && recent.untilMs > performance.now() ? recent : null
  }

  note(digest: Digest, bytes: Uint8Array | null): void {
    const known = bytes === null ? this.get(digest) : bytes
    this.drop(digest)
    const isKept = known !== null && known.length <= BODY_BYTES_MAX
    // They own what they gave, too. (`slice` of a Buffer copies nothing.)
    const kept = isKept ? new Uint8Array(known) : null
    this.#kept.set(digest, { bytes: kept, untilMs: performance.now() + KEPT_MS })
    this.#bytes += kept?.length ?? 0
    for (const [oldest, { untilMs }] of this.#kept) {
      if (untilMs > performance.now() && this.#bytes <= BYTES_MAX) break
      this.drop(oldest)
    }
  }

  drop(digest: Digest): void {
    this.#bytes -= this.#kept.get(digest)?.bytes?.length ?? 0
    this.#kept.delete(digest)
  }
}
