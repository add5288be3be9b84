/**
 * One turn of a sequencer in PostgreSQL: reads the heads of its streams under their locks, gives every
 * draft its place by the same code as SQLite, and writes facts, keys, tiles and a signed checkpoint
 * for each stream with one statement. The caller begins and commits.
 */
import type { PoolClient } from 'pg'
import { fault, HASH_BYTES } from '../../base/index.ts'
import {
  type Appended,
  type Draft,
  factLeaf,
  HOST_STREAM,
  openTiles,
  type StoredTile,
  StoreFailure,
  TILE_WIDTH,
} from '../../ledger/index.ts'
import type { LedgerKey } from './ed25519.ts'
import type { FactIds } from './fact-id.ts'
import type { KeyRing } from './key-ring.ts'
import type { Answer, Call } from './ledger-file.ts'
import {
  newStream,
  type StreamState,
  sealNext,
  signEnd,
  signingKey,
  stateOf,
} from './stream-state.ts'

/** A stream's end as this writer left it, good while the head says the same. */
export interface SettledState {
  readonly state: StreamState
  readonly epoch: number
}

export interface PostgresTurnOptions {
  readonly schema: string
  readonly name: string
  readonly keys: KeyRing
  readonly nowMs: () => number
  /** Who the sequencer is, over all hosts. */
  readonly holder: string
  readonly ids: FactIds
  readonly streams: readonly string[]
  readonly known: {
    readonly states: Map<string, SettledState>
    readonly trusted: ReadonlySet<string>
  }
}

/** In place of the number of a stream that comes to be. */
export const NEW_STREAM = 0

/** The lock of streams that do not exist yet. */
const STREAMS_TO_COME = ''

interface HeadRow {
  readonly name: string
  readonly stream: number
  readonly origin: string
  readonly size: number | null
  readonly epoch: number | null
  readonly holder: string | null
  readonly note: string | null
}

/** A stream in this turn. */
interface Growing {
  readonly state: StreamState
  /** The epoch that the fence has to find. */
  readonly seenEpoch: number
  readonly nextEpoch: number
  readonly texts: string[]
  readonly chains: Uint8Array[]
  readonly usedKeys: string[]
  readonly keys: Map<string, Omit<Appended, 'size' | 'repeated'>>
  rotateTo?: LedgerKey
}

interface Pending extends Omit<Appended, 'size'> {
  readonly growing: Growing
}

export class PostgresTurn {
  readonly #options: PostgresTurnOptions
  readonly #growing = new Map<string, Growing>()
  readonly #results: (readonly Pending[] | StoreFailure)[] = []
  /** Why a stream cannot be appended to. */
  readonly #refused = new Map<string, StoreFailure>()
  #missed: StoreFailure | null = null
  /** What signs a stream that comes to be in this turn. */
  #newKey: LedgerKey | null = null

  constructor(options: PostgresTurnOptions) {
    this.#options = options
  }

  /** Nothing is to be written. */
  get isEmpty(): boolean {
    return this.#written().length === 0
  }

