/** How often one caller may ask: a bucket of tokens that fills again by itself. */

interface PaceSettings {
  readonly perSecond: number
  /** How many requests may come at once. */
  readonly burst: number
}

/** Callers that were not seen for a while are forgotten; there are never more than so many. */
const CALLERS_MAX = 10_000

interface Bucket {
  left: number
  atMs: number
}

export class PaceLimit {
  readonly #pace: PaceSettings
  readonly #buckets = new Map<string, Bucket>()

  constructor(pace: PaceSettings) {
    this.#pace = pace
  }

  /** Returns 0 if the caller may go on, else for how many seconds it has to wait. */
  take(name: string, nowMs: number): number {
    const { perSecond } = this.#pace
    const bucket = this.#filled(name, nowMs)
    // The newest is last, so that the first is the one to forget.
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    this.#forget()
    if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perSecond)
    bucket.left -= 1
    return 0
  }

  /** The same, and nothing is taken. */
  wait(name: string, nowMs: number): number {
    const { left } = this.#filled(name, nowMs)
    return left < 1 ? Math.ceil((1 - left) / this.#pace.perSecond) : 0
  }

  #filled(name: string, nowMs: number): Bucket {
    const { perSecond, burst } = this.#pace
    const bucket = this.#buckets.get(name) ?? { left: burst, atMs: nowMs }
    const filled = bucket.left + ((nowMs - bucket.atMs) / 1_000) * perSecond
    bucket.left = Math.min(burst, Math.max(0, filled))
    bucket.atMs = nowMs
    return bucket
  }

  #forget(): void {
    if (this.#buckets.size <= CALLERS_MAX) return
    const [oldest] = this.#buckets.keys()
    if (oldest !== undefined) this.#buckets.delete(oldest)
  }
}
