/**
 * One turn of a sequencer in PostgreSQL: reads the heads of its streams under their locks, gives every
 * draft its place by the same code as SQLite, and writes facts, keys, tiles and a signed checkpoint
 * for each stream. The caller begins and commits.
 *
 * A long turn is written stretch by stretch: the server stores one while the next is hashed here. All
 * of them are one transaction.
 */
import type { PoolClient } from 'pg'
import { FaultError, invariant } from '../../base/index.ts'
import { type FactDraft, HOST_STREAM } from '../../ledger/index.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { MachineKeys } from '../keys/machine-keys.ts'
import type { AppendCall, AppendOutcome } from '../sqlite/ledger-file.ts'
import { refuseRolledBack } from '../streams/rolled-back.ts'
import { beginningDraft, type FactIds, machineDraft } from '../streams/stream-start.ts'
import {
  lostFact,
  newestSigner,
  newStream,
  type StreamState,
  sealNext,
  signEnd,
  stateOf,
} from '../streams/stream-state.ts'
import { checkNotBegunAt } from './postgres-connection.ts'
import { keyFactsIn } from './postgres-keys.ts'
import {
  appendedOf,
  type EndRow,
  earlierOf,
  endOf,
  growingOf,
  headMoved,
  leafText,
  type Placed,
  pieceOf,
  type TurnStream,
} from './turn-stream.ts'

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