  /** Takes the locks, loads what is needed and places every draft. */
  async prepare(client: PoolClient, calls: readonly Call[]): Promise<void> {
    const heads = await this.#takeTurn(
      client,
      calls.some(({ rotateTo }) => rotateTo !== undefined),
    )
    for (const name of this.#options.streams) {
      try {
        this.#growing.set(name, await this.#load(client, name, heads.get(name)))
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        this.#refused.set(name, error)
      }
    }
    await this.#loadKeys(client, calls)
    for (const call of calls) this.#results.push(this.#place(call))
  }

  /** Writes everything with one statement: one round trip, one order of locks. */
  async write(client: PoolClient): Promise<void> {
    const calls: string[] = []
    const values: unknown[] = []
    for (const growing of this.#written()) {
      const given = this.#valuesOf(growing)
      const places = given.map((_, index) => `$${values.length + index + 1}`)
      calls.push(`${this.#options.schema}.append(${places.join(', ')})`)
      values.push(...given)
    }
    await client.query(`SELECT ${calls.join(', ')}`, values)
  }

  /** Whether the facts of this turn are in the ledger, asked after the commit fell into doubt. */
  async isRecorded(client: PoolClient): Promise<boolean> {
    const { schema, streams } = this.#options
    const [first] = this.#written()
    if (first === undefined) return true
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query(`SELECT FROM ${schema}.take_turn($1)`, [streams])
    const { rows } = await client.query<{ fact: string }>(
      `SELECT fact FROM ${schema}.facts JOIN ${schema}.streams USING (stream)
        WHERE name = $1 AND seq = $2`,
      [first.state.name, first.state.storedSize],
    )
    await client.query('ROLLBACK')
    return rows[0]?.fact === first.texts[0]
  }

  /** After the commit: the streams that grew, as they are now. */
  settle(): readonly SettledState[] {
    return this.#written().map(({ state, rotateTo, nextEpoch }) => {
      state.storedSize = state.growth.size
      state.key = rotateTo ?? state.key
      return { state, epoch: nextEpoch }
    })
  }

  answers(): readonly Answer[] {
    return this.#results.map((result) =>
      result instanceof StoreFailure
        ? result
        : result.map(({ growing, ...rest }) => ({ ...rest, size: growing.state.growth.size })),
    )
  }

  /** By name: every writer locks rows in the same order. */
  #written(): readonly Growing[] {
    return [...this.#growing.values()].filter(({ texts }) => texts.length > 0)
  }

  async #takeTurn(client: PoolClient, isRotation: boolean): Promise<ReadonlyMap<string, HeadRow>> {
    const { schema, streams, known } = this.#options
    const isNew = streams.some((name) => !known.trusted.has(name))
    const locks = isNew || isRotation ? [STREAMS_TO_COME, ...streams] : streams
    const { rows } = await client.query<HeadRow>(`SELECT * FROM ${schema}.take_turn($1)`, [locks])
    const heads = new Map(rows.map((row) => [row.name, row]))
    if (streams.some((name) => !heads.has(name))) this.#newKey = await this.#hostKey(client)
    if (isRotation) this.#missed = await this.#missedStream(client)
    return heads
  }

  /** A new stream is signed by the key of the host's stream, which a rotation may have turned. */
  async #hostKey(client: PoolClient): Promise<LedgerKey> {
    const { schema, keys } = this.#options
    const { rows } = await client.query<{ origin: string; note: string }>(
      `SELECT origin, note FROM ${schema}.streams JOIN ${schema}.heads USING (stream) WHERE name = $1`,
      [HOST_STREAM],
    )
    const [host] = rows
    return host === undefined
      ? keys.current()
      : signingKey(HOST_STREAM, host.origin, host.note, keys)
  }

  /** A rotation speaks for every stream; one that came to be meanwhile has to be in it. */
  async #missedStream(client: PoolClient): Promise<StoreFailure | null> {
    const { schema, streams } = this.#options
    const { rows } = await client.query<{ name: string; size: number }>(
      `SELECT name, size::float8 AS size FROM ${schema}.streams JOIN ${schema}.heads USING (stream)
        WHERE name <> ALL ($1) ORDER BY name LIMIT 1`,
      [streams],
    )
    return rows[0] === undefined ? null : headMoved(rows[0].name, 0, rows[0].size)
  }

  async #load(client: PoolClient, name: string, row: HeadRow | undefined): Promise<Growing> {
    const { keys, known, holder } = this.#options
    const cached = known.states.get(name)
    // Taken out: if this turn fails, nobody finds a state that is ahead of the ledger.
    known.states.delete(name)
    if (row === undefined) return this.#newStream(name)
    const epoch = row.epoch ?? 0
    const isOurs = row.holder === holder
    const isCurrent = isOurs && cached?.epoch === epoch && cached.state.storedSize === row.size
    const state = isCurrent
      ? cached.state
      : stateOf(await this.#readEnd(client, row), keys, known.trusted.has(name))
    return growingOf(state, epoch, isOurs ? epoch : epoch + 1)
  }

  #newStream(name: string): Growing {
    const key = this.#newKey ?? this.#options.keys.current()
    const origin = `${this.#options.name}/${name}`
    return growingOf(newStream(NEW_STREAM, name, origin, key), 1, 1)
  }

  async #readEnd(client: PoolClient, { stream, name, origin, size, note }: HeadRow) {
    const { schema } = this.#options
    const { rows } = await client.query<{ seq: number; fact: string; chain: Buffer }>(
      `SELECT seq::float8 AS seq, fact, chain FROM ${schema}.facts WHERE stream = $1
        ORDER BY facts.seq DESC LIMIT 1`,
      [stream],
    )
    const last = rows[0] ?? null
    const found = last === null ? 0 : last.seq + 1
    const head = size === null || note === null ? null : { size, note }
    const tiles = await this.#readTiles(client, stream, found)
    return { id: stream, name, origin, size: found, head, last, tiles }
  }

  async #readTiles(
    client: PoolClient,
    stream: number,
    size: number,
  ): Promise<readonly StoredTile[]> {
    const open = openTiles(size)
    const { rows } = await client.query<{
      level: number
      tile: number
      hashes: Buffer
      nodes: Buffer
    }>(
      // One look into the primary key for each tile, whatever the planner knows of the table.
      `SELECT open.level, open.tile::float8 AS tile, hashes, nodes
        FROM unnest($2::integer[], $3::bigint[]) AS open (level, tile), LATERAL (
          SELECT string_agg(hashes, '' ORDER BY start) AS hashes,
            string_agg(nodes, '' ORDER BY start) AS nodes FROM ${this.#options.schema}.tiles
          WHERE stream = $1 AND level = open.level AND tile = open.tile) AS whole
        WHERE hashes IS NOT NULL`,
      [stream, open.map(({ level }) => level), open.map(({ index }) => index)],
    )
    return rows.map(({ level, tile, hashes, nodes }) => ({
      level,
      index: tile,
      hashes,
      inner: nodes,
    }))
  }

  /** What the drafts' keys were used for before, one question for each stream. */
  async #loadKeys(client: PoolClient, calls: readonly Call[]): Promise<void> {
    const asked = new Map<string, Set<string>>()
    for (const { stream, idempotencyKey } of calls.flatMap(({ drafts }) => drafts)) {
      if (idempotencyKey === null) continue
      asked.set(stream, (asked.get(stream) ?? new Set()).add(idempotencyKey))
    }
    for (const [name, keys] of asked) {
      const growing = this.#growing.get(name)
      if (growing === undefined || growing.state.storedSize === 0) continue
      const { rows } = await client.query<{ key: string; seq: number; fact: string }>(
        `SELECT key, seq::float8 AS seq, fact FROM ${this.#options.schema}.keys
          JOIN ${this.#options.schema}.facts USING (stream, seq) WHERE stream = $1 AND key = ANY ($2)`,
        [growing.state.id, [...keys]],
      )
      for (const { key, seq, fact } of rows) growing.keys.set(key, earlierOf(name, seq, fact))
    }
  }

  /** What is wrong with one call is found before it places anything, and leaves the others alone. */
  #place(call: Call): readonly Pending[] | StoreFailure {
    const sizes = new Map<string, number>()
    if (call.rotateTo !== undefined && this.#missed !== null) return this.#missed
    for (const { stream, expectedSize } of call.drafts) {
      const refused = this.#refused.get(stream)
      if (refused !== undefined) return refused
      const size = sizes.get(stream) ?? this.#of(stream).state.growth.size
      if (expectedSize !== null && expectedSize !== size)
        return headMoved(stream, expectedSize, size)
      sizes.set(stream, size + 1)
    }
    return call.drafts.map((draft) => this.#placeDraft(draft, call.rotateTo))
  }

  #placeDraft(draft: Draft, rotateTo: LedgerKey | undefined): Pending {
    const growing = this.#of(draft.stream)
    const { idempotencyKey } = draft
    const earlier = idempotencyKey === null ? undefined : growing.keys.get(idempotencyKey)
    if (earlier !== undefined) return { ...earlier, growing, repeated: true }
    const { nowMs, ids } = this.#options
    const sealed = sealNext(growing.state, draft, nowMs(), ids)
    const { seq, factId, occurredAt, text, chain } = sealed
    growing.texts.push(text)
    growing.chains.push(chain)
    growing.usedKeys.push(idempotencyKey ?? '')
    if (rotateTo !== undefined) growing.rotateTo = rotateTo
    const fact = { stream: draft.stream, seq, factId, occurredAt, leaf: leafText(sealed.leaf) }
    if (idempotencyKey !== null) growing.keys.set(idempotencyKey, fact)
    return { ...fact, growing, repeated: false }
  }

  #of(stream: string): Growing {
    // Every stream of the calls is among the turn's, loaded or refused.
    return this.#growing.get(stream) as Growing
  }

  /** The arguments of `append`. Facts and keys hold no newline: it parts them. */
  #valuesOf({ state, seenEpoch, texts, chains, usedKeys, rotateTo }: Growing): readonly unknown[] {
    const { note, isKept } = signEnd(state, rotateTo)
    const pieces = state.growth.takeChanges().map((tile) => pieceOf(tile, state.storedSize))
    return [
      state.name,
      state.origin,
      state.storedSize,
      seenEpoch,
      this.#options.holder,
      texts.join('\n'),
      Buffer.concat(chains),
      usedKeys.join('\n'),
      pieces.map(({ level }) => level),
      pieces.map(({ index }) => index),
      pieces.map(({ start }) => start),
      pieces.map(({ hashes }) => hashes),
      pieces.map(({ inner }) => inner),
      note,
      isKept,
    ]
  }
}

