/**
 * Which idempotency keys a stream has used: those below the index's mark are in the index, the others
 * are held in memory, read out of the tail. Exact under the writer's lock, whatever the index does.
 */
import type { Database, Statement } from 'better-sqlite3'
import type { FactIndex } from './fact-index.ts'
import type { KeyLookup } from './ledger-file.ts'
import { factPlace } from './schema.ts'
import { isDamage } from './sqlite.ts'

interface Tail {
  /** Keys of the facts `from` to `to`, each with its seq. */
  readonly keys: Map<string, number>
  from: number
  to: number
}

export class IndexedKeyLookup implements KeyLookup {
  readonly #index: FactIndex
  readonly #facts: Statement
  readonly #tails = new Map<number, Tail>()
  /** The marks of the index as this transaction sees it; null when it has not looked yet. */
  #marks: Map<number, number> | null = null

  constructor(index: FactIndex, ledger: Database) {
    this.#index = index
    this.#facts = ledger
      .prepare('SELECT fact FROM facts WHERE place >= ? AND place < ? ORDER BY place')
      .pluck()
  }

  find(stream: number, size: number, key: string): number | null {
    try {
      return this.#find(stream, size, key)
    } catch (error) {
      if (!isDamage(error)) throw error
      // An empty index has no mark: everything is in the tail, and is read.
      this.#endRead()
      this.#index.remake()
      return this.#find(stream, size, key)
    }
  }

  #find(stream: number, size: number, key: string): number | null {
    const tail = this.#tailOf(stream, size)
    return tail.keys.get(key) ?? this.#index.first(stream, 'idempotencyKey', key, tail.from)
  }

  add(stream: number, seq: number, key: string): void {
    const tail = this.#tails.get(stream)
    if (tail === undefined) return
    tail.keys.set(key, seq)
    tail.to = seq + 1
  }

  end(outcome: 'committed' | 'failed'): void {
    this.#endRead()
    if (outcome === 'failed') this.#tails.clear()
  }

  /** Lets go of what the index has taken over. */
  trim(stream: number, mark: number): void {
    const tail = this.#tails.get(stream)
    if (tail === undefined || mark <= tail.from) return
    for (const [key, seq] of tail.keys) if (seq < mark) tail.keys.delete(key)
    tail.from = Math.min(mark, tail.to)
  }

  /** The tail from the mark to `size`, read at either end as far as it is not known yet. */
  #tailOf(stream: number, size: number): Tail {
    const known = this.#tails.get(stream)
    const usable = known !== undefined && known.to <= size
    const tail = usable ? known : { keys: new Map(), from: size, to: size }
    this.#tails.set(stream, tail)
    const mark = this.#markOf(stream)
    if (mark < tail.from) {
      this.#read(tail, stream, mark, tail.from)
      tail.from = mark
    }
    if (tail.to < size) {
      this.#read(tail, stream, tail.to, size)
      tail.to = size
    }
    return tail
  }

  /** One state of the index serves the whole transaction. */
  #markOf(stream: number): number {
    if (this.#marks === null) {
      this.#index.beginRead()
      this.#marks = new Map()
    }
    const mark = this.#marks.get(stream) ?? this.#index.markOf(stream)
    this.#marks.set(stream, mark)
    return mark
  }

  #endRead(): void {
    if (this.#marks === null) return
    this.#marks = null
    this.#index.endRead()
  }

  #read(tail: Tail, stream: number, from: number, to: number): void {
    let seq = from
    for (const fact of this.#facts.iterate(factPlace(stream, from), factPlace(stream, to))) {
      const key = idempotencyKeyOf(fact as string)
      if (key !== null) tail.keys.set(key, seq)
      seq++
    }
  }
}

/** Most facts have no key; only those that may have one are read in full. */
function idempotencyKeyOf(fact: string): string | null {
  if (!fact.includes('"idempotency_key":')) return null
  const key = JSON.parse(fact).record.idempotency_key
  return typeof key === 'string' ? key : null
}
