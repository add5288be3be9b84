/**
 * What stands against intents (G-18d), folded from facts: permanent blocks, cooldowns, and what a
 * human has to be asked about again. A lift names an intent, or an operation and with it every
 * intent that it had.
 */
import { parseIsoMomentMs } from '../base/index.ts'
import type { Override } from '../contracts/index.ts'
import { type KeptMemory, MemoryTable, NOTHING_KEPT, type Remembering } from './memory-table.ts'

export interface IntentMemory {
  readonly permanent: boolean
  /** The last moment from which it cools down; how long that takes is the law of the day. */
  readonly cooledFromMs: number | null
  readonly reconfirm: boolean
  readonly background: boolean
}

const NOTHING_AGAINST: IntentMemory = {
  permanent: false,
  cooledFromMs: null,
  reconfirm: false,
  background: false,
}

export class IntentFold implements Remembering {
  /** Intents that something stands against. */
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

  takeLift({ intent, operation_digest: operation }: Override): void {
    const intents = new Set(intent === undefined ? [] : [intent])
    if (operation !== undefined) for (const one of this.#intentsOf(operation)) intents.add(one)
    for (const one of intents) {
      this.note(one, { permanent: false, background: false, cooledFromMs: null })
    }
  }

  coolDown(intent: string, from: string): void {
    const fromMs = parseIsoMomentMs(from) ?? 0
    const before = this.of(intent).cooledFromMs ?? fromMs
    this.note(intent, { cooledFromMs: Math.max(before, fromMs) })
  }

  /** An intent that nothing stands against is not remembered. */
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
