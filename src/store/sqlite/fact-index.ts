/**
 * The query index: which facts have which type, task, action, run, principal and idempotency key. It
 * lies in a file of its own and follows the ledger. The facts that it has not reached yet are the tail;
 * readers go through index and tail. The index proves nothing and can be deleted: a damaged or foreign
 * one is built again from the facts.
 *
 * INVARIANT (whole below the mark): of every fact below a stream's mark all terms are in the index,
 * because both are written in one transaction.
 */

import { chmodSync, closeSync, lstatSync, openSync, rmSync } from 'node:fs'
import { faultCode, faultError } from '../../base/index.ts'
import { INDEXED_FIELDS, type IndexedField, indexTerms } from '../../ledger/index.ts'
import { errnoOf } from '../../machine/index.ts'
import {
  isBusy,
  isDamage,
  isFull,
  isReadOnly,
  openDatabase,
  takeTurn,
} from '../database/sqlite-connection.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import { factPlace } from '../database/sqlite-schema.ts'
import { storedFact } from '../streams/stream-state.ts'

const VERSION = 1

/** Fact ids hold their time, and time is ordered: they are found without an index. */
const FIELDS: readonly IndexedField[] = INDEXED_FIELDS.filter((field) => field !== 'factId')

interface IndexRange {
  readonly from: number
  readonly to: number
  readonly newestFirst: boolean
}

export class FactIndex {
  readonly #file: string
  #open: Opened
  readonly #facts: Statement<string>
  readonly #chain: Statement<Uint8Array>

  /** `ledger` is any connection to the ledger's file; the index only reads there. */
  constructor(file: string, ledger: Database) {
    this.#file = file
    this.#facts = ledger
      .prepare<string>('SELECT fact FROM facts WHERE place >= ? AND place < ? ORDER BY place')
      .pluck()
    this.#chain = ledger.prepare<Uint8Array>('SELECT chain FROM facts WHERE place = ?').pluck()
    this.#open = openIndex(file)
  }

  /**
   * Runs `work` in one read transaction of the index, so that a mark and the terms below it belong
   * together. If the index is damaged, replaces it with an empty one and runs `work` again.
   */
  snapshot<T>(work: () => T): T {
    try {
      this.beginRead()
      return work()
    } catch (error) {
      this.endRead()
      if (!isDamage(error)) throw error
      this.remake()
      this.beginRead()
      return work()
    } finally {
      this.endRead()
    }
  }

