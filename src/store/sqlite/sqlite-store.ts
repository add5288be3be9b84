/**
 * The store on SQLite (L-8): appends through a writer, reads through a connection of its own, or through
 * that of a writer in the same thread, since opening one takes longer than most reads. Readers never
 * wait for writers and see every commit that ended before they began.
 */

import { FaultError, fault, faultError, invariant } from '../../base/index.ts'
import {
  type Appended,
  type FactDraft,
  type NodeId,
  type Page,
  placeOf,
  type Query,
  readNode,
  type SignedHead,
  type Store,
  type StoredFact,
  type StoredTile,
} from '../../ledger/index.ts'
import type { FilesystemType } from '../../machine/index.ts'
import { failureOf, takeTurn } from '../database/sqlite-connection.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import { factPlace, seqOf, tilePlace } from '../database/sqlite-schema.ts'
import { type HeadRow, readHead } from '../streams/heads.ts'
import { checkNotBegun, lostStream } from '../streams/stream-start.ts'
import { lostFact } from '../streams/stream-state.ts'
import { indexFileOf, openLedgerDatabase } from './engine.ts'
import { FactIndex } from './fact-index.ts'
import { FactSearch } from './fact-search.ts'
import type { Writer } from './writer.ts'

/** This many tiles are kept in memory, 16 KiB each at most. */
const TILES_KEPT_MAX = 1024

export class SqliteStore implements Store {
  readonly #file: string
  readonly #writer: Writer
  readonly #database: Database
  #search: { readonly index: FactIndex; readonly facts: FactSearch } | null = null
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #tiles = new Map<number, StoredTile>()
  /** A stream keeps its number for good. */
  readonly #ids = new Map<string, number>()
  #isClosed = false

