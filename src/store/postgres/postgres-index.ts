/**
 * Queries on a ledger in PostgreSQL, and the index behind them. As in SQLite the index follows the
 * facts: it is no part of the transaction that is acknowledged, and what it has not reached yet is
 * read as the tail. The index only narrows; `matches` on the fact decides.
 *
 * INVARIANT (a mark is bound to the history): with its terms every follower writes a row that holds the
 * chain value of the last fact it took, signed (index-mark.ts). The mark that counts is that of the last
 * such row whose value the facts have and whose signature is the ledger's. A mark that was moved without
 * one, as any appender can, moves nothing: the facts behind the bound mark are the tail, and the next
 * follower takes them.
 */
import type { Pool, PoolClient } from 'pg'
import { canonicalJson, FaultError, fault, faultError } from '../../base/index.ts'
import {
  INDEXED_FIELDS,
  type IndexedField,
  indexTerms,
  matches,
  occurredAtText,
  type Page,
  type Query,
  queryTerm,
} from '../../ledger/index.ts'
import { LOOKED_UP, timeOfId } from '../sqlite/fact-search.ts'
import { lostFact, storedFact } from '../streams/stream-state.ts'
import { boundOf, type MarkedStream, type MarkKeys, openMark, sealMark } from './index-mark.ts'
import { checkNotBegunAt, INSUFFICIENT_PRIVILEGE, release } from './postgres-connection.ts'
import { prepared } from './prepared.ts'

const CHUNK = 256
const INDEX_CHUNK = 2_000
/** Reading a longer tail at every look takes longer than indexing it first. */
const TAIL_MAX = 2_000
/** The server searches a tail of so many facts about as fast as it looks a value up. */
const TAIL_AT_ONCE = 512
const FIELDS: readonly IndexedField[] = INDEXED_FIELDS.filter((field) => field !== 'factId')

/** Rows of the index with this field hold chain values, not terms. */
export const CHAIN_FIELD = 100

/** Forged marks that a reader passes over before it reads all facts. */
const MARKS_MAX = 16

/**
 * Returns SQL for the last marks of a stream that fit the facts, as an array of texts. Values begin with
 * the seq, so the last is found first. What follows the chain value is the signature.
 */
export function marksOf(schema: string, stream: string): string {
  return `ARRAY(SELECT bound.value FROM ${schema}.terms bound
      JOIN ${schema}.facts of USING (stream, seq)
    WHERE bound.stream = ${stream} AND bound.field = ${CHAIN_FIELD}
      AND left(bound.value, 81) = lpad(bound.seq::text, 16, '0') || ' ' || encode(of.chain, 'hex')
    ORDER BY bound.value DESC LIMIT ${MARKS_MAX})`
}

/** A stream as a query finds it. */
interface Extent extends MarkedStream {
  readonly stream: number
  /** What the newest checkpoint counts. */
  readonly size: number
  /** How many there are, if none is missing in between. */
  readonly facts: number
  /** All facts before this are in the index. */
  readonly mark: number
  /** What the row of marks says, in decimal: a follower has to name it exactly. */
  readonly claimed: string
}

/** A fact that may match, or none, with the size of the stream and of its tail. */
interface LookedUp {
  readonly size: number
  readonly tail: number
  readonly seq: number | null
  readonly text: string | null
}

interface Candidate {
  readonly seq: number
  readonly text: string
}

/** A step of halving: what is left from here on, and the fact that it looked at. */
interface SearchStep {
  readonly low: number
  readonly seq: number
  readonly found: string | null
}

const OCCURRED_AT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Facts `from` to `to`, `to` not included. */
interface Bounds {
  readonly from: number
  readonly to: number
}

export class PostgresIndex {
  readonly #pool: Pool
  readonly #schema: string
  readonly #keys: MarkKeys
  /** The last mark of each stream whose signature was checked. */
  readonly #checked = new Map<string, string>()
  /** How many facts it covers. Facts are never changed, so it holds as long as the stream is not shorter. */
  readonly #marks = new Map<string, number>()

  constructor(pool: Pool, schema: string, keys: MarkKeys) {
    this.#pool = pool
    this.#schema = schema
    this.#keys = keys
  }

