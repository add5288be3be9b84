/**
 * Bodies of a home in PostgreSQL, so that every machine has them. A body lies in pieces, because one
 * row of many megabytes is sent and held whole.
 *
 * PROMISE (durable): `put` resolves after its commit, which the server has synced.
 * PROMISE (true): `get` gives the bytes that the name promises, or a failure; never others.
 */
import type { ClientBase } from 'pg'
import { type Digest, digestBytes, invariant, isDigest } from '../../base/index.ts'
import type { StoredObject } from '../../ledger/index.ts'
import { altered, FileObjects, missing, type ObjectStore } from '../objects/objects.ts'
import { connectionIn, damageOf } from './postgres-connection.ts'
import { prepared } from './prepared.ts'
import { RecentBodies } from './recent-bodies.ts'

const PIECE_BYTES = 1 << 20
const SMALL_BYTES = 64 * 1024

type Queries = Pick<ClientBase, 'query'>

export class PostgresObjects implements ObjectStore {
  readonly #queries: Queries
  readonly #schema: string
  readonly #scratch: string
  readonly #recent = new RecentBodies()

  /** Bodies that are made piece by piece lie in `scratch` until they are whole. */
  constructor(queries: Queries, schema: string, scratch: string) {
    this.#queries = queries
    this.#schema = schema
    this.#scratch = scratch
  }

  async put({ digest, bytes }: StoredObject): Promise<void> {
    invariant(digestBytes(bytes) === digest, 'an object is named by its contents')
    // To send a small body again costs less than to ask for it. The server is asked, not the memory of this
    // process: another one may have dropped the body, and a fact is about to name it.
    if (bytes.length > SMALL_BYTES && (await this.size(digest)) !== null) return
    const pieces = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES))
    for (let piece = 0; piece < pieces; piece++) {
      const part = bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
      await this.#rows(`SELECT ${this.#schema}.put_body($1, $2, $3, $4)`, [
        digest,
        piece,
        pieces,
        Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      ])
    }
    this.#recent.note(digest, bytes)
  }

  async putPieces(pieces: Iterable<Uint8Array>): Promise<Digest> {
    const files = new FileObjects(this.#scratch)
    const digest = await files.putPieces(pieces)
    try {
      await this.put({ digest, bytes: await files.get(digest) })
      return digest
    } finally {
      await files.drop(digest)
    }
  }

  async lines(digest: Digest): Promise<Iterable<string>> {
    const text = new TextDecoder().decode(await this.get(digest))
    return text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  }

  async get(digest: Digest): Promise<Uint8Array> {
    invariant(isDigest(digest), 'a body is named by a digest')
    const recent = this.#recent.get(digest)
    if (recent !== null) return recent
    const rows = await this.#rows<{ pieces: number; bytes: Buffer }>(
      `SELECT pieces, bytes FROM ${this.#schema}.bodies WHERE digest = $1 ORDER BY piece`,
      [digest],
    )
    if (rows[0] === undefined || rows.length !== rows[0].pieces) throw missing(digest)
    const bytes = Buffer.concat(rows.map((row) => row.bytes))
    if (digestBytes(bytes) !== digest) throw altered(digest)
    this.#recent.note(digest, bytes)
    return bytes
  }

  async has(digest: Digest): Promise<boolean> {
    if (this.#recent.has(digest)) return true
    const isThere = (await this.size(digest)) !== null
    if (isThere) this.#recent.note(digest, null)
    return isThere
  }

  async size(digest: Digest): Promise<number | null> {
    const [row] = await this.#rows<{ bytes: number | null; whole: boolean | null }>(
      `SELECT sum(octet_length(bytes))::float8 AS bytes, count(*) = max(pieces) AS whole
        FROM ${this.#schema}.bodies WHERE digest = $1`,
      [digest],
    )
    return row?.whole === true ? row.bytes : null
  }

  async drop(digest: Digest): Promise<boolean> {
    this.#recent.drop(digest)
    const [row] = await this.#rows<{ dropped: boolean }>(
      `SELECT ${this.#schema}.drop_body($1) AS dropped`,
      [digest],
    )
    return row?.dropped === true
  }

  async #rows<T extends object>(sql: string, values: unknown[]): Promise<readonly T[]> {
    try {
      return (await this.#queries.query<T>(prepared(sql, values))).rows
    } catch (error) {
      throw damageOf(error, this.#schema, connectionIn(this.#queries))
    }
  }
}
