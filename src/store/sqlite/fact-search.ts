/**
 * Answering queries: bounds in the sequence first (time is ordered, so they are found by halving),
 * then candidates from the index below its mark and from the tail behind it. The index only narrows;
 * `matches` on the fact decides.
 */

import { FaultError, fault, isUuid } from '../../base/index.ts'
import {
  type IndexedField,
  matches,
  occurredAtText,
  type Page,
  type Query,
  queryTerm,
} from '../../ledger/index.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import { factPlace, seqOf } from '../database/sqlite-schema.ts'
import { lostStream } from '../streams/stream-start.ts'
import { storedFact } from '../streams/stream-state.ts'
import type { FactIndex } from './fact-index.ts'

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
/** A command looks up to fifty things up one after another: a longer tail is indexed first. */
const TAIL_MAX = 200
const INDEX_CHUNK = 10_000

/** Facts `from` to `to`, `to` not included. */
interface Bounds {
  readonly from: number
  readonly to: number
}

export class FactSearch {
  readonly #index: FactIndex
  readonly #fact: Statement<string>
  readonly #last: Statement<number | null>
  readonly #head: Statement<number>
  readonly #ascending: Statement<FactRow>
  readonly #descending: Statement<FactRow>

  constructor(database: Database, index: FactIndex) {
    this.#index = index
    const range = 'SELECT place, fact FROM facts WHERE place >= ? AND place < ? ORDER BY place'
    this.#fact = database.prepare<string>('SELECT fact FROM facts WHERE place = ?').pluck()
    this.#last = database
      .prepare<number | null>('SELECT max(place) FROM facts WHERE place >= ? AND place < ?')
      .pluck()
    this.#head = database.prepare<number>('SELECT size FROM heads WHERE stream = ?').pluck()
    this.#ascending = database.prepare<FactRow>(`${range} LIMIT ?`)
    this.#descending = database.prepare<FactRow>(`${range} DESC LIMIT ?`)
  }

  find(stream: number, query: Query): Page {
    const size = this.#wholeSizeOf(stream, query.stream)
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

  /** The size of a stream. Fails if its newest checkpoint counts more facts than there are. */
  #wholeSizeOf(stream: number, name: string): number {
    // The head is read first: facts only come.
    const checkpoint = this.#head.get(stream)
    if (checkpoint === undefined) throw lostStream(name)
    const size = this.#sizeOf(stream)
    if (size >= checkpoint) return size
    throw new FaultError(fault('ledger.truncated', name, { size, checkpoint }))
  }

  #sizeOf(stream: number): number {
    const last = this.#last.get(factPlace(stream, 0), factPlace(stream + 1, 0)) ?? null
    return last === null ? 0 : seqOf(last) + 1
  }

  #boundsOf(stream: number, query: Query, size: number): Bounds {
    const { since, until, factId, cursor, order } = query
    const firstAt = (moment: string): number => this.#firstAt(stream, query.stream, size, moment)
    let from = since === undefined ? 0 : firstAt(since)
    let to = until === undefined ? size : firstAt(until)
    const idMs = factId === undefined ? null : timeOfId(factId)
    if (idMs !== null) {
      from = Math.max(from, firstAt(occurredAtText(idMs)))
      to = Math.min(to, firstAt(occurredAtText(idMs + 1)))
    }
    if (cursor === undefined) return { from, to }
    return order === 'oldest_first'
      ? { from: Math.max(from, cursor + 1), to }
      : { from, to: Math.min(to, cursor) }
  }

  /** The first fact that did not occur before a moment, by halving: time never runs backwards. */
  #firstAt(stream: number, name: string, size: number, moment: string): number {
    let low = 0
    let high = size
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const fact = storedFact(this.#fact.get(factPlace(stream, middle)), name, middle)
      if (fact.occurred_at < moment) low = middle + 1
      else high = middle
    }
    return low
  }

  *#scan(stream: number, { from, to }: Bounds, { order, limit }: Query): Iterable<Candidate> {
    let [low, high] = [from, to]
    // One more than asked for says whether there is a next page.
    const chunk = Math.min(CHUNK, limit + 1)
    const newestFirst = order === 'newest_first'
    while (low < high) {
      const statement = newestFirst ? this.#descending : this.#ascending
      const rows = statement.all(factPlace(stream, low), factPlace(stream, high), chunk)
      if (rows.length === 0) yield { seq: newestFirst ? high - 1 : low, text: undefined }
      for (const { place, fact } of rows) {
        // Seqs have no gaps: a row of another seq means that this one is missing.
        const seq = newestFirst ? --high : low++
        yield { seq, text: seqOf(place) === seq ? fact : undefined }
      }
    }
  }

  *#lookUp(stream: number, bounds: Bounds, query: Query, field: IndexedField): Iterable<Candidate> {
    const mark = this.#index.markOf(stream)
    const indexed = { from: bounds.from, to: Math.min(bounds.to, mark) }
    const tail = { from: Math.max(bounds.from, mark), to: bounds.to }
    const written = writtenAs(query, field)
    // Few facts of the tail fit, so it is read in large pieces.
    const whole = { ...query, limit: CHUNK }
    if (query.order === 'newest_first') yield* naming(written, this.#scan(stream, tail, whole))
    yield* this.#indexed(stream, indexed, query, field)
    if (query.order === 'oldest_first') yield* naming(written, this.#scan(stream, tail, whole))
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
        yield { seq, text: this.#fact.get(factPlace(stream, seq)) }
      }
      const last = found[found.length - 1]
      if (last === undefined || found.length < CHUNK) return
      if (newestFirst) high = last
      else low = last + 1
    }
  }
}

/** Returns what the text of every fact with this term contains; empty for a term made of several values. */
function writtenAs(query: Query, field: IndexedField): string {
  return field === 'principal' ? '' : JSON.stringify(queryTerm(query, field))
}

/** Leaves out facts whose text, which is canonical JSON, does not contain the term: parsing costs more. */
function* naming(written: string, candidates: Iterable<Candidate>): Iterable<Candidate> {
  for (const candidate of candidates)
    if (candidate.text?.includes(written) !== false) yield candidate
}

/** The first page of the candidates that match. */
function collect(query: Query, candidates: Iterable<Candidate>): Page {
  const facts: { readonly seq: number; readonly text: string }[] = []
  for (const { seq, text } of candidates) {
    if (!matches(query, storedFact(text, query.stream, seq))) continue
    const last = facts[facts.length - 1]
    if (facts.length >= query.limit) return { facts, next: last?.seq ?? null }
    facts.push({ seq, text: text as string }) // It has just been read as a fact.
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
  /** Undefined for a fact that is not there. */
  readonly text: string | undefined
}

interface FactRow {
  readonly place: number
  readonly fact: string
}