  /** From here to `endRead` one state of the index is seen. */
  beginRead(): void {
    takeTurn(() => this.#open.beginRead.run())
  }

  endRead(): void {
    if (this.#open.database.inTransaction) this.#open.rollback.run()
  }

  /** All facts of the stream before this are in the index. */
  markOf(stream: number): number {
    const row = this.#open.mark.get(stream)
    if (row === undefined) return 0
    const chain = this.#chainAt(stream, row.size - 1)
    // The index of another history counts for nothing: the ledger was put back, or the file moved.
    return chain !== undefined && Buffer.compare(chain, row.chain) === 0 ? row.size : 0
  }

  /** Facts in the range that have this term, in order. Complete only below the mark. */
  find(
    stream: number,
    field: IndexedField,
    value: string,
    { from, to, newestFirst }: IndexRange,
    limit: number,
  ): readonly number[] {
    const statement = newestFirst ? this.#open.descending : this.#open.ascending
    return statement.all(stream, FIELDS.indexOf(field), value, from, to, limit)
  }

  /** Follows the ledger by at most `limit` facts of a stream; tells where the mark is then. */
  follow(stream: number, size: number, limit: number): number {
    try {
      return this.#follow(stream, size, limit)
    } catch (error) {
      // Another process updates the index, or the disk is full: the tail stays longer, no more.
      if (isBusy(error) || isFull(error) || isBusyFailure(error)) return 0
      if (!isDamage(error)) throw error
      this.remake()
      return 0
    }
  }

  /** Reads what it would take over, and takes over nothing. */
  look(stream: number, from: number, to: number): void {
    this.#rowsOf(stream, from, to)
  }

  close(): void {
    this.#open.database.close()
  }

  #follow(stream: number, size: number, limit: number): number {
    const { begin, commit, rollback, add, setMark, forget, database } = this.#open
    takeTurn(() => begin.run(), INDEX_WAIT_MS_MAX)
    try {
      const from = this.markOf(stream)
      const to = Math.min(size, from + limit)
      if (to <= from) return from
      if (from === 0) forget.run(stream)
      for (const row of this.#rowsOf(stream, from, to)) add.run(...row)
      setMark.run(stream, to, this.#chainAt(stream, to - 1))
      commit.run()
      return to
    } finally {
      if (database.inTransaction) rollback.run()
    }
  }

  #chainAt(stream: number, seq: number): Uint8Array | undefined {
    return this.#chain.get(factPlace(stream, seq))
  }

  /** Sorted, so that neighbours in the index are written together. */
  #rowsOf(stream: number, from: number, to: number): readonly IndexRow[] {
    const texts = this.#facts.all(factPlace(stream, from), factPlace(stream, to))
    if (texts.length !== to - from) throw faultError('ledger.tampered', '', 'facts are missing')
    const rows: IndexRow[] = []
    texts.forEach((text, offset) => {
      const terms = indexTerms(storedFact(text, `stream ${stream}`, from + offset))
      FIELDS.forEach((field, code) => {
        const value = terms[field]
        if (value !== undefined) rows.push([stream, code, value, from + offset])
      })
    })
    return rows.sort((a, b) => a[1] - b[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : a[3] - b[3]))
  }

  /** Deletes the index and opens an empty one. */
  remake(): void {
    this.#open.database.close()
    removeIndex(this.#file)
    this.#open = openIndex(this.#file)
  }
}

function isBusyFailure(error: unknown): boolean {
  return faultCode(error) === 'ledger.busy'
}

type IndexRow = readonly [stream: number, field: number, value: string, seq: number]

interface MarkRow {
  readonly size: number
  readonly chain: Uint8Array
}

const INDEX_WAIT_MS_MAX = 2_000

type Opened = ReturnType<typeof prepareStatements>

function openIndex(file: string): Opened {
  try {
    makePrivate(file)
    return openCurrent(file)
  } catch (error) {
    // Without room or right for a file the index is made in memory, as far as it is needed.
    if (isFull(error) || isReadOnly(error)) return openCurrent(':memory:')
    if (!isDamage(error)) throw error
    removeIndex(file)
    makePrivate(file)
    return openCurrent(file)
  }
}

/**
 * Leaves the index to its owner, as the ledger is: SQLite gives the mode to the files that it adds. An
 * index that is there is not opened here, because closing it would end the locks of this process.
 */
function makePrivate(file: string): void {
  try {
    for (const suffix of ['', '-wal', '-shm']) {
      const found = lstatSync(`${file}${suffix}`, { throwIfNoEntry: false })
      if (found?.isFile() === true && (found.mode & 0o077) !== 0)
        chmodSync(`${file}${suffix}`, 0o600)
    }
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    // Where there is no room or right for it, SQLite says so.
    if (errnoOf(error) === null) throw error
  }
}

function openCurrent(file: string): Opened {
  const database = openDatabase({ file, mode: 'create', synchronous: 'NORMAL' })
  try {
    const version = (): unknown => database.pragma('user_version', { simple: true })
    if (version() !== VERSION) {
      takeTurn(() => database.exec('BEGIN IMMEDIATE'))
      if (version() !== VERSION) createIndex(database)
      database.exec('COMMIT')
    }
    return prepareStatements(database)
  } catch (error) {
    database.close()
    throw error
  }
}

function createIndex(database: Database): void {
  database.exec(`
    DROP TABLE IF EXISTS terms;
    DROP TABLE IF EXISTS marks;
    CREATE TABLE terms (stream INTEGER, field INTEGER, value TEXT, seq INTEGER,
      PRIMARY KEY (stream, field, value, seq)) STRICT, WITHOUT ROWID;
    CREATE TABLE marks (stream INTEGER PRIMARY KEY, size INTEGER NOT NULL, chain BLOB NOT NULL) STRICT;
    PRAGMA user_version = ${VERSION};
  `)
}

function removeIndex(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}

function prepareStatements(database: Database) {
  const prepare = <Row>(sql: string): Statement<Row> => database.prepare(sql)
  const term = 'SELECT seq FROM terms WHERE stream = ? AND field = ? AND value = ?'
  const range = 'AND seq >= ? AND seq < ? ORDER BY seq'
  return {
    database,
    begin: prepare('BEGIN IMMEDIATE'),
    beginRead: prepare('BEGIN'),
    commit: prepare('COMMIT'),
    rollback: prepare('ROLLBACK'),
    mark: prepare<MarkRow>('SELECT size, chain FROM marks WHERE stream = ?'),
    setMark: prepare('INSERT OR REPLACE INTO marks (stream, size, chain) VALUES (?, ?, ?)'),
    add: prepare('INSERT OR IGNORE INTO terms (stream, field, value, seq) VALUES (?, ?, ?, ?)'),
    forget: prepare('DELETE FROM terms WHERE stream = ?'),
    ascending: prepare<number>(`${term} ${range} LIMIT ?`).pluck(),
    descending: prepare<number>(`${term} ${range} DESC LIMIT ?`).pluck(),
  }
}
