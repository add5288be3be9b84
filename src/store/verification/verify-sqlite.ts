/** The rows of a ledger in SQLite, for verification: one connection, one snapshot. */
import { join } from 'node:path'
import { FaultError, fault, invariant } from '../../base/index.ts'
import type { Fact, StreamVerification } from '../../ledger/index.ts'
import type { Database } from '../database/sqlite-driver.ts'
import { factPlace, seqOf, tilePlace } from '../database/sqlite-schema.ts'
import { openLedgerDatabase } from '../sqlite/engine.ts'
import { checkFile, checkStrays, readStreams } from './verify-file.ts'
import { SqliteIndexCheck } from './verify-index.ts'
import { FactPages } from './verify-pages.ts'
import type { FactRow, LedgerRows, Named, NoteRow, Say, StreamRow, TileRow } from './verify-rows.ts'

/** Bytes that are no UTF-8 are read as this, which a fact may hold by right. */
const REPLACEMENT = '\ufffd'

export class SqliteRows implements LedgerRows {
  readonly #file: string
  readonly #database: Database
  readonly #pages: FactPages
  readonly notesAlways = false
  #indexCheck: SqliteIndexCheck | null = null

  constructor(directory: string) {
    this.#file = join(directory, 'ledger.db')
    this.#database = openLedgerDatabase(this.#file, 'read')
    this.#database.exec('BEGIN')
    this.#pages = new FactPages(this.#database)
  }

  async checkPlace(say: Say): Promise<void> {
    checkFile(this.#database, say)
  }

  async streams(say: Say): Promise<readonly StreamRow[]> {
    return readStreams(this.#database, say)
  }

  async head({ stream }: StreamRow): Promise<NoteRow | null> {
    const heads = this.#database.prepare<NoteRow>('SELECT size, note FROM heads WHERE stream = ?')
    return heads.get(stream) ?? null
  }

  async kept({ stream }: StreamRow): Promise<readonly NoteRow[]> {
    const rows = this.#database
      .prepare<{ place: number; note: string }>(
        'SELECT place, note FROM checkpoints WHERE place >= ? AND place < ? ORDER BY place',
      )
      .all(factPlace(stream, 0), factPlace(stream + 1, 0))
    return rows.map(({ place, note }) => ({ size: seqOf(place), note }))
  }

  async facts(row: StreamRow, from: number, say: Say): Promise<readonly FactRow[]> {
    const rows = this.#pages.rows(row, from)
    for (const [seq, text, chain] of rows) {
      if (typeof text !== 'string' || typeof chain !== 'string') throw unreadableFact(row, seq)
      if (text.includes(REPLACEMENT)) this.#checkText(row, seq, text, say)
    }
    return rows
  }

  #checkText({ stream, name }: StreamRow, seq: number, text: string, say: Say): void {
    const bytes = this.#database
      .prepare<Uint8Array>('SELECT CAST(fact AS BLOB) FROM facts WHERE place = ?')
      .pluck()
      .get(factPlace(stream, seq))
    invariant(bytes !== undefined, 'the fact was read in this snapshot')
    if (Buffer.from(text).equals(bytes)) return
    say({ code: 'fact.malformed', message: 'the fact is not UTF-8' }, name, seq)
  }

  takeBlock(
    row: StreamRow,
    verification: StreamVerification,
    from: number,
    isRead: boolean,
  ): readonly Named[] | null {
    return this.#pages.takeBlock(row, verification, from, isRead)
  }

  async tile({ stream }: StreamRow, level: number, index: number): Promise<TileRow | null> {
    const row = this.#database
      .prepare<TileRow>('SELECT hashes, nodes FROM tiles WHERE place = ?')
      .get(tilePlace(stream, level, index))
    return row ?? null
  }

  async count(table: 'facts' | 'tiles', { stream }: StreamRow): Promise<number> {
    const count = this.#database
      .prepare<number>(`SELECT count(*) FROM ${table} WHERE place >= ? AND place < ?`)
      .pluck()
      .get(factPlace(stream, 0), factPlace(stream + 1, 0))
    invariant(count !== undefined, 'an aggregate has one row')
    return count
  }

  async checkStrays(rows: readonly StreamRow[], say: Say): Promise<void> {
    checkStrays(this.#database, rows, say)
  }

  note(row: StreamRow, fact: Fact): void {
    this.#indexCheck ??= new SqliteIndexCheck(this.#database, this.#file)
    this.#indexCheck.note(row, fact)
  }

  async checkIndex(rows: readonly StreamRow[], say: Say): Promise<void> {
    this.#indexCheck?.check(rows, say)
  }

  async *marked(mark: string): AsyncIterable<string> {
    yield* this.#database
      .prepare<string>('SELECT fact FROM facts WHERE instr(fact, ?) > 0')
      .pluck()
      .iterate(mark)
  }

  async close(): Promise<void> {
    this.#indexCheck?.close()
    this.#database.close()
  }
}

/** A row that SQLite reads as something else: its pages are damaged. */
function unreadableFact({ name }: StreamRow, seq: number): FaultError {
  const reason = `the fact ${name}/${seq} cannot be read`
  return new FaultError(fault('ledger.corrupt', `${name}/${seq}`, { reason }), { cause: reason })
}
