/**
 * The store on PostgreSQL (L-8): for ledgers that more than one machine writes to. The promises above
 * `Store` hold over all hosts; where each is kept is said in postgres-writer.ts and -schema.ts.
 *
 * Readers and writers have connections of their own: a read never waits for a turn.
 */
import type { Pool } from 'pg'
import { FaultError, fault, faultError } from '../../base/index.ts'
import {
  type Appended,
  type FactDraft,
  type NodeId,
  type Page,
  placeOf,
  type Query,
  type SignedHead,
  type Store,
  type StoredFact,
} from '../../ledger/index.ts'
import { WAIT_MS_MAX } from '../database/sqlite-connection.ts'
import type { KeyRing, LedgerKey } from '../keys/ed25519.ts'
import type { MachineKeys } from '../keys/machine-keys.ts'
import { type HeadRow, readHead } from '../streams/heads.ts'
import { type MarkKeys, markKeysOf, publicMarkKeys } from './index-mark.ts'
import { PageReader } from './page-reader.ts'
import {
  checkLedger,
  checkNotBegunAt,
  connectionIn,
  damageOf,
  openPool,
  type PostgresPlace,
  postgresFailure,
  readLedgerName,
  release,
} from './postgres-connection.ts'
import { PostgresIndex } from './postgres-index.ts'
import { keyFactsIn } from './postgres-keys.ts'
import { PostgresObjects } from './postgres-objects.ts'
import { checkName } from './postgres-schema.ts'
import { type OnPostgresStep, PostgresWriter } from './postgres-writer.ts'
import { prepared } from './prepared.ts'

export interface PostgresStoreOptions extends PostgresPlace {
  readonly keys: KeyRing
  /** Who marks of the query index are believed from; those that have the keys when absent. */
  readonly markKeys?: MarkKeys
  readonly nowMs?: () => number
  readonly onStep?: OnPostgresStep
  readonly waitMsMax?: number
  /** How long a sequencer may sleep inside its turn before the server gives the turn to others. */
  readonly stallMsMax?: number
  /** Whether this store brings the query index on; hosts that only append leave it to others. */
  readonly isIndexing?: boolean
}

interface SizedRow extends HeadRow {
  readonly size: number
}

/** Returns a head. Fails if its checkpoint is not over as many facts as were appended. */
function wholeHead(row: SizedRow): SignedHead {
  const head = readHead(row)
  if (head.size === row.size) return head
  const message = `the newest checkpoint of \`${row.name}\` counts ${head.size} facts, and ${row.size} were appended`
  throw faultError('ledger.tampered', row.name, message, '`writ ledger verify` says more')
}

const STALL_MS_MAX = 5_000
const READERS_MAX = 4
/** Turns of different streams that run at one time. */
const TURNS_MAX = 4
/** The index follows so long after an append; what comes meanwhile is taken along. */
const FOLLOW_MS = 300

/** Opens a ledger; refuses one whose guards are gone, and a server that does not sync. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { schema, waitMsMax = WAIT_MS_MAX, stallMsMax = STALL_MS_MAX } = options
  checkName(schema)
  const limits = { waitMsMax, stallMsMax }
  const readers = await openPool(options, { ...limits, connectionsMax: READERS_MAX })
  const turns = await openPool(options, { ...limits, connectionsMax: TURNS_MAX })
  try {
    const name = await nameOf(readers, schema)
    return new PostgresStore(readers, turns, name, options)
  } catch (error) {
    await Promise.all([readers.end(), turns.end()])
    throw postgresFailure(error, schema, options.connection)
  }
}

/**
 * Opens a ledger for reading only. It needs no key, and opens what a writer would refuse: a tampered
 * one is there to be looked at. With the directory of its keys it reads less: the query index counts
 * only as far as one of them signed.
 */
