/**
 * The writing half of a ledger in SQLite: one connection, one commit at a time, no promises and no
 * threads. The writer passes in the calls that have queued up.
 *
 * A commit is one transaction: facts, tiles, a signed checkpoint per stream, and nothing that does not
 * prove them. Its steps are named, so that tests can break each of them before and after it happened.
 *
 * INVARIANT (caches are guesses): what is kept in memory between commits counts only if no other
 * connection has written since, and is thrown away when a commit fails. Loading it again is the same
 * code that opens a ledger.
 */
import { FaultError, fault, faultError, invariant } from '../../base/index.ts'
import {
  type Appended,
  type FactDraft,
  factLeaf,
  HOST_STREAM,
  TILE_WIDTH,
} from '../../ledger/index.ts'
import { failureOf, isFull } from '../database/sqlite-connection.ts'
import type { Database, Statement } from '../database/sqlite-driver.ts'
import {
  FIRST_WITH_KEY,
  factPlace,
  STREAM_SIZE_MAX,
  seqOf,
  tilePlace,
} from '../database/sqlite-schema.ts'
import { WaitingList, WriterQueue } from '../database/writer-queue.ts'
import type { KeyRing, LedgerKey } from '../keys/ed25519.ts'
import { beginningDraft, checkNotBegun, FactIds } from '../streams/stream-start.ts'
import {
  newStream,
  StreamLoader,
  type StreamState,
  sealNext,
  signEnd,
} from '../streams/stream-state.ts'

/** The steps of a commit in their order. */
export const STEPS = ['begin', 'facts', 'tiles', 'head', 'commit', 'answer'] as const
export type AppendStep = (typeof STEPS)[number]

/** Told before and after each step. Tests throw or kill here; nothing else uses it. */
export type OnStep = (step: AppendStep, moment: 'before' | 'after') => void

/** One caller's drafts, whole or not at all. */
export interface AppendCall {
  readonly drafts: readonly FactDraft[]
  /**
   * Every stream turns to this key with the call's facts, one for each stream. With `same` the key
   * stays, and the checkpoint is kept: another machine's key joins or goes, in PostgreSQL only.
   */
  readonly rotateTo?: LedgerKey | 'same'
}

export type AppendOutcome = readonly Appended[] | FaultError

interface LedgerFileOptions {
  readonly database: Database
  readonly file: string
  readonly keys: KeyRing
  /** A stream has grown, committed. */
  readonly onGrown?: (stream: number, size: number) => void
  readonly nowMs?: () => number
  readonly onStep?: OnStep
  readonly waitMsMax?: number
  /** Done once, when others are in front. */
  readonly meanwhile?: () => void
}

const STATES_MAX = 128

/** A fact that is written and waits for the commit; its size is known only then. */
interface PendingFact extends Omit<Appended, 'size'> {
  readonly state: StreamState
}

/** What one transaction does. */
interface Turn {
  readonly touched: Set<StreamState>
  readonly rotated: Map<StreamState, LedgerKey>
  readonly results: (readonly PendingFact[] | FaultError)[]
  /** The first fact written, by which a commit in doubt is settled. */
  first: { readonly place: number; readonly text: string } | null
  /** The last step begun. */
  step: AppendStep
}

export class LedgerFile {
  readonly #database: Database
  readonly #file: string
  readonly #keys: KeyRing
  readonly #nowMs: () => number
  readonly #onStep: OnStep
  readonly #onGrown: (stream: number, size: number) => void
  readonly #queue: WriterQueue
  readonly #ids = new FactIds()
  readonly #loader: StreamLoader
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #states = new Map<string, StreamState>()
  readonly #name: string
  readonly #waiting: WaitingList
  #dataVersion: number | undefined