/** Drafts of one stretch. */
const STRETCH = 512

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
  #isSent = false

  constructor(options: PostgresTurnOptions) {
    this.#options = options
  }

  /** Nothing was written. */
  get isEmpty(): boolean {
    return this.#grown().length === 0
  }

  /** The only statement of a short turn is on its way: it may be recorded. */
  get isSent(): boolean {
    return this.#isSent
  }

  /** Whether one statement may do: one stream, which was written to before, and no call turns a key. */
  isShort(calls: readonly AppendCall[]): boolean {
    const { streams, known } = this.#options
    const drafts = calls.reduce((sum, call) => sum + call.drafts.length, 0)
    return (
      streams.length === 1 &&
      streams.every((name) => known.trusted.has(name)) &&
      drafts <= STRETCH &&
      calls.every(({ rotateTo }) => rotateTo === undefined)
    )
  }

  /** Whether the end of the only stream is known here. */
  isKnown(): boolean {
    const { streams, known } = this.#options
    return streams.every((name) => known.states.has(name))
  }

  /**
   * Reads the end of the only stream, without keeping the turn: the fence of `append` tells if others
   * write meanwhile. Returns false where a whole turn has to look closer.
   */
  async readEnd(client: PoolClient): Promise<boolean> {
    const heads = await this.#takeTurn(client, false)
    const rows = [...heads.values()]
    const isPlain = ({ turned, origin, note }: EndRow): boolean =>
      !turned && !this.#isUnknown(origin, note)
    if (rows.length === 0 || !rows.every(isPlain)) return false
    for (const name of heads.keys()) this.#loadOrRefuse(name, heads)
    return this.#refused.size === 0
  }

  /**
   * Appends by one statement, which is a transaction of its own and takes the turn if it is free. Returns
   * false where nothing was recorded, because others have the turn or what is known here refuses a call.
   * Fails if another sequencer has written, or a key was used before: that needs a whole turn.
   */
  async writeAtOnce(client: PoolClient, calls: readonly AppendCall[]): Promise<boolean> {
    const { schema, streams } = this.#options
    for (const state of this.#growing.size === 0 ? this.#takeKnown(streams) : []) {
      const epoch = this.#known.get(state.name)?.epoch ?? 0
      this.#growing.set(state.name, growingOf(state, epoch, epoch))
    }
    for (const call of calls) this.#results.push(this.#place(call))
    const [stretch] = this.#takeStretch()
    const isRefused = this.#results.some((result) => result instanceof FaultError)
    if (isRefused || stretch === undefined) return false
    const { sql, values } = stretch
    const turn = `pg_try_advisory_xact_lock(hashtextextended($${values.length + 1}, 0))`
    this.#isSent = true
    const { rows } = await client.query<{ done: number | null }>(
      `SELECT CASE WHEN ${turn} THEN (SELECT 1 FROM (${sql}) AS appended) END AS done`,
      [...values, `${schema}/${streams[0]}`],
    )
    return rows[0]?.done === 1
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
  async #refuseLost(client: PoolClient, heads: ReadonlyMap<string, EndRow>): Promise<void> {
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

  /** Reads the certificates again where keys have changed since, or one that signed is not known yet. */
  async #lookAtMachines(client: PoolClient, heads: ReadonlyMap<string, EndRow>): Promise<void> {
    const { keys, schema } = this.#options
    if (!(keys instanceof MachineKeys)) return
    const rows = [...heads.values()]
    // Another process of this machine may have turned its key, so that this one signs no more.
    const isTurned = rows.some(({ turned }) => turned)
    if (isTurned || rows.some(({ origin, note }) => this.#isUnknown(origin, note)))
      await keys.refresh(keyFactsIn(client, schema))
    // The first turn of a ledger names the first key.
    if (keys.originOf(HOST_STREAM) === null) return
    try {
      keys.own()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      for (const name of [HOST_STREAM, ...this.#options.streams]) this.#refused.set(name, error)
    }
  }

  /** Whether a head is signed by a key that is not known yet. */
  #isUnknown(origin: string, note: string | null): boolean {
    const { keys } = this.#options
    const signer = newestSigner(origin, note ?? '')
    if (!(keys instanceof MachineKeys) || signer === null) return false
    return keys.find(origin, signer) === null && keys.certified(origin, signer) === null
  }

  #loadOrRefuse(name: string, heads: ReadonlyMap<string, EndRow>): void {
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
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await client.query(`SELECT FROM ${schema}.take_turn($1, NULL, '{}', '{}', NULL)`, [streams])
    const isThere = await this.isThere(client)
    await client.query('ROLLBACK')
    return isThere
  }

  /** The same for a caller that holds the locks. */
  async isThere(client: PoolClient): Promise<boolean> {
    const { schema } = this.#options
    const [grown] = this.#grown()
    invariant(grown !== undefined, 'only a turn that wrote can be in doubt')
    const { rows } = await client.query<{ fact: string }>(
      `SELECT fact FROM ${schema}.facts JOIN ${schema}.streams USING (stream)
        WHERE name = $1 AND seq = $2`,
      [grown.state.name, grown.state.storedSize],
    )
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

  async #takeTurn(client: PoolClient, isRotation: boolean): Promise<ReadonlyMap<string, EndRow>> {
    const { schema, streams, known, holder, keys } = this.#options
    // Whether a stream exists that this process has not written to is known only under the lock.
    const mayBegin = isRotation || streams.some((name) => !known.trusted.has(name))
    const locks = mayBegin ? [STREAMS_TO_COME, ...new Set([HOST_STREAM, ...streams])] : streams
    const cached = this.#takeKnown(locks)
    const { rows } = await client.query<EndRow>(
      `SELECT * FROM ${schema}.take_turn($1, $2, $3, $4, $5)`,
      [
        locks,
        holder,
        cached.map(({ name }) => name),
        cached.map(({ storedSize }) => storedSize),
        keys instanceof MachineKeys ? keys.next : null,
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

  #load(name: string, row: EndRow | undefined): TurnStream {
    const { keys, known, holder } = this.#options
    const cached = this.#known.get(name)
    refuseRolledBack(name, row?.size ?? 0, known.trusted.get(name))
    if (row === undefined) return this.#newStream(name)
    const [epoch, isOurs] = [row.epoch ?? 0, row.holder === holder]
    const isCurrent = isOurs && cached?.epoch === epoch && cached.state.storedSize === row.size
    // Every role that appends can write a head, also with this holder: its signature is what counts.
    const state = isCurrent ? cached.state : stateOf(endOf(row), keys, false)
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