export async function openPostgresReader(
  place: PostgresPlace,
  keysDirectory: string | null = null,
): Promise<PostgresStore> {
  const { schema } = place
  const limits = { waitMsMax: WAIT_MS_MAX, stallMsMax: STALL_MS_MAX }
  const readers = await openPool(place, { ...limits, connectionsMax: READERS_MAX })
  const turns = await openPool(place, { ...limits, connectionsMax: 1 })
  try {
    const name = await readLedgerName(readers, schema)
    const markKeys = publicMarkKeys(keysDirectory)
    const options = { ...place, keys: NO_KEYS, markKeys, isIndexing: false }
    return new PostgresStore(readers, turns, name, options)
  } catch (error) {
    await Promise.all([readers.end(), turns.end()])
    throw damageOf(error, schema, place.connection)
  }
}

/** Of a reader: an append ends here. */
const NO_KEYS: KeyRing = {
  find: () => null,
  current() {
    const reason = 'the ledger was opened for reading only'
    throw new FaultError(fault('ledger.unreachable', '', { reason }))
  },
}

async function nameOf(pool: Pool, schema: string): Promise<string> {
  const client = await pool.connect()
  try {
    return await checkLedger(client, schema)
  } finally {
    release(client, 'sound')
  }
}

export class PostgresStore implements Store {
  readonly #schema: string
  readonly #readers: Pool
  readonly #turns: Pool
  readonly #writer: PostgresWriter
  readonly #index: PostgresIndex
  readonly #pages: PageReader
  /** Streams that this store has made longer than the index. */
  readonly #behind = new Set<string>()
  #follower: NodeJS.Timeout | null = null
  #following: Promise<void> = Promise.resolve()
  #closing: Promise<void> | null = null

  /** Use `openPostgresStore`. */
  constructor(readers: Pool, turns: Pool, name: string, options: PostgresStoreOptions) {
    const { schema, keys, waitMsMax = WAIT_MS_MAX, isIndexing = true, nowMs, onStep } = options
    this.#schema = schema
    this.#readers = readers
    this.#turns = turns
    this.#pages = new PageReader(readers, schema)
    this.#index = new PostgresIndex(readers, schema, options.markKeys ?? markKeysOf(keys))
    this.#writer = new PostgresWriter({
      pool: turns,
      schema,
      name,
      keys,
      waitMsMax,
      ...(nowMs === undefined ? {} : { nowMs }),
      ...(onStep === undefined ? {} : { onStep }),
      ...(isIndexing ? { onGrown: (stream: string) => this.#noteGrown(stream) } : {}),
    })
  }

  /** The bodies of the home; those that are made piece by piece lie in `scratch` meanwhile. */
  objects(scratch: string): PostgresObjects {
    return new PostgresObjects(this.#readers, this.#schema, scratch)
  }

  /** Asks the server something that is no matter of the ledger, such as its jobs. */
  get queries(): Pick<Pool, 'query'> {
    return this.#readers
  }

  /** Takes in what facts say about the keys of machines. */
  refresh(keys: MachineKeys): Promise<void> {
    return this.#read(() => keys.refresh(keyFactsIn(this.#readers, this.#schema)))
  }

  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    return this.#writer.append(drafts)
  }

  /** One draft for each stream, each with the size it expects; from then on this key signs, or the same. */
  rotate(drafts: readonly FactDraft[], key: LedgerKey | 'same'): Promise<readonly Appended[]> {
    return this.#writer.rotate(drafts, key)
  }