  constructor({ database, file, keys, ...options }: LedgerFileOptions) {
    this.#database = database
    this.#file = file
    this.#keys = keys
    this.#nowMs = options.nowMs ?? Date.now
    this.#onStep = options.onStep ?? (() => undefined)
    this.#onGrown = options.onGrown ?? (() => undefined)
    this.#loader = new StreamLoader(database, keys)
    this.#sql = prepareStatements(database)
    const name = this.#sql.name.get()
    if (typeof name !== 'string')
      throw faultError('ledger.tampered', file, 'the ledger has no name')
    this.#name = name
    this.#waiting = new WaitingList(`${file}-turns`)
    this.#queue = new WriterQueue(this.#waiting, options.waitMsMax, options.meanwhile)
  }

  /**
   * Commits what the callers ask, in their order; one answer for each. Throws only bugs. A change of
   * keys ends its commit: the checkpoint that both keys sign is of the size that its fact names.
   */
  commit(calls: readonly AppendCall[]): readonly AppendOutcome[] {
    const end = calls.findIndex(({ rotateTo }) => rotateTo !== undefined) + 1
    if (end === 0 || end === calls.length) return this.#commitTogether(calls)
    return [...this.#commitTogether(calls.slice(0, end)), ...this.commit(calls.slice(end))]
  }

  close(): void {
    this.#waiting.close()
  }

  #commitTogether(calls: readonly AppendCall[]): readonly AppendOutcome[] {
    const turn: Turn = {
      touched: new Set(),
      rotated: new Map(),
      results: [],
      first: null,
      step: 'begin',
    }
    try {
      this.#begin(turn)
      for (const call of calls) turn.results.push(this.#attempt(turn, call))
      this.#write(turn)
      this.#settleCaches(turn)
      this.#step(turn, 'answer', () => undefined)
    } catch (error) {
      const failed = this.#recover(turn, error)
      if (failed !== null) return calls.map(() => failed)
    }
    for (const { id, storedSize } of turn.touched) this.#onGrown(id, storedSize)
    this.#queue.leave()
    return turn.results.map(answerOf)
  }

  #begin(turn: Turn): void {
    this.#step(turn, 'begin', () => {
      this.#queue.enter(() => this.#sql.begin.run())
      const dataVersion = this.#sql.dataVersion.get()
      if (dataVersion !== this.#dataVersion) this.#dropMoved()
      this.#dataVersion = dataVersion
    })
  }

  /** Forgets the streams that another connection has changed: their size is no longer the stored one. */
  #dropMoved(): void {
    for (const [name, state] of this.#states) {
      if (this.#loader.headOf(state.id)?.size !== state.storedSize) this.#states.delete(name)
    }
  }

  /** What is wrong with one call is found before it writes, and leaves the others alone. */
  #attempt(turn: Turn, call: AppendCall): readonly PendingFact[] | FaultError {
    const refusal = this.#refusalOf(call)
    if (refusal !== null) return refusal
    return this.#step(turn, 'facts', () =>
      call.drafts.map((draft) => this.#appendFact(turn, draft, call.rotateTo)),
    )
  }

  #refusalOf({ drafts, rotateTo }: AppendCall): FaultError | null {
    try {
      const sizes = new Map<string, number>()
      for (const { stream, expectedSize } of drafts) {
        const size = sizes.get(stream) ?? this.#sizeOf(stream)
        if (expectedSize !== null && expectedSize !== size) {
          return headMoved(stream, expectedSize, size)
        }
        if (size >= STREAM_SIZE_MAX) return streamFull(stream)
        sizes.set(stream, size + 1)
      }
      return rotateTo === undefined ? null : this.#missedBy(sizes)
    } catch (error) {
      const failed = failureOf(error, this.#file)
      if (failed instanceof FaultError) return failed
      throw error
    }
  }

  /** A rotation speaks for every stream; one that came to be meanwhile has to be in it. */
  #missedBy(sizes: ReadonlyMap<string, number>): FaultError | null {
    const names = this.#sql.streams.all()
    const missed = names.find((name) => !sizes.has(name))
    return missed === undefined ? null : headMoved(missed, 0, this.#sizeOf(missed))
  }

  #sizeOf(name: string): number {
    const state = this.#state(name)
    if (state !== null) return state.growth.size
    // A new stream is signed by the key of the host's: that one has to be in order, too.
    this.#state(HOST_STREAM)
    checkNotBegun(this.#database, name)
    return 0
  }

  #state(name: string): StreamState | null {
    const known = this.#states.get(name)
    if (known !== undefined) return known
    const loaded = this.#loader.load(name)
    if (loaded !== null) this.#states.set(name, loaded)
    return loaded
  }

  #createStream(turn: Turn, draft: FactDraft): StreamState {
    const { stream: name } = draft
    const id = this.#sql.nextStream.get()
    invariant(id !== undefined, 'an aggregate has one row')
    const host = this.#state(HOST_STREAM)
    const made = newStream(id, name, `${this.#name}/${name}`, host?.key ?? this.#keys.current())
    this.#sql.addStream.run(made.id, made.name, made.origin)
    this.#states.set(name, made)
    if (host !== null) this.#appendFact(turn, beginningDraft(made, draft), undefined)
    return made
  }

  #appendFact(turn: Turn, draft: FactDraft, rotateTo: AppendCall['rotateTo']): PendingFact {
    const state = this.#state(draft.stream) ?? this.#createStream(turn, draft)
    const earlier = this.#earlier(state, draft)
    if (earlier !== null) return earlier
    turn.touched.add(state)
    invariant(rotateTo !== 'same', 'one machine writes a ledger in a file')
    if (rotateTo !== undefined) turn.rotated.set(state, rotateTo)
    const { seq, factId, occurredAt, text, leaf, chain } = sealNext(
      state,
      draft,
      this.#nowMs(),
      this.#ids,
    )
    const place = factPlace(state.id, seq)
    this.#sql.addFact.run(place, text, chain)
    turn.first ??= { place, text }
    return pending(state, seq, factId, occurredAt, leaf, false)
  }

  /** The fact of the first time, when the draft's key was used before. */
  #earlier(state: StreamState, { idempotencyKey }: FactDraft): PendingFact | null {
    if (idempotencyKey === null) return null
    const place = this.#sql.firstWithKey.get(state.id, idempotencyKey)
    if (place === undefined) return null
    const seq = seqOf(place)
    const text = this.#sql.fact.get(place)
    invariant(text !== undefined, 'an index of SQLite names rows that exist')
    const { fact_id: factId, occurred_at: occurredAt } = JSON.parse(text)
    return pending(state, seq, factId, occurredAt, factLeaf(text), true)
  }

  #write(turn: Turn): void {
    if (turn.touched.size === 0) return this.#rollback()
    const touched = [...turn.touched]
    this.#step(turn, 'tiles', () => {
      for (const state of touched) this.#writeTiles(state)
    })
    this.#step(turn, 'head', () => {
      for (const state of touched) this.#writeHead(state, turn.rotated.get(state))
    })
    this.#step(turn, 'commit', () => this.#sql.commit.run())
  }

  #writeTiles(state: StreamState): void {
    for (const { level, index, hashes, inner } of state.growth.takeChanges()) {
      const place = tilePlace(state.id, level, index)
      const existed = index * TILE_WIDTH < Math.floor(state.storedSize / TILE_WIDTH ** level)
      if (existed) this.#sql.growTile.run(hashes, inner, place)
      else this.#sql.addTile.run(place, hashes, inner)
    }
  }

  #writeHead(state: StreamState, rotateTo: LedgerKey | undefined): void {
    const { size } = state.growth
    const { note, isKept } = signEnd(state, rotateTo)
    if (state.storedSize === 0) this.#sql.addHead.run(state.id, size, note)
    else this.#sql.moveHead.run(size, note, state.id)
    if (isKept) this.#sql.keep.run(factPlace(state.id, size), note)
  }

  #settleCaches(turn: Turn): void {
    for (const state of turn.touched) {
      state.storedSize = state.growth.size
      state.key = turn.rotated.get(state) ?? state.key
      // Moves the stream to the end of the map: the least recently used one is dropped first.
      this.#states.delete(state.name)
      this.#states.set(state.name, state)
    }
    for (const name of this.#states.keys()) {
      if (this.#states.size <= STATES_MAX) break
      this.#states.delete(name)
    }
  }

  /**
   * A step failed. Nothing that was remembered counts any more, and the file decides: null when the
   * facts are recorded after all, else the failure of every call.
   */
  #recover(turn: Turn, error: unknown): FaultError | null {
    this.#states.clear()
    this.#dataVersion = -1
    try {
      this.#rollback()
      if (turn.first !== null && this.#sql.fact.get(turn.first.place) === turn.first.text) {
        for (const state of turn.touched) state.storedSize = state.growth.size
        return null
      }
    } catch {
      return unclear(this.#file, error)
    }
    // A failed sync may have left whole frames in the log, and a crash now would bring them back.
    if (turn.step === 'commit' && !isFull(error)) return unclear(this.#file, error)
    const failed = failureOf(error, this.#file)
    if (failed instanceof FaultError) return failed
    throw error
  }

  #rollback(): void {
    if (this.#database.inTransaction) this.#sql.rollback.run()
  }

  #step<T>(turn: Turn, step: AppendStep, work: () => T): T {
    turn.step = step
    this.#onStep(step, 'before')
    const result = work()
    this.#onStep(step, 'after')
    return result
  }
}