  constructor(file: string, writer: Writer, filesystemType?: FilesystemType) {
    this.#file = file
    this.#writer = writer
    this.#database = writer.reading?.database ?? openLedgerDatabase(file, 'read', filesystemType)
    this.#sql = prepareStatements(this.#database)
  }

  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    return this.#writer.append(drafts)
  }

  streams(): Promise<readonly string[]> {
    return this.#read(() => this.#sql.streams.all())
  }

  heads(): Promise<readonly SignedHead[]> {
    return this.#read(() => this.#sql.heads.all().map(readHead))
  }

  head(stream: string): Promise<SignedHead | null> {
    return this.#read(() => {
      const row = this.#sql.head.get(stream)
      if (row !== undefined) return readHead(row)
      checkNotBegun(this.#database, stream)
      return null
    })
  }

  read(stream: string, from: number, limit: number): Promise<readonly StoredFact[]> {
    return this.#read(() => {
      const id = this.#idOf(stream)
      // The head is read first: facts only come.
      const checkpoint = id === null ? undefined : this.#sql.size.get(id)
      if (id === null) {
        checkNotBegun(this.#database, stream)
        return []
      }
      if (checkpoint === undefined) throw lostStream(stream)
      const rows = this.#sql.facts.all(factPlace(id, from), factPlace(id + 1, 0), limit)
      const facts = rows.map(({ place, fact, chain }, at) => {
        const seq = from + at
        if (seqOf(place) === seq && typeof fact === 'string') return { seq, text: fact, chain }
        throw lostFact(stream, seq)
      })
      const size = from + facts.length
      if (facts.length < limit && size < checkpoint) {
        throw new FaultError(fault('ledger.truncated', stream, { size, checkpoint }))
      }
      return facts
    })
  }

  find(query: Query): Promise<Page> {
    return this.#read(() => {
      const id = this.#idOf(query.stream)
      if (id !== null) return this.#facts().find(id, query)
      checkNotBegun(this.#database, query.stream)
      return { facts: [], next: null }
    })
  }

  nodes(stream: string, nodes: readonly NodeId[]): Promise<readonly Uint8Array[]> {
    return this.#read(() => this.readNodes(stream, nodes))
  }

  /** The same without a promise: proofs in a loop. */
  readNodes(stream: string, nodes: readonly NodeId[]): readonly Uint8Array[] {
    const id = this.#idOf(stream)
    invariant(id !== null, 'nodes are asked of a stream that exists')
    return nodes.map((node) => {
      const hash = this.#readNode(id, node)
      if (hash === null)
        throw faultError('ledger.tampered', stream, 'a node of the tree is missing')
      return hash
    })
  }

  checkpoints(stream: string, fromSize: number, limit: number): Promise<readonly string[]> {
    return this.#read(() => {
      const id = this.#idOf(stream)
      if (id === null) return []
      const to = factPlace(id + 1, 0)
      return this.#sql.checkpoints.all(factPlace(id, fromSize), to, limit)
    })
  }

  reindex(): Promise<void> {
    return this.#read(() => this.#facts().reindex(this.#sql.ids.all()))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    // The writer goes last: the last connection to leave folds the log back into the file.
    if (this.#writer.reading === undefined) {
      this.#search?.index.close()
      this.#database.close()
    }
    await this.#writer.close()
  }

  /** Opens the index at the first search: most processes only read facts in order. */
  #facts(): FactSearch {
    if (this.#search === null) {
      const index =
        this.#writer.reading?.index ?? new FactIndex(indexFileOf(this.#file), this.#database)
      this.#search = { index, facts: new FactSearch(this.#database, index) }
    }
    return this.#search.facts
  }

  #idOf(stream: string): number | null {
    const known = this.#ids.get(stream)
    if (known !== undefined) return known
    const id = this.#sql.id.get(stream)
    if (id === undefined) return null
    this.#ids.set(stream, id)
    return id
  }

  #readNode(stream: number, node: NodeId): Uint8Array | null {
    const place = placeOf(node)
    const key = tilePlace(stream, place.level, place.index)
    const kept = this.#tiles.get(key)
    // Tiles only become longer: what a kept one holds is still true, and what it lacks may be new.
    const hash = kept === undefined ? null : readNode(kept, place)
    if (hash !== null) return hash
    const row = this.#sql.tile.get(key)
    if (row === undefined) return null
    const { level, index } = place
    const tile = { level, index, hashes: plain(row.hashes), inner: plain(row.nodes) }
    this.#keepTile(key, tile)
    return readNode(tile, place)
  }

  #keepTile(key: number, tile: StoredTile): void {
    for (const oldest of this.#tiles.keys()) {
      if (this.#tiles.size < TILES_KEPT_MAX) break
      this.#tiles.delete(oldest)
    }
    this.#tiles.set(key, tile)
  }

  async #read<T>(work: () => T): Promise<T> {
    if (this.#isClosed) throw faultError('ledger.closed', this.#file, 'the ledger was closed')
    try {
      let result: { value: T } | undefined
      // A reader waits only while another process recovers the log after a crash or checkpoints it.
      takeTurn(() => {
        result = { value: work() }
      })
      invariant(result !== undefined, 'a turn that was taken has a result')
      return result.value
    } catch (error) {
      throw failureOf(error, this.#file)
    }
  }
}

/** Cutting a plain array is faster than cutting a Buffer. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

interface FactRow {
  readonly place: number
  readonly fact: string
  readonly chain: Uint8Array
}

function prepareStatements(database: Database) {
  const prepare = <Row>(sql: string): Statement<Row> => database.prepare(sql)
  const range = 'WHERE place >= ? AND place < ? ORDER BY place LIMIT ?'
  return {
    streams: prepare<string>('SELECT name FROM streams ORDER BY name').pluck(),
    size: prepare<number>('SELECT size FROM heads WHERE stream = ?').pluck(),
    ids: prepare<number>('SELECT stream FROM streams').pluck(),
    id: prepare<number>('SELECT stream FROM streams WHERE name = ?').pluck(),
    heads: prepare<HeadRow>(
      'SELECT name, origin, note FROM heads JOIN streams USING (stream) ORDER BY name',
    ),
    head: prepare<HeadRow>(
      'SELECT name, origin, note FROM heads JOIN streams USING (stream) WHERE name = ?',
    ),
    facts: prepare<FactRow>(`SELECT place, fact, chain FROM facts ${range}`),
    tile: prepare<{ hashes: Uint8Array; nodes: Uint8Array }>(
      'SELECT hashes, nodes FROM tiles WHERE place = ?',
    ),
    checkpoints: prepare<string>(`SELECT note FROM checkpoints ${range}`).pluck(),
  }
}