function growingOf(state: StreamState, seenEpoch: number, nextEpoch: number): Growing {
  return { state, seenEpoch, nextEpoch, texts: [], chains: [], usedKeys: [], keys: new Map() }
}

/** What has come to a tile since the tree had the stored size. */
function pieceOf({ level, index, hashes, inner }: StoredTile, storedSize: number) {
  const stored = Math.floor(storedSize / TILE_WIDTH ** level) - index * TILE_WIDTH
  const start = Math.max(0, stored)
  return {
    level,
    index,
    start,
    hashes: Buffer.from(hashes.subarray(start * HASH_BYTES)),
    inner: Buffer.from(inner.subarray(innerCount(start) * HASH_BYTES)),
  }
}

/** Complete subtrees above so many hashes. */
function innerCount(width: number): number {
  let count = 0
  for (let rest = width >> 1; rest > 0; rest >>= 1) count += rest
  return count
}

function earlierOf(stream: string, seq: number, text: string) {
  const { fact_id: factId, occurred_at: occurredAt } = JSON.parse(text)
  return { stream, seq, factId, occurredAt, leaf: leafText(factLeaf(text)) }
}

function leafText(leaf: Uint8Array): string {
  return `sha256:${Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).toString('hex')}`
}

function headMoved(stream: string, expected: number, found: number): StoreFailure {
  return new StoreFailure(fault('ledger.head_moved', stream, { expected, found }))
}
