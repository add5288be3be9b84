/**
 * Bodies and small files of a home in PostgreSQL, so that every machine has them. A body lies in
 * pieces, because one row of many megabytes is sent and held whole.
 *
 * PROMISE (durable): `put` resolves after its commit, which the server has synced.
 * PROMISE (true): `get` gives the bytes that the name promises, or a failure; never others.
 */
import type { ClientBase } from 'pg'
import { type Digest, digestBytes, invariant, isDigest } from '../../base/index.ts'
import type { StoredObject } from '../../ledger/index.ts'
import { altered, FileObjects, missing, type ObjectStore } from '../objects/objects.ts'
import { damageOf } from './postgres-connection.ts'
import { prepared } from './prepared.ts'

const PIECE_BYTES = 1 << 20

type Queries = Pick<ClientBase, 'query'>

export class PostgresObjects implements ObjectStore {
  readonly #queries: Queries
  readonly #schema: string
  readonly #scratch: string

  /** Bodies that are made piece by piece lie in `scratch` until they are whole. */
  constructor(queries: Queries, schema: string, scratch: string) {
    this.#queries = queries
    this.#schema = schema
    this.#scratch = scratch
  }

  async put({ digest, bytes }: StoredObject): Promise<void> {
    invariant(digestBytes(bytes) === digest, 'an object is named by its contents')
    if (await this.has(digest)) return
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
    const rows = await this.#rows<{ pieces: number; bytes: Buffer }>(
      `SELECT pieces, bytes FROM ${this.#schema}.bodies WHERE digest = $1 ORDER BY piece`,
      [digest],
    )
    if (rows[0] === undefined || rows.length !== rows[0].pieces) throw missing(digest)
    const bytes = Buffer.concat(rows.map((row) => row.bytes))
    if (digestBytes(bytes) === digest) return bytes
    throw altered(digest)
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.size(digest)) !== null
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
      throw damageOf(error, this.#schema)
    }
  }
}

/** Small files that every machine of a home needs; absent where the home has one machine. */
export class HomeFiles {
  readonly #queries: Queries
  readonly #schema: string

  constructor(queries: Queries, schema: string) {
    this.#queries = queries
    this.#schema = schema
  }

  async get(name: string): Promise<string | null> {
    try {
      const sql = `SELECT content FROM ${this.#schema}.files WHERE name = $1`
      return (await this.#queries.query<{ content: string }>(sql, [name])).rows[0]?.content ?? null
    } catch (error) {
      throw damageOf(error, this.#schema)
    }
  }

  async put(name: string, content: string): Promise<void> {
    try {
      await this.#queries.query(`SELECT ${this.#schema}.put_file($1, $2)`, [name, content])
    } catch (error) {
      throw damageOf(error, this.#schema)
    }
  }
}
