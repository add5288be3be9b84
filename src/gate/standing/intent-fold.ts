/**
 * Obstacles to intents (G-18d), folded from facts: permanent blocks, cooldowns, and intents that a
 * human must confirm again. A lift names one intent, or an operation and so all of its intents.
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Override } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'

export interface IntentMemory {
  readonly permanent: boolean
  /** When the cooldown last began. The laws in force say how long it lasts. */
  readonly cooledFromMs: number | null
  readonly reconfirm: boolean
  readonly background: boolean
}

/** Names one intent, or all intents of an operation. */
export type Lift = Pick<Override, 'intent' | 'operation_digest'>

const NOTHING_AGAINST: IntentMemory = {
  permanent: false,
  cooledFromMs: null,
  reconfirm: false,
  background: false,
}

export class IntentFold implements FoldMemory {
  /** Intents with at least one obstacle. */
  readonly #intents: MemoryTable<IntentMemory>
  /** Operations with their intents, as one key: nothing has to be read to add one. */
  readonly #operations: MemoryTable<true>
  /** The same for what came since it was kept, by operation. */
  readonly #newOperations = new Map<string, Set<string>>()

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    this.#intents = new MemoryTable(kept.table('intents'))
    this.#operations = new MemoryTable(kept.table('operations'))
  }

  get tables() {
    return { intents: this.#intents, operations: this.#operations }
  }

  brief(): null {
    return null
  }

  of(intent: string): IntentMemory {
    return this.#intents.get(intent) ?? NOTHING_AGAINST
  }

  takeOperation(operation: string, intent: string): void {
    this.#operations.set(`${operation}/${intent}`, true)
    const known = this.#newOperations.get(operation) ?? new Set()
    this.#newOperations.set(operation, known.add(intent))
  }

  takeLift(lift: Lift): void {
    for (const one of this.namedBy(lift)) {
      this.note(one, { permanent: false, background: false, cooledFromMs: null })
    }
  }

  /** Returns the intents that a lift is about. */
  namedBy({ intent, operation_digest: operation }: Lift): ReadonlySet<string> {
    const intents = new Set(intent === undefined ? [] : [intent])
    if (operation !== undefined) for (const one of this.#intentsOf(operation)) intents.add(one)
    return intents
  }

  coolDown(intent: string, from: string): void {
    const fromMs = parseIsoMomentMs(from) ?? 0
    const before = this.of(intent).cooledFromMs ?? fromMs
    this.note(intent, { cooledFromMs: Math.max(before, fromMs) })
  }

  /** Records a change to an intent. Forgets the intent once it has no obstacle. */
  note(intent: string, change: Partial<IntentMemory>): void {
    const before = this.#intents.get(intent)
    const after = { ...NOTHING_AGAINST, ...before, ...change }
    const { permanent, cooledFromMs, reconfirm, background } = after
    const stands = permanent || cooledFromMs !== null || reconfirm || background
    if (stands) this.#intents.set(intent, after)
    else if (before !== undefined) this.#intents.delete(intent)
  }

  *#intentsOf(operation: string): Iterable<string> {
    yield* this.#newOperations.get(operation) ?? []
    for (const key of this.#operations.keptUnder(`${operation}/`)) {
      yield key.slice(operation.length + 1)
    }
  }
}