function prepareStatements(database: Database) {
  const prepare = <Row>(sql: string): Statement<Row> => database.prepare(sql)
  return {
    begin: prepare('BEGIN IMMEDIATE'),
    commit: prepare('COMMIT'),
    rollback: prepare('ROLLBACK'),
    dataVersion: prepare<number>('PRAGMA data_version').pluck(),
    name: prepare('SELECT name FROM ledger').pluck(),
    streams: prepare<string>('SELECT name FROM streams').pluck(),
    nextStream: prepare<number>('SELECT coalesce(max(stream), 0) + 1 FROM streams').pluck(),
    addStream: prepare('INSERT INTO streams (stream, name, origin) VALUES (?, ?, ?)'),
    fact: prepare<string>('SELECT fact FROM facts WHERE place = ?').pluck(),
    firstWithKey: prepare<number>(FIRST_WITH_KEY).pluck(),
    addFact: prepare('INSERT INTO facts (place, fact, chain) VALUES (?, ?, ?)'),
    addTile: prepare('INSERT INTO tiles (place, hashes, nodes) VALUES (?, ?, ?)'),
    growTile: prepare('UPDATE tiles SET hashes = ?, nodes = ? WHERE place = ?'),
    addHead: prepare('INSERT INTO heads (stream, size, note) VALUES (?, ?, ?)'),
    moveHead: prepare('UPDATE heads SET size = ?, note = ? WHERE stream = ?'),
    keep: prepare('INSERT INTO checkpoints (place, note) VALUES (?, ?)'),
  }
}

function pending(
  state: StreamState,
  seq: number,
  factId: string,
  occurredAt: string,
  leaf: Uint8Array,
  repeated: boolean,
): PendingFact {
  const hex = Buffer.from(leaf.buffer).toString('hex')
  return { state, stream: state.name, seq, factId, occurredAt, leaf: `sha256:${hex}`, repeated }
}

function answerOf(result: readonly PendingFact[] | FaultError): AppendOutcome {
  if (result instanceof FaultError) return result
  return result.map(({ state, ...rest }) => ({ ...rest, size: state.storedSize }))
}

function headMoved(stream: string, expected: number, found: number): FaultError {
  return new FaultError(fault('ledger.head_moved', stream, { expected, found }))
}

function streamFull(stream: string): FaultError {
  const reason = `a stream holds at most ${STREAM_SIZE_MAX} facts`
  return new FaultError(fault('ledger.unreachable', stream, { reason }))
}

function unclear(file: string, cause: unknown): FaultError {
  return new FaultError(fault('ledger.unclear', file, null), { cause })
}