  async streams(): Promise<readonly string[]> {
    const rows = await this.#rows<{ name: string }>(
      `SELECT name FROM ${this.#schema}.streams ORDER BY name`,
      [],
    )
    return rows.map(({ name }) => name)
  }

  async heads(): Promise<readonly SignedHead[]> {
    // A newer writ may have changed the tables since they were opened.
    await this.#read(() => readLedgerName(this.#readers, this.#schema))
    return (await this.#headRows('', [])).map(wholeHead)
  }

  async head(stream: string): Promise<SignedHead | null> {
    const [row] = await this.#headRows('WHERE name = $1', [stream])
    if (row !== undefined) return wholeHead(row)
    await this.#read(() => checkNotBegunAt(this.#readers, this.#schema, stream))
    return null
  }

  #headRows(where: string, values: unknown[]): Promise<readonly SizedRow[]> {
    return this.#rows<SizedRow>(
      `SELECT name, origin, note, size::float8 AS size FROM ${this.#schema}.streams JOIN ${this.#schema}.heads USING (stream)
        ${where} ORDER BY name`,
      values,
    )
  }

  read(stream: string, from: number, limit: number): Promise<readonly StoredFact[]> {
    return this.#read(() => this.#pages.read(stream, from, limit))
  }

  find(query: Query): Promise<Page> {
    return this.#read(() => this.#index.find(query))
  }

  async nodes(stream: string, nodes: readonly NodeId[]): Promise<readonly Uint8Array[]> {
    const places = nodes.map(placeOf)
    const rows = await this.#rows<{ hash: Buffer | null }>(
      `SELECT substring(CASE part WHEN 'hashes' THEN whole.hashes ELSE whole.nodes END
          FROM place + 1 FOR 32) AS hash
        FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::integer[]) WITH ORDINALITY
            AS asked (level, tile, part, place, at)
          LEFT JOIN LATERAL (SELECT string_agg(hashes, '' ORDER BY start) AS hashes,
              string_agg(nodes, '' ORDER BY start) AS nodes
            FROM ${this.#schema}.tiles
            WHERE stream = (SELECT stream FROM ${this.#schema}.streams WHERE name = $1)
              AND level = asked.level AND tile = asked.tile) AS whole ON true
        ORDER BY at`,
      [
        stream,
        places.map(({ level }) => level),
        places.map(({ index }) => index),
        places.map(({ part }) => part),
        places.map(({ offset }) => offset),
      ],
    )
    return rows.map(({ hash }) => {
      if (hash?.length === 32) return hash
      throw faultError('ledger.tampered', stream, 'a node of the tree is missing')
    })
  }

  async checkpoints(stream: string, fromSize: number, limit: number): Promise<readonly string[]> {
    const rows = await this.#rows<{ note: string }>(
      `SELECT note FROM ${this.#schema}.checkpoints
        WHERE stream = (SELECT stream FROM ${this.#schema}.streams WHERE name = $1) AND size >= $2
        ORDER BY size LIMIT $3`,
      [stream, fromSize, limit],
    )
    return rows.map(({ note }) => note)
  }

  async reindex(): Promise<void> {
    for (const stream of await this.streams()) await this.#read(() => this.#index.remake(stream))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#writer.close()
    if (this.#follower !== null) clearTimeout(this.#follower)
    this.#followUp()
    await this.#following
    await Promise.all([this.#readers.end(), this.#turns.end()])
  }

  #noteGrown(stream: string): void {
    this.#behind.add(stream)
    if (this.#closing !== null) return
    this.#follower ??= setTimeout(() => this.#followUp(), FOLLOW_MS)
    // A program may end while the index is behind.
    this.#follower.unref()
  }

  #followUp(): void {
    this.#follower = null
    this.#following = this.#following.then(async () => {
      // Streams that grow meanwhile wait for the next time.
      const streams = [...this.#behind]
      this.#behind.clear()
      for (const stream of streams) {
        try {
          while (await this.#index.follow(stream));
        } catch {
          // The index is a convenience: the tail is longer, and nothing else is wrong.
          return
        }
      }
    })
  }

  #rows<T extends object>(sql: string, values: unknown[]): Promise<readonly T[]> {
    return this.#read(async () => (await this.#readers.query<T>(prepared(sql, values))).rows)
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw faultError('ledger.closed', this.#schema)
    try {
      return await work()
    } catch (error) {
      throw damageOf(error, this.#schema, connectionIn(this.#readers))
    }
  }
}
