/**
 * Answering queries: bounds in the sequence first (time is ordered, so they are found by halving),
 * then candidates from the index below its mark and from the tail behind it. The index only narrows;
 * `matches` on the fact decides.
 */
import type { Database, Statement } from 'better-sqlite3'
import { isUuid } from '../../base/index.ts'
import {
  type Fact,
  type IndexedField,
  matches,
  occurredAtText,
  type Page,
  type Query,
  queryTerm,
} from '../../ledger/index.ts'
import type { FactIndex } from './fact-index.ts'
import { factPlace, seqOf } from './schema.ts'

/** The most selective first; one of them is looked up, the others are checked on the facts. */
export const LOOKED_UP: readonly IndexedField[] = [
  'idempotencyKey',
  'task',
  'action',
  'run',
  'principal',
  'type',
]
const CHUNK = 256
/** Reading a longer tail takes longer than indexing it first. */
const TAIL_MAX = 20_000
const INDEX_CHUNK = 10_000

/** Facts `from` to `to`, `to` not included. */
interface Bounds {
  readonly from: number
  readonly to: number
}

export class FactSearch {
  readonly #index: FactIndex
  readonly #fact: Statement
  readonly #last: Statement
  readonly #ascending: Statement
  readonly #descending: Statement

  constructor(database: Database, index: FactIndex) {
    this.#index = index
    const range = 'SELECT place, fact FROM facts WHERE place >= ? AND place < ? ORDER BY place'
    this.#fact = database.prepare('SELECT fact FROM facts WHERE place = ?').pluck()
    this.#last = database
      .prepare('SELECT max(place) FROM facts WHERE place >= ? AND place < ?')
      .pluck()
    this.#ascending = database.prepare(`${range} LIMIT ?`)
    this.#descending = database.prepare(`${range} DESC LIMIT ?`)
  }

  find(stream: number, query: Query): Page {
    const size = this.#sizeOf(stream)
    const bounds = this.#boundsOf(stream, query, size)
    const field = LOOKED_UP.find((one) => queryTerm(query, one) !== undefined)
    if (field === undefined) return collect(query, this.#scan(stream, bounds, query))
    this.#bringOn(stream, size)
    return this.#index.snapshot(() => collect(query, this.#lookUp(stream, bounds, query, field)))
  }

  /** Throws the index away and takes every fact of these streams in again. */
  reindex(streams: readonly number[]): void {
    this.#index.remake()
    for (const stream of streams) {
      const size = this.#sizeOf(stream)
      for (let mark = 0; mark < size; ) {
        const next = this.#index.follow(stream, size, INDEX_CHUNK)
        // Another process is at it, or the disk is full: queries read the tail.
        if (next <= mark) break
        mark = next
      }
    }
  }

  #sizeOf(stream: number): number {
    const last = this.#last.get(factPlace(stream, 0), factPlace(stream + 1, 0)) as number | null
    return last === null ? 0 : seqOf(last) + 1
  }

  #boundsOf(stream: number, { since, until, factId, cursor, order }: Query, size: number): Bounds {
    let from = since === undefined ? 0 : this.#firstAt(stream, size, since)
    let to = until === undefined ? size : this.#firstAt(stream, size, until)
    const idMs = factId === undefined ? null : timeOfId(factId)
    if (idMs !== null) {
      from = Math.max(from, this.#firstAt(stream, size, occurredAtText(idMs)))
      to = Math.min(to, this.#firstAt(stream, size, occurredAtText(idMs + 1)))
    }
    if (cursor === undefined) return { from, to }
    return order === 'oldest_first'
      ? { from: Math.max(from, cursor + 1), to }
      : { from, to: Math.min(to, cursor) }
  }

  /** The first fact that did not occur before a moment, by halving: time never runs backwards. */
  #firstAt(stream: number, size: number, moment: string): number {
    let low = 0
    let high = size
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const fact = JSON.parse(this.#fact.get(factPlace(stream, middle)) as string) as Fact
      if (fact.occurred_at < moment) low = middle + 1
      else high = middle
    }
    return low
  }

  *#scan(stream: number, { from, to }: Bounds, { order }: Query): Iterable<Candidate> {
    let [low, high] = [from, to]
    while (low < high) {
      const newestFirst = order === 'newest_first'
      const statement = newestFirst ? this.#descending : this.#ascending
      const rows = statement.all(
        factPlace(stream, low),
        factPlace(stream, high),
        CHUNK,
      ) as FactRow[]
      for (const { place, fact } of rows) yield { seq: seqOf(place), text: fact }
      const last = rows[rows.length - 1]
      if (last === undefined) return
      if (newestFirst) high = seqOf(last.place)
      else low = seqOf(last.place) + 1
    }
  }

  *#lookUp(stream: number, bounds: Bounds, query: Query, field: IndexedField): Iterable<Candidate> {
    const mark = this.#index.markOf(stream)
    const indexed = { from: bounds.from, to: Math.min(bounds.to, mark) }
    const tail = { from: Math.max(bounds.from, mark), to: bounds.to }
    if (query.order === 'newest_first') yield* this.#scan(stream, tail, query)
    yield* this.#indexed(stream, indexed, query, field)
    if (query.order === 'oldest_first') yield* this.#scan(stream, tail, query)
  }

  /** A tail that is too long to be read at each query is indexed first. */
  #bringOn(stream: number, size: number): void {
    let mark = this.#index.markOf(stream)
    while (size - mark > TAIL_MAX) {
      const next = this.#index.follow(stream, size, INDEX_CHUNK)
      if (next <= mark) return
      mark = next
    }
  }

  *#indexed(
    stream: number,
    { from, to }: Bounds,
    query: Query,
    field: IndexedField,
  ): Iterable<Candidate> {
    const value = queryTerm(query, field) ?? ''
    const newestFirst = query.order === 'newest_first'
    let [low, high] = [from, to]
    while (low < high) {
      const range = { from: low, to: high, newestFirst }
      const found = this.#index.find(stream, field, value, range, CHUNK)
      for (const seq of found) {
        yield { seq, text: this.#fact.get(factPlace(stream, seq)) as string }
      }
      const last = found[found.length - 1]
      if (last === undefined || found.length < CHUNK) return
      if (newestFirst) high = last
      else low = last + 1
    }
  }
}

/** The first page of the candidates that match. */
function collect(query: Query, candidates: Iterable<Candidate>): Page {
  const facts: Candidate[] = []
  for (const candidate of candidates) {
    if (!matches(query, JSON.parse(candidate.text) as Fact)) continue
    const last = facts[facts.length - 1]
    if (facts.length >= query.limit) return { facts, next: last?.seq ?? null }
    facts.push(candidate)
  }
  return { facts, next: null }
}

/** The time that a UUIDv7 holds; null for any other text. */
export function timeOfId(id: string): number | null {
  if (!isUuid(id) || id.charAt(14) !== '7') return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

interface Candidate {
  readonly seq: number
  readonly text: string
}

interface FactRow {
  readonly place: number
  readonly fact: string
}
