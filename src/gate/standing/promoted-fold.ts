/**
 * What was promoted and what of it was taken back, folded from facts: by action, in the order of the
 * promotions, and for counting, taken-back acts by the hour.
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Promotion } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'

export interface PromotedAction {
  readonly actionId: string
  readonly promotedAt: string
  readonly undoUntil: string
  readonly promotion: Promotion
  /** The rollback that undid the promotion; null while it is in effect. */
  readonly rolledBackBy: string | null
  readonly rolledBackAt: string | null
}

/** One act that was undone; the actor is null where no record names one. */
interface TakenBack {
  readonly id: string
  readonly atMs: number
  readonly actor: string | null
}

interface Brief {
  /** How many acts were ever promoted. */
  readonly count: number
  /** The latest hour in which one was taken back. */
  readonly latestHour: number
}

const HOUR_MS = 60 * 60 * 1000
const HOURS_ASKED_MAX = 1_000

export class PromotedFold implements FoldMemory {
  readonly #byAction: MemoryTable<PromotedAction>
  /** By the number of the promotion: its action. */
  readonly #order: MemoryTable<string>
  readonly #takenBack: MemoryTable<readonly TakenBack[]>
  #count: number
  #latestHour: number

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    const brief = (kept.brief('promoted') ?? { count: 0, latestHour: 0 }) as Brief
    this.#count = brief.count
    this.#latestHour = brief.latestHour
    this.#byAction = new MemoryTable(kept.table('promoted'))
    this.#order = new MemoryTable(kept.table('promotions'))
    this.#takenBack = new MemoryTable(kept.table('taken_back'))
  }

  get tables() {
    const [promoted, promotions] = [this.#byAction, this.#order]
    return { promoted, promotions, taken_back: this.#takenBack }
  }

  brief(): Brief {
    return { count: this.#count, latestHour: this.#latestHour }
  }

  takePromotion(promotion: Promotion): void {
    const id = promotion.action_id.toLowerCase()
    const before = this.#byAction.get(id)
    if (before === undefined) this.#order.set(orderKey(this.#count++), id)
    else this.#forget(id, before)
    this.#byAction.set(id, {
      actionId: promotion.action_id,
      promotedAt: promotion.promoted_at,
      undoUntil: promotion.undo_until,
      promotion,
      rolledBackBy: null,
      rolledBackAt: null,
    })
  }

  /** What a flow takes back by its own rules is not counted: its participant did no harm. */
  takeRollback(
    id: string,
    rolledBackBy: string,
    rolledBackAt: string,
    actor: string | null,
    isCounted: boolean,
  ): void {
    const promoted = this.#byAction.get(id)
    if (promoted === undefined) return
    this.#forget(id, promoted)
    this.#byAction.set(id, { ...promoted, rolledBackBy, rolledBackAt })
    const atMs = parseIsoMomentMs(rolledBackAt)
    if (atMs === null || !isCounted) return
    const hour = Math.floor(atMs / HOUR_MS)
    this.#latestHour = Math.max(this.#latestHour, hour)
    const known = this.#takenBack.get(hourKey(hour)) ?? []
    this.#takenBack.set(hourKey(hour), [...known, { id, atMs, actor }])
  }

  of(id: string): PromotedAction | null {
    return this.#byAction.get(id) ?? null
  }

  /** In the order of their promotions, with those that were undone. */
  *oldestFirst(): Iterable<PromotedAction> {
    for (let number = 0; number < this.#count; number++) yield* this.#numbered(number)
  }

  *newestFirst(): Iterable<PromotedAction> {
    for (let number = this.#count - 1; number >= 0; number--) yield* this.#numbered(number)
  }

  /** Counts the acts of an actor that were undone within a span before a moment, or after it. */
  countTakenBack(actor: string, nowMs: number, spanMs: number): number {
    let count = 0
    for (const hour of this.#hoursSince(Math.floor((nowMs - spanMs) / HOUR_MS))) {
      for (const { atMs, actor: whose } of hour) {
        // An act whose record names no actor counts for every actor.
        if (nowMs - atMs < spanMs && (whose === null || whose === actor)) count++
      }
    }
    return count
  }

  /** Yields every hour since the first, and earlier ones too if a clock once ran far ahead. */
  *#hoursSince(first: number): Iterable<readonly TakenBack[]> {
    if (this.#latestHour - first > HOURS_ASKED_MAX) {
      for (const [, hour] of this.#takenBack.entries()) yield hour
      return
    }
    for (let hour = first; hour <= this.#latestHour; hour++) {
      yield this.#takenBack.get(hourKey(hour)) ?? []
    }
  }

  *#numbered(number: number): Iterable<PromotedAction> {
    const promoted = this.#byAction.get(this.#order.get(orderKey(number)) ?? '')
    if (promoted !== undefined) yield promoted
  }

  /** An act counts once, by its last rollback. */
  #forget(id: string, { rolledBackAt }: PromotedAction): void {
    const atMs = rolledBackAt === null ? null : parseIsoMomentMs(rolledBackAt)
    if (atMs === null) return
    const key = hourKey(Math.floor(atMs / HOUR_MS))
    const rest = (this.#takenBack.get(key) ?? []).filter((one) => one.id !== id)
    if (rest.length === 0) this.#takenBack.delete(key)
    else this.#takenBack.set(key, rest)
  }
}

/** Texts that sort as the numbers do. */
function orderKey(number: number): string {
  return String(number).padStart(12, '0')
}

function hourKey(hour: number): string {
  return String(hour).padStart(10, '0')
}
