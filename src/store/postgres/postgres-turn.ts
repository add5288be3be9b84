/**
 * One turn of a sequencer in PostgreSQL: reads the heads of its streams under their locks, gives every
 * draft its place by the same code as SQLite, and writes facts, keys, tiles and a signed checkpoint
 * for each stream. The caller begins and commits.
 *
 * A long turn is written stretch by stretch: the server stores one while the next is hashed here. All
 * of them are one transaction.
 */
import type { PoolClient } from 'pg'
import { FaultError, fault, HASH_BYTES } from '../../base/index.ts'
import {
  type Appended,
  type FactDraft,
  factLeaf,
  HOST_STREAM,
  type StoredTile,
  TILE_WIDTH,
} from '../../ledger/index.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { MachineKeys } from '../keys/machine-keys.ts'
import type { AppendCall, AppendOutcome } from '../sqlite/ledger-file.ts'
import { refuseRolledBack } from '../streams/rolled-back.ts'
import { beginningDraft, type FactIds, machineDraft } from '../streams/stream-start.ts'
import {
  lostFact,
  newestSigner,
  newStream,
  type StoredEnd,
  type StreamState,
  sealNext,
  signEnd,
  stateOf,
  storedFact,
} from '../streams/stream-state.ts'
import { checkNotBegunAt } from './postgres-connection.ts'
import { keyFactsIn } from './postgres-keys.ts'

/** A stream's end as this writer left it, good while the head says the same. */
export interface SettledState {
  readonly state: StreamState
  readonly epoch: number
}

interface PostgresTurnOptions {
  readonly schema: string
  readonly name: string
  readonly keys: KeyRing | MachineKeys
  readonly nowMs: () => number
  /** Who the sequencer is, over all hosts. */
  readonly holder: string
  readonly ids: FactIds
  readonly streams: readonly string[]
  readonly known: {
    readonly states: Map<string, SettledState>
    /** How far this process took the streams that it wrote to. */
    readonly trusted: ReadonlyMap<string, number>
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
  /** The end of the stream; null when this sequencer was the last one and knows it. */
  readonly last_seq: number | null
  readonly last_fact: string | null
  readonly last_chain: Buffer | null
  readonly levels: readonly number[] | null
  readonly tiles: readonly number[] | null
  readonly hashes: readonly Buffer[] | null
  readonly nodes: readonly Buffer[] | null
  /** A human removed this machine. */
  readonly removed: boolean
}

/** A stream in this turn. */
interface TurnStream {
  readonly state: StreamState
  /** The size and the epoch that the fence has to find at the next stretch. */
  sentSize: number
  seenEpoch: number
  readonly nextEpoch: number
  /** The first fact of the turn, by which a commit in doubt is settled. */
  first: string | null
  /** What is placed and not sent yet. */
  texts: string[]
  chains: Uint8Array[]
  usedKeys: string[]
  readonly keys: Map<string, Placed>
  rotateTo?: AppendCall['rotateTo']
}

/** Drafts of one stretch. */
const STRETCH = 512

/** A fact as it will be answered, but for the size that its commit will have. */
type Placed = Omit<Appended, 'size' | 'repeated'>

interface Pending {
  readonly fact: Placed
  readonly growing: TurnStream
  readonly repeated: boolean
}

export class PostgresTurn {
  readonly #options: PostgresTurnOptions
  readonly #known = new Map<string, SettledState>()
  readonly #growing = new Map<string, TurnStream>()
  readonly #results: (readonly Pending[] | FaultError)[] = []
  /** Why a stream cannot be appended to. */
  readonly #refused = new Map<string, FaultError>()
  #missed: FaultError | null = null
  /** The streams that come to be in this turn, in the order in which the host's stream names them. */
  readonly #begun = new Set<TurnStream>()

  constructor(options: PostgresTurnOptions) {
    this.#options = options
  }

  /** Nothing was written. */
  get isEmpty(): boolean {
    return this.#grown().length === 0
  }

