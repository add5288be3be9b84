/**
 * Anchors a ledger again and again while a process runs: after so many facts, or so many minutes if
 * there are new facts at all. The process that runs calls `look` every few seconds.
 */

import { type AnchorPlace, type AnchorReport, anchorLedger } from './anchor.ts'
import { pinnedWitnesses } from './pins.ts'

export interface AnchorPace {
  readonly facts: number
  readonly minutes: number
}

/** A witness that is away is not asked more often than this. */
const RETRY_MS = 30_000

/** No principal asks for it. */
const ANCHORER = {
  principal: { kind: 'script', id: 'writ', namespace: 'host' },
  source: 'anchor',
} as const

export class AnchorLoop {
  readonly #place: AnchorPlace
  readonly #pace: AnchorPace
  readonly #nowMs: () => number
  /** Facts of all streams after the last try that every witness answered. */
  #facts = 0
  #triedMs = Number.NEGATIVE_INFINITY

  constructor(place: AnchorPlace, pace: AnchorPace, nowMs: () => number) {
    this.#place = place
    this.#pace = pace
    this.#nowMs = nowMs
  }

  /** Anchors if it is time; null if it is not, or if no witness is pinned. */
  async look(): Promise<AnchorReport | null> {
    const facts = await this.#count()
    const fresh = facts - this.#facts
    const waitedMs = this.#nowMs() - this.#triedMs
    const isLate = waitedMs >= this.#pace.minutes * 60_000
    const isMuch = fresh >= this.#pace.facts && waitedMs >= RETRY_MS
    if (fresh === 0 || !(isLate || isMuch)) return null
    const witnesses = await pinnedWitnesses(this.#place.ledger)
    if (witnesses.length === 0) return null
    this.#triedMs = this.#nowMs()
    const report = await anchorLedger(this.#place, ANCHORER, witnesses, this.#nowMs)
    // The fact of the anchor itself is no reason for the next one.
    if (report.failures.length === 0) this.#facts = await this.#count()
    return report
  }

  async #count(): Promise<number> {
    const heads = await this.#place.ledger.store.heads()
    return heads.reduce((sum, { size }) => sum + size, 0)
  }
}
