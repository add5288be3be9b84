/**
 * The rows of a ledger in PostgreSQL, for verification: one connection, one snapshot. What the server
 * says is taken as it says it; a server that lies about its rows is found out like changed rows are.
 *
 * Not looked at, because they say nothing about the history: `epoch` and `holder` of a head (who wrote
 * last), and how the pieces of a tile are cut.
 */
import type { Client } from 'pg'
import { HASH_BYTES } from '../../base/index.ts'
import { type Fact, isStreamName, TermSum } from '../../ledger/index.ts'
import {
  newClient,
  type PostgresPlace,
  postgresFailure,
  readLedgerName,
} from '../postgres/postgres-connection.ts'
import { CHAIN_FIELD, marksOf } from '../postgres/postgres-index.ts'
import { PostgresObjects } from '../postgres/postgres-objects.ts'
import { checkName, postgresDifferences } from '../postgres/postgres-schema.ts'
import { addTerms, newSumKey, type StreamSums, wrongKeys } from './verify-index.ts'
import {
  type FactRow,
  type LedgerRows,
  type NoteRow,
  PAGE,
  type Say,
  type StreamRow,
  stray,
  type TileRow,
  wrongIndex,
} from './verify-rows.ts'

/** What makes a row of each table one that belongs to nothing; `$1` are the streams there are. */
const STRAYS: Readonly<Record<string, string>> = {
  facts: 'seq < 0',
  keys: 'seq < 0',
  tiles: 'level < 0 OR tile < 0 OR start < 0',
  heads: 'size < 1',
  checkpoints: 'size < 1',
}

export async function openPostgresRows(
  { connection, schema }: PostgresPlace,
  directory: string,
): Promise<PostgresRows> {
  checkName(schema)
  const client = await newClient(connection)
  try {
    await client.connect()
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await readLedgerName(client, schema)
    return new PostgresRows(client, schema, directory)
  } catch (error) {
    await client.end().catch(() => undefined)
    throw postgresFailure(error, schema, connection)
  }
}

class PostgresRows implements LedgerRows {
  readonly #client: Client
  readonly #schema: string
  readonly objects: PostgresObjects
  readonly notesAlways = true
  readonly #key = newSumKey()
  readonly #marks = new Map<number, number>()
  readonly #sums = new Map<number, StreamSums>()

  /** Use `openPostgresRows`. */
  constructor(client: Client, schema: string, directory: string) {
    this.#client = client
    this.#schema = schema
    this.objects = new PostgresObjects(client, schema, directory)
  }