  /** Takes the locks and loads what the calls need. */
  async prepare(client: PoolClient, calls: readonly AppendCall[]): Promise<void> {
    const isRotation = calls.some(({ rotateTo }) => rotateTo !== undefined)
    const heads = await this.#takeTurn(client, isRotation)
    await this.#refuseLost(client, heads)
    await this.#lookAtMachines(client, heads)
    // The host's stream goes first: it names every stream that comes to be, and its key signs it.
    if (heads.has(HOST_STREAM) && !this.#refused.has(HOST_STREAM))
      this.#loadOrRefuse(HOST_STREAM, heads)
    for (const name of this.#options.streams) {
      if (!this.#growing.has(name) && !this.#refused.has(name)) this.#loadOrRefuse(name, heads)
    }
    await this.#loadKeys(client, calls)
  }

  /** Fails if a stream was begun and has no row: beginning it again would hide that it is gone. */
  async #refuseLost(client: PoolClient, heads: ReadonlyMap<string, HeadRow>): Promise<void> {
    const { schema, streams } = this.#options
    for (const name of streams.filter((one) => !heads.has(one))) {
      try {
        await checkNotBegunAt(client, schema, name)
      } catch (error) {
        if (!(error instanceof FaultError)) throw error
        this.#refused.set(name, error)
      }
    }
  }

  /** Reads the certificates again where a head is signed by a key that is not known yet. */
  async #lookAtMachines(client: PoolClient, heads: ReadonlyMap<string, HeadRow>): Promise<void> {
    const { keys, schema } = this.#options
    if (!(keys instanceof MachineKeys)) return
    const isUnknown = ({ origin, note }: HeadRow): boolean => {
      const signer = newestSigner(origin, note ?? '')
      if (signer === null || keys.find(origin, signer) !== null) return false
      return keys.certified(origin, signer) === null
    }
    const rows = [...heads.values()]
    const isRemoved = rows.some(({ removed }) => removed)
    if (isRemoved || rows.some(isUnknown)) await keys.refresh(keyFactsIn(client, schema))
    if (!isRemoved) return
    try {
      keys.own()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      for (const name of [HOST_STREAM, ...this.#options.streams]) this.#refused.set(name, error)
    }
  }

  #loadOrRefuse(name: string, heads: ReadonlyMap<string, HeadRow>): void {
    try {
      this.#growing.set(name, this.#load(name, heads.get(name)))
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      this.#refused.set(name, error)
    }
  }

  /** Places every draft and writes what comes of it. */
  async write(client: PoolClient, calls: readonly AppendCall[]): Promise<void> {
    let sent: Promise<unknown> = Promise.resolve()
    let drafts = 0
    for (const [index, call] of calls.entries()) {
      this.#results.push(this.#place(call))
      drafts += call.drafts.length
      if (drafts < STRETCH && index < calls.length - 1) continue
      drafts = 0
      for (const { sql, values } of this.#takeStretch()) {
        sent = sent.then(() => client.query(sql, values))
      }
      // A failure is heard at the end, not before.
      sent.catch(() => undefined)
      // Lets the stretch leave before the next one is hashed.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await sent
  }

  /** New streams last, and in the order of their names in the host's stream: so they are numbered. */
  #takeStretch(): readonly { readonly sql: string; readonly values: unknown[] }[] {
    const old = this.#grown().filter((growing) => !this.#begun.has(growing))
    return [...old, ...this.#begun]
      .filter(({ texts }) => texts.length > 0)
      .map((growing) => {
        const values = [...this.#valuesOf(growing)]
        const places = values.map((_, index) => `$${index + 1}`)
        return { sql: `SELECT ${this.#options.schema}.append(${places.join(', ')})`, values }
      })
  }

  /** Whether the facts of this turn are in the ledger, asked after the commit fell into doubt. */
  async isRecorded(client: PoolClient): Promise<boolean> {
    const { schema, streams } = this.#options
    const [grown] = this.#grown()
    if (grown === undefined) return true
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query(`SELECT FROM ${schema}.take_turn($1, NULL, '{}', '{}', '')`, [streams])
    const { rows } = await client.query<{ fact: string }>(
      `SELECT fact FROM ${schema}.facts JOIN ${schema}.streams USING (stream)
        WHERE name = $1 AND seq = $2`,
      [grown.state.name, grown.state.storedSize],
    )
    await client.query('ROLLBACK')
    return rows[0]?.fact === grown.first
  }

  /** After the commit: the streams that grew, as they are now. */
  settle(): readonly SettledState[] {
    return this.#grown().map(({ state, rotateTo, nextEpoch }) => {
      state.storedSize = state.growth.size
      if (rotateTo !== undefined && rotateTo !== 'same') state.key = rotateTo
      return { state, epoch: nextEpoch }
    })
  }

  answers(): readonly AppendOutcome[] {
    return this.#results.map((result) =>
      result instanceof FaultError
        ? result
        : result.map(({ fact, growing, repeated }) => appendedOf(fact, growing, repeated)),
    )
  }

