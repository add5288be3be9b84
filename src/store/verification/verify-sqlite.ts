/**
 * The rows of a ledger in SQLite, for verification: one connection, one snapshot.
 *
 * It also checks the file as a file: its pages, types, guards, which streams it lists, and that no row
 * belongs to nothing.
 */

import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { FaultError, fault, invariant } from '../../base/index.ts'
import {
  type Fact,
  isStreamName,
  ROTATION_MARK,
  type StreamVerification,
} from '../../ledger/index.ts'
import { type FactBlock, FactBlocks } from '../database/fact-block.ts'
import { cutsTexts, type Database, type Statement } from '../database/sqlite-driver.ts'
import { factPlace, schemaDifferences, seqOf, tilePlace } from '../database/sqlite-schema.ts'
import { FileObjects } from '../objects/objects.ts'
import { openLedgerDatabase } from '../sqlite/engine.ts'
import { SqliteIndexCheck } from './verify-index.ts'
import {
  type FactRow,
  hasZero,
  type LedgerRows,
  type Named,
  type NoteRow,
  PAGE,
  type Say,
  type StreamRow,
  stray,
  type TileRow,
} from './verify-rows.ts'

/** Bytes that are no UTF-8 are read as this, which a fact may hold by right. */
const REPLACEMENT = '\ufffd'
/** Ids beyond this make places that are no exact numbers. */
const STREAM_ID_MAX = 2 ** 20

const TEXTS = {
  ...{ 'ledger.name': 'ledger', 'streams.name': 'streams', 'streams.origin': 'streams' },
  ...{ 'facts.fact': 'facts', 'heads.note': 'heads', 'checkpoints.note': 'checkpoints' },
}

export class SqliteRows implements LedgerRows {
  readonly objects: FileObjects
  readonly #file: string
  readonly #database: Database
  readonly #pages: FactPages
  readonly notesAlways = false
  #indexCheck: SqliteIndexCheck | null = null

  constructor(directory: string) {
    this.#file = join(directory, 'ledger.db')
    this.objects = new FileObjects(join(directory, 'objects'))
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

/**
 * The facts of a stream in pages: as blocks of bytes, a thousand at once, or as rows where something
 * about a block is odd and the place has to be found. Texts and hex come out of SQLite in half the time
 * of bytes, blocks in a third.
 */
class FactPages {
  readonly #rows: Statement<FactRow>
  readonly #blocks: FactBlocks

  constructor(database: Database) {
    this.#rows = database
      .prepare<FactRow>(
        'SELECT place - ?, fact, hex(chain) FROM facts WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      )
      .raw()
    this.#blocks = new FactBlocks(database)
  }

  rows({ stream }: StreamRow, from: number): readonly FactRow[] {
    const end = factPlace(stream + 1, 0)
    const start = factPlace(stream, 0)
    return this.#rows.all(start, factPlace(stream, from), end, PAGE)
  }

  /**
   * Takes a page of facts at once; null when it has to be taken row by row: it is not whole, or not
   * UTF-8, or a fact in it looks like a change of keys and none was to be read.
   */
  takeBlock(
    { stream }: StreamRow,
    verification: StreamVerification,
    from: number,
    isRead: boolean,
  ): readonly Named[] | null {
    const block = this.#blocks.read(stream, from, from + PAGE)
    const [first] = block?.entries ?? []
    if (block === null || first === undefined || !block.isWhole || block.entries.length < PAGE) {
      return null
    }
    const length = block.entries.reduce((sum, entry) => sum + entry.length, 0)
    const bytes = Buffer.from(first.buffer, first.byteOffset, length)
    if (isRead) return isUtf8(bytes) ? readAll(block, bytes, verification) : null
    if (bytes.includes(ROTATION_MARK)) return null
    block.entries.forEach((entry, index) => {
      // A whole block has a chain value for each entry.
      verification.takeEntry(entry, block.chains[index] as Uint8Array)
    })
    return []
  }
}

function readAll(
  { from, entries, chains }: FactBlock,
  bytes: Buffer,
  verification: StreamVerification,
): readonly Named[] {
  const named: Named[] = []
  let at = 0
  entries.forEach((entry, index) => {
    // Behind the 0x00 in front.
    const text = bytes.toString('utf8', at + 1, at + entry.length)
    at += entry.length
    // A whole block has a chain value for each entry.
    const references = verification.takeRead(entry, chains[index] as Uint8Array, text)
    if (references.length > 0) named.push({ seq: from + index, references })
  })
  return named
}

/** Pages, types and guards, and that there is one ledger in the file. */
function checkFile(database: Database, say: Say): void {
  for (const name of schemaDifferences(database)) {
    const message = `the table, view or guard \`${name}\` is missing, changed or too many`
    say({ code: 'ledger.schema', message })
  }
  // The index over the names of streams is compared with its table, everything else page by page.
  for (const pragma of ['quick_check(1)', `integrity_check('streams')`]) {
    const found = database.pragma(pragma, { simple: true })
    if (found !== 'ok') say({ code: 'ledger.corrupt', message: String(found) })
  }
  if (cutsTexts(database)) checkTexts(database, say)
  const ones = database.prepare('SELECT one FROM ledger').pluck().all()
  if (ones.length !== 1 || ones[0] !== 1) say(stray('the file does not name exactly one ledger'))
}

/** No text of a ledger holds a zero byte. What lies behind one is not read here, so SQLite looks. */
function checkTexts(database: Database, say: Say): void {
  for (const [column, table] of Object.entries(TEXTS)) {
    const found = database.prepare(`SELECT 1 FROM ${table} WHERE ${hasZero(column)} LIMIT 1`).get()
    if (found !== undefined) {
      say({ code: 'ledger.tampered', message: `a text of \`${column}\` holds a zero byte` })
    }
  }
}

/** The streams that can be looked at, in the order of their ids. */
function readStreams(database: Database, say: Say): readonly StreamRow[] {
  const rows = database
    .prepare<StreamRow>('SELECT stream, name, origin FROM streams ORDER BY stream')
    .all()
  const ledger = database.prepare('SELECT name FROM ledger').pluck().get()
  return rows.filter(({ stream, name, origin }) => {
    const isSound = stream > 0 && stream <= STREAM_ID_MAX && isStreamName(name)
    if (!isSound) say(stray(`there is a stream of the number ${stream}`))
    if (origin !== `${ledger}/${name}`) say(stray(`${name} has an origin of its own`))
    return isSound
  })
}

/** Rows that are of none of the streams. */
function checkStrays(database: Database, rows: readonly StreamRow[], say: Say): void {
  const ids = rows.map(({ stream }) => stream)
  const starts = ids.map((id) => factPlace(id, 0))
  const ends = ids.map((id) => factPlace(id + 1, 0))
  for (const table of ['facts', 'tiles', 'checkpoints']) {
    const within = database
      .prepare(`SELECT 1 FROM ${table} WHERE place >= ? AND place < ? LIMIT 1`)
      .pluck()
    const gaps = [-Infinity, ...ends].map((from, at) => [from, starts[at] ?? Infinity])
    if (gaps.some(([from, to]) => within.get(from, to) !== undefined)) {
      say(stray(`there are rows in ${table} that are of no stream`))
    }
  }
  const heads = database.prepare<number>('SELECT stream FROM heads').pluck().all()
  if (heads.some((id) => !ids.includes(id))) say(stray('there is a head of no stream'))
}