  async checkPlace(say: Say): Promise<void> {
    for (const name of await postgresDifferences(this.#client, this.#schema)) {
      const message = `the table, guard or right \`${name}\` is missing, changed or too many`
      say({ code: 'ledger.schema', message })
    }
    const ones = await this.#rows<{ one: number }>('SELECT one FROM @.ledger', [])
    if (ones.length !== 1 || ones[0]?.one !== 1) {
      say(stray('the schema does not name exactly one ledger'))
    }
  }

  async streams(say: Say): Promise<readonly StreamRow[]> {
    const [ledger] = await this.#rows<{ name: string }>('SELECT name FROM @.ledger', [])
    const rows = await this.#rows<StreamRow>(
      'SELECT stream, name, origin FROM @.streams ORDER BY stream',
      [],
    )
    const marks = await this.#rows<{ stream: number; marks: readonly string[] }>(
      `SELECT stream, ${marksOf('@', 'streams.stream')} AS marks FROM @.streams`,
      [],
    )
    // Takes unsigned marks too: verification reports the terms that are missing below them.
    for (const { stream, marks: found } of marks) {
      this.#marks.set(stream, found[0] === undefined ? 0 : Number(found[0].slice(0, 16)) + 1)
    }
    return rows.filter(({ stream, name, origin }) => {
      const isSound = stream > 0 && isStreamName(name)
      if (!isSound) say(stray(`there is a stream of the number ${stream}`))
      if (origin !== `${ledger?.name}/${name}`) say(stray(`${name} has an origin of its own`))
      return isSound
    })
  }

  async head({ stream }: StreamRow): Promise<NoteRow | null> {
    const [row] = await this.#rows<NoteRow>(
      'SELECT size::float8 AS size, note FROM @.heads WHERE stream = $1',
      [stream],
    )
    return row ?? null
  }

  kept({ stream }: StreamRow): Promise<readonly NoteRow[]> {
    return this.#rows<NoteRow>(
      'SELECT size::float8 AS size, note FROM @.checkpoints WHERE stream = $1 ORDER BY checkpoints.size',
      [stream],
    )
  }

  async facts({ stream }: StreamRow, from: number): Promise<readonly FactRow[]> {
    const { rows } = await this.#client.query<[number, string, string]>({
      text: this.#put(
        `SELECT seq::float8, fact, upper(encode(chain, 'hex')) FROM @.facts
          WHERE stream = $1 AND facts.seq >= $2 ORDER BY facts.seq LIMIT ${PAGE}`,
      ),
      values: [stream, from],
      rowMode: 'array',
    })
    return rows
  }

  note({ stream }: StreamRow, fact: Fact): void {
    const { mark, terms, keys } = this.#sumsOf(stream)
    if (fact.seq < mark) addTerms(terms, fact)
    const { idempotency_key: key } = fact.record
    if (key !== undefined) keys.add(0, key, fact.seq)
  }

  #sumsOf(stream: number): StreamSums {
    const known = this.#sums.get(stream)
    if (known !== undefined) return known
    const mark = this.#marks.get(stream) ?? 0
    const sums = { mark, terms: new TermSum(this.#key), keys: new TermSum(this.#key) }
    this.#sums.set(stream, sums)
    return sums
  }

  /** Rows come over a connection: there is no faster way. */
  takeBlock(): null {
    return null
  }

  async tile({ stream }: StreamRow, level: number, index: number): Promise<TileRow | null> {
    const pieces = await this.#rows<{ start: number; hashes: Buffer; nodes: Buffer }>(
      `SELECT start, hashes, nodes FROM @.tiles WHERE stream = $1 AND level = $2 AND tile = $3
        ORDER BY start`,
      [stream, level, index],
    )
    let width = 0
    for (const { start, hashes } of pieces) {
      if (start !== width) return null
      width += hashes.length / HASH_BYTES
    }
    return {
      hashes: Buffer.concat(pieces.map(({ hashes }) => hashes)),
      nodes: Buffer.concat(pieces.map(({ nodes }) => nodes)),
    }
  }

  async count(table: 'facts' | 'tiles', { stream }: StreamRow): Promise<number> {
    const what = table === 'facts' ? '*' : 'DISTINCT (level, tile)'
    const [row] = await this.#rows<{ count: number }>(
      `SELECT count(${what})::float8 AS count FROM @.${table} WHERE stream = $1`,
      [stream],
    )
    return row?.count ?? 0
  }

  async checkStrays(rows: readonly StreamRow[], say: Say): Promise<void> {
    const ids = rows.map(({ stream }) => stream)
    for (const [table, odd] of Object.entries(STRAYS)) {
      const found = await this.#rows(
        `SELECT 1 FROM @.${table} WHERE stream <> ALL ($1) OR ${odd} LIMIT 1`,
        [ids],
      )
      if (found.length > 0) say(stray(`there are rows in ${table} that are of no stream`))
    }
  }

  /** A key that is not found again would let a fact be recorded twice. */
  async checkIndex(rows: readonly StreamRow[], say: Say, withTerms: boolean): Promise<void> {
    for (const row of rows) {
      const { terms, keys } = this.#sumsOf(row.stream)
      if (!(await this.#keysOf(row)).equals(keys)) say(wrongKeys(row.name), row.name)
      if (withTerms && !(await this.#termsOf(row)).equals(terms)) {
        say(wrongIndex(row.name), row.name)
      }
    }
  }

  async #keysOf({ stream }: StreamRow): Promise<TermSum> {
    const sum = new TermSum(this.#key)
    const rows = this.#each<{ key: string; seq: number }>(
      'SELECT key, seq::float8 AS seq FROM @.keys WHERE stream = $1 AND key > $2 ORDER BY key',
      (last) => [stream, last?.key ?? ''],
    )
    for await (const { key, seq } of rows) sum.add(0, key, seq)
    return sum
  }

  /** Sums the terms below the mark. Queries do not read the index beyond it. */
  async #termsOf({ stream }: StreamRow): Promise<TermSum> {
    const sum = new TermSum(this.#key)
    const rows = this.#each<{ field: number; value: string; seq: number }>(
      `SELECT field, value, seq::float8 AS seq FROM @.terms
        WHERE stream = $1 AND field < ${CHAIN_FIELD} AND (field, value, terms.seq) > ($2, $3, $4)
        ORDER BY field, value, terms.seq`,
      (last) => [stream, last?.field ?? -1, last?.value ?? '', last?.seq ?? -1],
    )
    const { mark } = this.#sumsOf(stream)
    for await (const { field, value, seq } of rows) if (seq < mark) sum.add(field, value, seq)
    return sum
  }

  async *marked(mark: string): AsyncIterable<string> {
    const rows = await this.#rows<{ fact: string }>(
      'SELECT fact FROM @.facts WHERE position($1 in fact) > 0',
      [mark],
    )
    for (const { fact } of rows) yield fact
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined)
  }

  /** All rows of a query, page by page, each page behind the last row of the one before. */
  async *#each<T extends object>(
    sql: string,
    values: (last: T | undefined) => readonly unknown[],
  ): AsyncIterable<T> {
    for (let last: T | undefined; ; ) {
      const rows = await this.#rows<T>(`${sql} LIMIT ${PAGE}`, [...values(last)])
      yield* rows
      if (rows.length < PAGE) return
      last = rows[rows.length - 1]
    }
  }

  async #rows<T extends object>(sql: string, values: unknown[]): Promise<readonly T[]> {
    const { rows } = await this.#client.query<T>(this.#put(sql), values)
    return rows
  }

  /** Replaces `@` with the name of the ledger's schema. */
  #put(sql: string): string {
    return sql.replaceAll('@', this.#schema)
  }
}