  #grown(): readonly TurnStream[] {
    return [...this.#growing.values()].filter(({ first }) => first !== null)
  }

  async #takeTurn(client: PoolClient, isRotation: boolean): Promise<ReadonlyMap<string, HeadRow>> {
    const { schema, streams, known, holder, keys } = this.#options
    // Whether a stream exists that this process has not written to is known only under the lock.
    const mayBegin = isRotation || streams.some((name) => !known.trusted.has(name))
    const locks = mayBegin ? [STREAMS_TO_COME, ...new Set([HOST_STREAM, ...streams])] : streams
    const cached = this.#takeKnown(locks)
    const { rows } = await client.query<HeadRow>(
      `SELECT * FROM ${schema}.take_turn($1, $2, $3, $4, $5)`,
      [
        locks,
        holder,
        cached.map(({ name }) => name),
        cached.map(({ storedSize }) => storedSize),
        keys instanceof MachineKeys ? keys.removal : '',
      ],
    )
    const heads = new Map(rows.map((row) => [row.name, row]))
    if (isRotation) this.#missed = await this.#missedStream(client)
    return heads
  }

  /** Takes the known states out of the cache: a failed turn leaves no state ahead of the ledger there. */
  #takeKnown(names: readonly string[]): readonly StreamState[] {
    const { known } = this.#options
    return names.flatMap((name) => {
      const settled = known.states.get(name)
      if (settled === undefined) return []
      known.states.delete(name)
      this.#known.set(name, settled)
      return [settled.state]
    })
  }

  /** A rotation speaks for every stream; one that came to be meanwhile has to be in it. */
  async #missedStream(client: PoolClient): Promise<FaultError | null> {
    const { schema, streams } = this.#options
    const { rows } = await client.query<{ name: string; size: number }>(
      `SELECT name, size::float8 AS size FROM ${schema}.streams JOIN ${schema}.heads USING (stream)
        WHERE name <> ALL ($1) ORDER BY name LIMIT 1`,
      [streams],
    )
    return rows[0] === undefined ? null : headMoved(rows[0].name, 0, rows[0].size)
  }

  #load(name: string, row: HeadRow | undefined): TurnStream {
    const { keys, known, holder } = this.#options
    const cached = this.#known.get(name)
    refuseRolledBack(name, row?.size ?? 0, known.trusted.get(name))
    if (row === undefined) return this.#newStream(name)
    const [epoch, isOurs] = [row.epoch ?? 0, row.holder === holder]
    const isCurrent = isOurs && cached?.epoch === epoch && cached.state.storedSize === row.size
    const state = isCurrent ? cached.state : stateOf(endOf(row), keys, known.trusted.has(name))
    return growingOf(state, epoch, isOurs ? epoch : epoch + 1)
  }

  /** A new stream is signed by the key of the host's stream, which has to be in order for that. */
  #newStream(name: string): TurnStream {
    const refused = this.#refused.get(HOST_STREAM)
    if (refused !== undefined) throw refused
    const host = this.#growing.get(HOST_STREAM)
    const key = host?.state.key ?? this.#options.keys.current()
    const origin = `${this.#options.name}/${name}`
    return growingOf(newStream(NEW_STREAM, name, origin, key), 1, 1)
  }

  /** What the drafts' keys were used for before, one question for each stream. */
  async #loadKeys(client: PoolClient, calls: readonly AppendCall[]): Promise<void> {
    const asked = new Map<string, Set<string>>()
    for (const { stream, idempotencyKey } of calls.flatMap(({ drafts }) => drafts)) {
      if (idempotencyKey === null) continue
      asked.set(stream, (asked.get(stream) ?? new Set()).add(idempotencyKey))
    }
    for (const [name, keys] of asked) {
      const growing = this.#growing.get(name)
      if (growing === undefined || growing.state.storedSize === 0) continue
      const { rows } = await client.query<{ key: string; seq: number; fact: string | null }>(
        `SELECT key, seq::float8 AS seq, fact FROM ${this.#options.schema}.keys
          LEFT JOIN ${this.#options.schema}.facts USING (stream, seq) WHERE stream = $1 AND key = ANY ($2)`,
        [growing.state.id, [...keys]],
      )
      for (const { key, seq, fact } of rows) {
        // A key whose fact is gone was used all the same.
        if (fact === null) this.#refused.set(name, lostFact(name, seq))
        else growing.keys.set(key, earlierOf(name, seq, fact))
      }
    }
  }

  /** What is wrong with one call is found before it places anything, and leaves the others alone. */
  #place(call: AppendCall): readonly Pending[] | FaultError {
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

  #placeDraft(draft: FactDraft, rotateTo: AppendCall['rotateTo']): Pending {
    const growing = this.#of(draft.stream)
    const { idempotencyKey } = draft
    const earlier = idempotencyKey === null ? undefined : growing.keys.get(idempotencyKey)
    if (earlier !== undefined) return { fact: earlier, growing, repeated: true }
    if (growing.state.growth.size === 0 && !this.#begun.has(growing)) this.#begin(growing, draft)
    const { nowMs, ids } = this.#options
    const sealed = sealNext(growing.state, draft, nowMs(), ids)
    const { seq, factId, occurredAt, text, chain } = sealed
    growing.first ??= text
    growing.texts.push(text)
    growing.chains.push(chain)
    growing.usedKeys.push(idempotencyKey ?? '')
    if (rotateTo !== undefined) growing.rotateTo = rotateTo
    const fact = { stream: draft.stream, seq, factId, occurredAt, leaf: leafText(sealed.leaf) }
    if (idempotencyKey !== null) growing.keys.set(idempotencyKey, fact)
    return { fact, growing, repeated: false }
  }

  /** Names a new stream in the host's, unless there is none yet. */
  #begin(growing: TurnStream, first: FactDraft): void {
    this.#begun.add(growing)
    const host = this.#growing.get(HOST_STREAM)
    if (host === undefined || host === growing) return
    this.#placeDraft(beginningDraft(growing.state, first), undefined)
    // A bundle of the stream shows by itself which machines may sign it.
    const { keys } = this.#options
    for (const machine of keys instanceof MachineKeys ? keys.others : []) {
      this.#placeDraft(machineDraft(growing.state, machine), 'same')
    }
  }

  #of(stream: string): TurnStream {
    // Every stream of the calls is among the turn's, loaded or refused.
    return this.#growing.get(stream) as TurnStream
  }

  /** The arguments of `append`. Facts and keys hold no newline: it parts them. */
  #valuesOf(growing: TurnStream): readonly unknown[] {
    const { state, sentSize, seenEpoch, texts, chains, usedKeys, rotateTo } = growing
    const { note, isKept } = signEnd({ ...state, storedSize: sentSize }, rotateTo)
    const pieces = state.growth.takeChanges().map((tile) => pieceOf(tile, sentSize))
    growing.sentSize = state.growth.size
    growing.seenEpoch = growing.nextEpoch
    growing.texts = []
    growing.chains = []
    growing.usedKeys = []
    return [
      state.name,
      state.origin,
      sentSize,
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

/** The end of a stream as the server told it with the turn. */
function endOf(row: HeadRow): StoredEnd {
  const { stream: id, name, origin, size, note, last_fact: fact, last_chain: chain } = row
  const last = fact === null || chain === null ? null : { fact, chain }
  const head = size === null || note === null ? null : { size, note }
  const tiles = (row.levels ?? []).map((level, at) => ({
    level,
    index: row.tiles?.[at] ?? 0,
    hashes: row.hashes?.[at] ?? EMPTY,
    inner: row.nodes?.[at] ?? EMPTY,
  }))
  return { id, name, origin, size: (row.last_seq ?? -1) + 1, head, last, tiles }
}

const EMPTY = new Uint8Array(0)

function growingOf(state: StreamState, seenEpoch: number, nextEpoch: number): TurnStream {
  return {
    state,
    sentSize: state.storedSize,
    seenEpoch,
    nextEpoch,
    first: null,
    texts: [],
    chains: [],
    usedKeys: [],
    keys: new Map(),
  }
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

/** Field by field: spreading costs as much as hashing. */
function appendedOf(fact: Placed, { state }: TurnStream, repeated: boolean): Appended {
  const { stream, seq, factId, occurredAt, leaf } = fact
  return { stream, seq, factId, occurredAt, leaf, size: state.growth.size, repeated }
}

function earlierOf(stream: string, seq: number, text: string): Placed {
  const { fact_id: factId, occurred_at: occurredAt } = storedFact(text, stream, seq)
  return { stream, seq, factId, occurredAt, leaf: leafText(factLeaf(text)) }
}

function leafText(leaf: Uint8Array): string {
  return `sha256:${Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).toString('hex')}`
}

function headMoved(stream: string, expected: number, found: number): FaultError {
  return new FaultError(fault('ledger.head_moved', stream, { expected, found }))
}
