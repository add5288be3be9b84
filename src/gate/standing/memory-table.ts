/**
 * What a fold remembers by key and what grows with the history. A `MemoryTable` has two parts: a kept
 * table from an earlier process, which it reads key by key and never changes, and a map of the changes
 * since. A fold without a kept table holds everything in the map.
 *
 * INVARIANT (values are replaced): no caller changes a value in place, because it may belong to the
 *   kept table. Callers `set` a new value instead.
 */

/** A kept table. Values are JSON. `get` throws if the value is damaged. */
export interface KeptTable {
  /** Undefined when the key is not there. */
  get(key: string): unknown
  /** The keys that begin with a text. */
  under(prefix: string): Iterable<string>
  /** Yields every key with its value, in no particular order. */
  entries(): Iterable<readonly [string, unknown]>
}

/** What a fold begins with: short lists by the name of their part, and tables. */
export interface KeptMemory {
  /** Undefined when nothing was kept. */
  brief(part: string): unknown
  table(name: string): KeptTable
}

const EMPTY_TABLE: KeptTable = { get: () => undefined, under: () => [], entries: () => [] }

export const NOTHING_KEPT: KeptMemory = { brief: () => undefined, table: () => EMPTY_TABLE }

export class MemoryTable<V> {
  readonly #kept: KeptTable
  /** Undefined: the kept value is gone. */
  readonly #changed = new Map<string, V | undefined>()

  constructor(kept: KeptTable = EMPTY_TABLE) {
    this.#kept = kept
  }

  get(key: string): V | undefined {
    const value = this.#changed.get(key)
    if (value !== undefined || this.#kept === EMPTY_TABLE || this.#changed.has(key)) return value
    // What is kept was written by a fold of the same version.
    return this.#kept.get(key) as V | undefined
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: V): void {
    this.#changed.set(key, value)
  }

  delete(key: string): void {
    if (this.#kept === EMPTY_TABLE) this.#changed.delete(key)
    else this.#changed.set(key, undefined)
  }

  /** Keys that begin with a text, without those that came since it was kept. */
  keptUnder(prefix: string): Iterable<string> {
    return this.#kept.under(prefix)
  }

  /** Yields every key with its value, in no particular order. */
  *entries(): Iterable<readonly [string, V]> {
    for (const [key, value] of this.#kept.entries()) {
      if (!this.#changed.has(key)) yield [key, value as V] // As in `get`.
    }
    for (const [key, value] of this.#changed) if (value !== undefined) yield [key, value]
  }

  /** What came since it was kept; undefined for what went. */
  changes(): ReadonlyMap<string, V | undefined> {
    return this.#changed
  }
}

/** A part of a fold: its short list, to be kept whole, and its tables. */
export interface FoldMemory {
  brief(): unknown
  readonly tables: Readonly<Record<string, MemoryTable<unknown>>>
}
