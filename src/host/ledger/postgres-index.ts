/**
 * Queries on a ledger in PostgreSQL, and the index behind them. As in SQLite the index follows the
 * facts: it is no part of the transaction that is acknowledged, and whatever it has not reached yet is
 * read as the tail. The index only narrows; `matches` on the fact decides.
 */
import type { Pool, PoolClient } from 'pg'
import { invariant } from '../../base/index.ts'
import {
  type Fact,
  INDEXED_FIELDS,
  type IndexedField,
  indexTerms,
  matches,
  occurredAtText,
  type Page,
  type Query,
  queryTerm,
} from '../../ledger/index.ts'
import { LOOKED_UP, timeOfId } from './fact-search.ts'
import { release } from './postgres.ts'

const CHUNK = 256
const INDEX_CHUNK = 2_000
/** Reading a longer tail takes longer than indexing it first. */
const TAIL_MAX = 20_000
const FIELDS: readonly IndexedField[] = INDEXED_FIELDS.filter((field) => field !== 'factId')

/** A stream as a query finds it. */
interface Extent {
  readonly stream: number
  readonly size: number
  /** All facts before this are in the index. */
  readonly mark: number
}

interface Candidate {
  readonly seq: number
  readonly text: string
}

/** Facts `from` to `to`, `to` not included. */
interface Bounds {
  readonly from: number
  readonly to: number
}

export class PostgresIndex {
  readonly #pool: Pool
  readonly #schema: string

  constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#schema = schema
  }

  async find(query: Query): Promise<Page> {
    const extent = await this.#bringOn(query.stream)
    if (extent === null) return { facts: [], next: null }
    const bounds = await this.#boundsOf(extent, query)
    const field = LOOKED_UP.find((one) => queryTerm(query, one) !== undefined)
    const facts: Candidate[] = []
    for await (const candidate of this.#candidates(extent, bounds, query, field)) {
      if (!matches(query, JSON.parse(candidate.text) as Fact)) continue
      if (facts.length >= query.limit) return { facts, next: facts[facts.length - 1]?.seq ?? null }
      facts.push(candidate)
    }
    return { facts, next: null }
  }

  /** Follows the facts of a stream by one stretch; tells whether there is more to do for us. */
  async follow(name: string): Promise<boolean> {
    return this.#follow(name, 'pg_try_advisory_xact_lock')
  }

  /** One follower at a time over all hosts: the others let it be, or wait for it. */
  async #follow(
    name: string,
    lock: 'pg_try_advisory_xact_lock' | 'pg_advisory_xact_lock',
  ): Promise<boolean> {
    const client = await this.#pool.connect()
    let outcome: 'sound' | 'broken' = 'broken'
    try {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const { rows } = await client.query<{ taken: unknown }>(
        `SELECT ${lock}(hashtextextended($1, 1)) AS taken`,
        [`${this.#schema}/${name}`],
      )
      const isMore = rows[0]?.taken !== false && (await this.#followOn(client, name))
      await client.query('COMMIT')
      outcome = 'sound'
      return isMore
    } finally {
      release(client, outcome)
    }
  }

  async #followOn(client: PoolClient, name: string): Promise<boolean> {
    const extent = await this.#extentOf(client, name)
    if (extent === null || extent.mark >= extent.size) return false
    const { stream, size, mark } = extent
    const to = Math.min(size, mark + INDEX_CHUNK)
    const texts = await this.#range(stream, { from: mark, to }, 'ASC', INDEX_CHUNK)
    const rows = texts.flatMap(({ seq, text }) => {
      const terms = indexTerms(JSON.parse(text) as Fact)
      return FIELDS.flatMap((field, code) => {
        const value = terms[field]
        return value === undefined ? [] : [{ code, value, seq }]
      })
    })
    await client.query(`SELECT ${this.#schema}.follow($1, $2, $3, $4, $5, $6)`, [
      stream,
      mark,
      to,
      rows.map(({ code }) => code),
      rows.map(({ value }) => value),
      rows.map(({ seq }) => seq),
    ])
    return to < size
  }

  async #bringOn(name: string): Promise<Extent | null> {
    for (;;) {
      const extent = await this.#extentOf(this.#pool, name)
      if (extent === null || extent.size - extent.mark <= TAIL_MAX) return extent
      await this.#follow(name, 'pg_advisory_xact_lock')
    }
  }

  async #extentOf(client: Pick<PoolClient, 'query'>, name: string): Promise<Extent | null> {
    const { rows } = await client.query<Extent>(
      `SELECT stream, heads.size::float8 AS size,
          least(coalesce(marks.size, 0), heads.size)::float8 AS mark
        FROM ${this.#schema}.streams JOIN ${this.#schema}.heads USING (stream)
          LEFT JOIN ${this.#schema}.marks USING (stream) WHERE name = $1`,
      [name],
    )
    return rows[0] ?? null
  }

  async #boundsOf(extent: Extent, query: Query): Promise<Bounds> {
    const { since, until, factId, cursor, order } = query
    const { size } = extent
    let from = since === undefined ? 0 : await this.#firstAt(extent, since)
    let to = until === undefined ? size : await this.#firstAt(extent, until)
    const idMs = factId === undefined ? null : timeOfId(factId)
    if (idMs !== null) {
      from = Math.max(from, await this.#firstAt(extent, occurredAtText(idMs)))
      to = Math.min(to, await this.#firstAt(extent, occurredAtText(idMs + 1)))
    }
    if (cursor === undefined) return { from, to }
    return order === 'oldest_first'
      ? { from: Math.max(from, cursor + 1), to }
      : { from, to: Math.min(to, cursor) }
  }

  async #firstAt({ stream, size }: Extent, moment: string): Promise<number> {
    const { rows } = await this.#pool.query<{ first: number }>(
      `SELECT ${this.#schema}.first_at($1, $2, $3)::float8 AS first`,
      [stream, size, moment],
    )
    invariant(rows[0] !== undefined, 'a function has one answer')
    return rows[0].first
  }

  async *#candidates(
    { stream, mark }: Extent,
    bounds: Bounds,
    query: Query,
    field: IndexedField | undefined,
  ): AsyncIterable<Candidate> {
    const split = field === undefined ? bounds.from : Math.max(bounds.from, mark)
    const tail = this.#walk(stream, { from: split, to: bounds.to }, query, undefined)
    const indexed = this.#walk(
      stream,
      { from: bounds.from, to: Math.min(bounds.to, mark) },
      query,
      field,
    )
    if (field === undefined) return yield* tail
    if (query.order === 'newest_first') yield* tail
    yield* indexed
    if (query.order === 'oldest_first') yield* tail
  }

  /** The facts of a range in the query's order, all of them or those with the field's value. */
  async *#walk(
    stream: number,
    { from, to }: Bounds,
    query: Query,
    field: IndexedField | undefined,
  ): AsyncIterable<Candidate> {
    const newestFirst = query.order === 'newest_first'
    let [low, high] = [from, to]
    while (low < high) {
      const order = newestFirst ? 'DESC' : 'ASC'
      const bounds = { from: low, to: high }
      const rows =
        field === undefined
          ? await this.#range(stream, bounds, order, CHUNK)
          : await this.#lookUp(stream, bounds, order, field, queryTerm(query, field) ?? '')
      yield* rows
      const last = rows[rows.length - 1]
      if (last === undefined || rows.length < CHUNK) return
      if (newestFirst) high = last.seq
      else low = last.seq + 1
    }
  }

  async #range(
    stream: number,
    { from, to }: Bounds,
    order: 'ASC' | 'DESC',
    limit: number,
  ): Promise<readonly Candidate[]> {
    const { rows } = await this.#pool.query<Candidate>(
      `SELECT seq::float8 AS seq, fact AS text FROM ${this.#schema}.facts
        WHERE stream = $1 AND facts.seq >= $2 AND facts.seq < $3 ORDER BY facts.seq ${order} LIMIT $4`,
      [stream, from, to, limit],
    )
    return rows
  }

  async #lookUp(
    stream: number,
    { from, to }: Bounds,
    order: 'ASC' | 'DESC',
    field: IndexedField,
    value: string,
  ): Promise<readonly Candidate[]> {
    const { rows } = await this.#pool.query<Candidate>(
      `SELECT seq::float8 AS seq, fact AS text
        FROM ${this.#schema}.terms JOIN ${this.#schema}.facts USING (stream, seq)
        WHERE stream = $1 AND field = $2 AND value = $3 AND terms.seq >= $4 AND terms.seq < $5
        ORDER BY terms.seq ${order} LIMIT $6`,
      [stream, FIELDS.indexOf(field), value, from, to, CHUNK],
    )
    return rows
  }
}