  async find(query: Query): Promise<Page> {
    return (await this.#findAtOnce(query)) ?? this.#findSlowly(query)
  }

  /**
   * Looks a value up in one statement, in the index as far as the last checked mark and in the facts
   * behind it. Null where one statement does not tell: it found too much, or something is missing.
   */
  async #findAtOnce(query: Query): Promise<Page | null> {
    const { stream, order, cursor, limit } = query
    const field = LOOKED_UP.find((one) => queryTerm(query, one) !== undefined)
    const mark = this.#marks.get(stream)
    const isBounded = query.since ?? query.until ?? query.factId
    if (field === undefined || mark === undefined || isBounded !== undefined) return null
    const isOldest = order === 'oldest_first'
    const value = queryTerm(query, field) ?? ''
    const { rows } = await this.#pool.query<LookedUp>(
      prepared(this.#lookUpSql(isOldest ? 'ASC' : 'DESC'), [
        stream,
        FIELDS.indexOf(field),
        value,
        mark,
        isOldest ? (cursor ?? -1) : -1,
        isOldest ? null : (cursor ?? null),
        isLiteral(field) ? canonicalJson(value).slice(1, -1) : '',
      ]),
    )
    const [{ size, tail } = { size: 0, tail: 0 }] = rows
    if (size < mark || tail !== size - mark || tail > TAIL_AT_ONCE) return null
    const found = rows.flatMap(({ seq, text }) => (seq === null ? [] : [{ seq, text }]))
    if (found.length >= CHUNK || found.some(({ text }) => text === null)) return null
    // Not null, as the line before says.
    const candidates = found as readonly Candidate[]
    const facts = candidates.filter(({ seq, text }) =>
      matches(query, storedFact(text, stream, seq)),
    )
    const page = facts.slice(0, limit)
    return { facts: page, next: facts.length > limit ? (page.at(-1)?.seq ?? null) : null }
  }

  /**
   * `$4` is the mark, `$5` and `$6` are cursors, `$7` is a text that every fact with the value holds. The
   * tail holds one fact more than is searched, which says that it is longer; the server reads no more.
   */
  #lookUpSql(order: 'ASC' | 'DESC'): string {
    const { facts, terms, streams, heads } = {
      facts: `${this.#schema}.facts`,
      terms: `${this.#schema}.terms`,
      streams: `${this.#schema}.streams`,
      heads: `${this.#schema}.heads`,
    }
    return `WITH head AS (SELECT stream, size FROM ${streams} JOIN ${heads} USING (stream) WHERE name = $1),
      tail AS MATERIALIZED (SELECT seq, fact FROM ${facts} WHERE stream = (SELECT stream FROM head)
        AND seq >= $4::bigint AND seq < (SELECT size FROM head) LIMIT ${TAIL_AT_ONCE + 1}),
      found AS ((SELECT terms.seq, fact FROM ${terms} LEFT JOIN ${facts} USING (stream, seq)
          WHERE stream = (SELECT stream FROM head) AND field = $2 AND value = $3
            AND terms.seq > $5::bigint AND terms.seq < least($4::bigint, $6::bigint)
          ORDER BY terms.seq ${order} LIMIT ${CHUNK})
        UNION ALL (SELECT seq, fact FROM tail WHERE seq > $5::bigint
          AND seq < coalesce($6::bigint, seq + 1) AND position($7 IN fact) > 0))
      SELECT head.size::float8 AS size, (SELECT count(*) FROM tail)::integer AS tail,
        found.seq::float8 AS seq, found.fact AS text
      FROM head LEFT JOIN found ON true ORDER BY found.seq ${order}`
  }

  async #findSlowly(query: Query): Promise<Page> {
    const extent = await this.#bringOn(query.stream)
    if (extent === null) {
      await checkNotBegunAt(this.#pool, this.#schema, query.stream)
      return { facts: [], next: null }
    }
    const { size, facts: stored } = extent
    if (stored < size) {
      throw new FaultError(
        fault('ledger.truncated', query.stream, { size: stored, checkpoint: size }),
      )
    }
    const bounds = await this.#boundsOf(extent, query)
    const field = LOOKED_UP.find((one) => queryTerm(query, one) !== undefined)
    const facts: Candidate[] = []
    for await (const candidate of this.#candidates(extent, bounds, query, field)) {
      if (!matches(query, storedFact(candidate.text, query.stream, candidate.seq))) continue
      if (facts.length >= query.limit) return { facts, next: facts[facts.length - 1]?.seq ?? null }
      facts.push(candidate)
    }
    return { facts, next: null }
  }

  /** Follows the facts of a stream by one stretch; tells whether there is more to do for us. */
  async follow(name: string): Promise<boolean> {
    return this.#follow(name, 'pg_try_advisory_xact_lock')
  }

  /** Writes every term of a stream again. Rows that are none stay: only the owner can remove them. */
  async remake(name: string): Promise<void> {
    for (
      let from = 0;
      await this.#follow(name, 'pg_advisory_xact_lock', from);
      from += INDEX_CHUNK
    );
  }

  /** One follower at a time over all hosts: the others let it be, or wait for it. */
  async #follow(
    name: string,
    lock: 'pg_try_advisory_xact_lock' | 'pg_advisory_xact_lock',
    from?: number,
  ): Promise<boolean> {
    const client = await this.#pool.connect()
    let outcome: 'sound' | 'broken' = 'broken'
    try {
      await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
      const { rows } = await client.query<{ taken: unknown }>(
        `SELECT ${lock}(hashtextextended($1, 1)) AS taken`,
        [`${this.#schema}/${name}`],
      )
      const isMore = rows[0]?.taken !== false && (await this.#followOn(client, name, from))
      await client.query('COMMIT')
      outcome = 'sound'
      return isMore
    } finally {
      release(client, outcome)
    }
  }

  /** From the bound mark, unless a seq is given. */
  async #followOn(client: PoolClient, name: string, from?: number): Promise<boolean> {
    const extent = await this.#extentOf(client, name)
    const mark = from ?? extent?.mark ?? 0
    if (extent === null || mark >= extent.size) return false
    const { stream, size, claimed } = extent
    const to = Math.min(size, mark + INDEX_CHUNK)
    const bound = await this.#markRow(extent, to - 1)
    // A host without a key cannot say how far the index goes.
    if (bound === null) return false
    const texts = await this.#wholeRange(stream, name, { from: mark, to }, 'ASC', INDEX_CHUNK)
    const terms = texts.flatMap(({ seq, text }) => {
      const terms = indexTerms(storedFact(text, name, seq))
      return FIELDS.flatMap((field, code) => {
        const value = terms[field]
        return value === undefined ? [] : [{ code, value, seq }]
      })
    })
    const rows = [...terms, bound]
    await client.query(`SELECT ${this.#schema}.follow($1, $2, $3, $4, $5, $6)`, [
      stream,
      claimed,
      to,
      rows.map(({ code }) => code),
      rows.map(({ value }) => value),
      rows.map(({ seq }) => seq),
    ])
    return to < size
  }

  async #markRow(extent: Extent, seq: number) {
    const { stream, name } = extent
    const { rows } = await this.#pool.query<{ chain: string }>(
      prepared(
        `SELECT encode(chain, 'hex') AS chain FROM ${this.#schema}.facts WHERE stream = $1 AND seq = $2`,
        [stream, seq],
      ),
    )
    if (rows[0] === undefined) throw lostFact(name, seq)
    const value = sealMark(this.#keys, extent, boundOf(seq, rows[0].chain))
    return value === null ? null : { code: CHAIN_FIELD, value, seq }
  }

  /** A role that may only read leaves the index as it is and reads a longer tail. */
  async #bringOn(name: string): Promise<Extent | null> {
    for (let before = -1; ; ) {
      const extent = await this.#extentOf(this.#pool, name)
      if (extent === null || extent.size - extent.mark <= TAIL_MAX) return extent
      // The index does not move on: the tail is read.
      if (extent.mark <= before) return extent
      before = extent.mark
      try {
        await this.#follow(name, 'pg_advisory_xact_lock')
      } catch (error) {
        // `pg` puts the SQLSTATE into `code`; other errors may have anything there.
        if ((error as { readonly code?: unknown }).code === INSUFFICIENT_PRIVILEGE) return extent
        throw error
      }
    }
  }

  async #extentOf(client: Pick<PoolClient, 'query'>, name: string): Promise<Extent | null> {
    const { rows } = await client.query<
      Omit<Extent, 'mark'> & { readonly marks: readonly string[] }
    >(
      prepared(
        `SELECT stream, name, origin, note, heads.size::float8 AS size, coalesce(marks.size, 0)::text AS claimed,
          coalesce((SELECT max(seq) FROM ${this.#schema}.facts WHERE facts.stream = streams.stream), -1)
            ::float8 + 1 AS facts,
          ${marksOf(this.#schema, 'streams.stream')} AS marks
        FROM ${this.#schema}.streams JOIN ${this.#schema}.heads USING (stream)
          LEFT JOIN ${this.#schema}.marks USING (stream) WHERE name = $1`,
        [name],
      ),
    )
    const [row] = rows
    if (row === undefined) return null
    const mark = Math.min(this.#markOf(row), row.size)
    this.#marks.set(name, mark)
    return { ...row, mark }
  }

  /** The mark that counts: the last one that the ledger's key signed. */
  #markOf(row: MarkedStream & { readonly marks: readonly string[] }): number {
    for (const stored of row.marks) {
      if (this.#checked.get(row.name) === stored) return Number(stored.slice(0, 16)) + 1
      const size = openMark(this.#keys, row, stored)
      if (size === null) continue
      this.#checked.set(row.name, stored)
      return size
    }
    return 0
  }

  async #boundsOf(extent: Extent, query: Query): Promise<Bounds> {
    const { since, until, factId, cursor, order } = query
    const { size } = extent
    const firstAt = (moment: string) => this.#firstAt(extent, query.stream, moment)
    let from = since === undefined ? 0 : await firstAt(since)
    let to = until === undefined ? size : await firstAt(until)
    const idMs = factId === undefined ? null : timeOfId(factId)
    if (idMs !== null) {
      from = Math.max(from, await firstAt(occurredAtText(idMs)))
      to = Math.min(to, await firstAt(occurredAtText(idMs + 1)))
    }
    if (cursor === undefined) return { from, to }
    return order === 'oldest_first'
      ? { from: Math.max(from, cursor + 1), to }
      : { from, to: Math.min(to, cursor) }
  }

  /**
   * The first fact that did not occur before a moment, by halving: time never runs backwards. The
   * server halves, and every fact that it came upon is looked at here: one that is gone misleads it.
   */
  async #firstAt({ stream, size }: Extent, name: string, moment: string): Promise<number> {
    const { rows } = await this.#pool.query<SearchStep>(
      prepared(
        `WITH RECURSIVE halving (step, low, high, seq, found) AS (
          SELECT 0, 0::bigint, $2::bigint, NULL::bigint, NULL::text
        UNION ALL
          SELECT step + 1, CASE WHEN now.found COLLATE "C" < $3 THEN now.seq + 1 ELSE low END,
              CASE WHEN now.found COLLATE "C" < $3 THEN high ELSE now.seq END, now.seq, now.found
            FROM halving, LATERAL (SELECT (low + high) / 2 AS seq, (SELECT substr(fact, 66, 24)
              FROM ${this.#schema}.facts WHERE stream = $1 AND facts.seq = (low + high) / 2) AS found
            ) AS now WHERE low < high)
        SELECT low::float8 AS low, seq::float8 AS seq, found FROM halving ORDER BY step`,
        [stream, size, moment],
      ),
    )
    for (const { seq, found } of rows.slice(1)) {
      if (found === null) throw lostFact(name, seq)
      if (!OCCURRED_AT.test(found))
        throw faultError(
          'ledger.tampered',
          `${name}/${seq}`,
          `the fact ${name}/${seq} has no time: it was changed or damaged`,
        )
    }
    return rows[rows.length - 1]?.low ?? 0
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
          ? await this.#wholeRange(stream, query.stream, bounds, order, CHUNK)
          : await this.#lookUp(stream, bounds, order, field, queryTerm(query, field) ?? '')
      yield* rows
      const last = rows[rows.length - 1]
      if (last === undefined || rows.length < CHUNK) return
      if (newestFirst) high = last.seq
      else low = last.seq + 1
    }
  }

  /** The first facts of a range. Fails if one of them is missing: seqs have no gaps. */
  async #wholeRange(
    stream: number,
    name: string,
    bounds: Bounds,
    order: 'ASC' | 'DESC',
    limit: number,
  ): Promise<readonly Candidate[]> {
    const rows = await this.#range(stream, bounds, order, limit)
    const count = Math.min(limit, bounds.to - bounds.from)
    for (let at = 0; at < count; at++) {
      const seq = order === 'ASC' ? bounds.from + at : bounds.to - 1 - at
      if (rows[at]?.seq !== seq) throw lostFact(name, seq)
    }
    return rows
  }

  async #range(
    stream: number,
    { from, to }: Bounds,
    order: 'ASC' | 'DESC',
    limit: number,
  ): Promise<readonly Candidate[]> {
    const { rows } = await this.#pool.query<Candidate>(
      prepared(
        `SELECT seq::float8 AS seq, fact AS text FROM ${this.#schema}.facts
        WHERE stream = $1 AND facts.seq >= $2 AND facts.seq < $3 ORDER BY facts.seq ${order} LIMIT $4`,
        [stream, from, to, limit],
      ),
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
      prepared(
        `SELECT seq::float8 AS seq, fact AS text
        FROM ${this.#schema}.terms LEFT JOIN ${this.#schema}.facts USING (stream, seq)
        WHERE stream = $1 AND field = $2 AND value = $3 AND terms.seq >= $4 AND terms.seq < $5
        ORDER BY terms.seq ${order} LIMIT $6`,
        [stream, FIELDS.indexOf(field), value, from, to, CHUNK],
      ),
    )
    return rows
  }
}

/** Whether a fact with a value of the field holds the value as it is. That of a principal has parts. */
function isLiteral(field: IndexedField): boolean {
  return field !== 'principal'
}
