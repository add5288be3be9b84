/**
 * The sequencer of a ledger in PostgreSQL. Any number of them on any number of hosts: each collects
 * what its callers ask, takes the turn of the streams concerned, and commits everything that has queued
 * up in one transaction. Calls on different streams do not wait for one another.
 *
 * A stream that no other sequencer has written to since is appended to by one statement: a short turn.
 *
 * A turn is a transaction that holds the advisory locks of its streams, which the server hands on in
 * the order of asking and frees when the session dies or sleeps. The locks keep the order; what keeps
 * the log whole is the fence in `append` (postgres-schema.ts).
 *
 * INVARIANT (caches are guesses): a cached end of a stream is used only if the head shows that no other
 * sequencer has written since. A turn takes the ends that it uses out of the cache, and puts them back
 * only if it succeeds.
 */
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { FaultError, fault, faultError, invariant } from '../../base/index.ts'
import type { Appended, FactDraft } from '../../ledger/index.ts'
import type { KeyRing, LedgerKey } from '../keys/ed25519.ts'
import type { AppendCall, AppendOutcome } from '../sqlite/ledger-file.ts'
import type { Writer } from '../sqlite/writer.ts'
import { FactIds } from '../streams/stream-start.ts'
import {
  connectionIn,
  isPassing,
  isRetried,
  postgresFailure,
  release,
} from './postgres-connection.ts'
import { NEW_STREAM, PostgresTurn, type SettledState } from './postgres-turn.ts'

/** The steps of a turn in their order. */
export const POSTGRES_STEPS = ['begin', 'turn', 'append', 'commit', 'answer'] as const
export type PostgresStep = (typeof POSTGRES_STEPS)[number]

/** Told before and after each step. Tests break connections or kill here; nothing else uses it. */
export type OnPostgresStep = (
  step: PostgresStep,
  moment: 'before' | 'after',
) => void | Promise<void>

interface PostgresWriterOptions {
  readonly pool: Pool
  readonly schema: string
  /** The name of the ledger. */
  readonly name: string
  readonly keys: KeyRing
  readonly waitMsMax: number
  readonly nowMs?: () => number
  readonly onStep?: OnPostgresStep
  /** A stream has grown, committed. */
  readonly onGrown?: (stream: string, size: number) => void
}

interface Queued {
  readonly call: AppendCall
  readonly resolve: (appended: readonly Appended[]) => void
  readonly reject: (error: unknown) => void
}

/** Calls on the same streams: one turn at a time. */
interface Lane {
  readonly streams: readonly string[]
  readonly queue: Queued[]
  running: Promise<void> | null
}

/** Drafts that one turn takes at most: some tens of milliseconds of work. */
const DRAFTS_MAX = 4_096
const STATES_MAX = 128
const PAUSE_MS = 20
const GATHER_MS = 4
/** Turns that read the end first, after one that recorded nothing: another sequencer writes, too. */
const SHARED_TURNS = 8

export class PostgresWriter implements Writer {
  readonly #options: PostgresWriterOptions
  readonly #holder = randomUUID()
  readonly #ids = new FactIds()
  readonly #lanes = new Map<string, Lane>()
  readonly #states = new Map<string, SettledState>()
  /** Streams whose newest checkpoint was verified once by this process. */
  readonly #trusted = new Map<string, number>()
  /** How many turns are left that read the end of their streams first, by lane. */
  readonly #missed = new Map<string, number>()
  #isClosed = false

  constructor(options: PostgresWriterOptions) {
    this.#options = options
  }

  append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts })
  }

  rotate(drafts: readonly FactDraft[], key: LedgerKey | 'same'): Promise<readonly Appended[]> {
    return this.#enqueue({ drafts, rotateTo: key })
  }

  /** Waits for the calls under way. The pool is its owner's. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#lanes.values()].map(({ running }) => running))
  }

  #enqueue(call: AppendCall): Promise<readonly Appended[]> {
    if (this.#isClosed) {
      return Promise.reject(faultError('ledger.closed', this.#options.schema))
    }
    return new Promise((resolve, reject) => {
      const streams = [...new Set(call.drafts.map(({ stream }) => stream))].sort()
      const name = streams.join(' ')
      const lane = this.#lanes.get(name) ?? { streams, queue: [], running: null }
      this.#lanes.set(name, lane)
      lane.queue.push({ call, resolve, reject })
      // Callers of the same moment share a turn.
      lane.running ??= Promise.resolve().then(() => this.#run(name, lane))
    })
  }

  async #run(name: string, lane: Lane): Promise<void> {
    while (lane.queue.length > 0) {
      // Where others write, too, each turn reads the end of the stream: more callers share one.
      if ((this.#missed.get(name) ?? 0) > 0) await gather()
      const batch = takeBatch(lane.queue)
      try {
        const answers = await this.#commit(
          lane.streams,
          batch.map(({ call }) => call),
        )
        batch.forEach(({ resolve, reject }, index) => {
          const answer = answers[index]
          if (answer instanceof FaultError) reject(answer)
          else resolve(answer ?? [])
        })
      } catch (bug) {
        for (const { reject } of batch) reject(bug)
      }
    }
    lane.running = null
    this.#lanes.delete(name)
  }

  /** Takes turns until one succeeds or the bound is reached. Throws only bugs. */
  async #commit(
    streams: readonly string[],
    calls: readonly AppendCall[],
  ): Promise<readonly AppendOutcome[]> {
    if (streams.length === 0) return calls.map(() => [])
    const started = performance.now()
    const asked: Asked = { streams, calls, doubt: null }
    for (;;) {
      const waitedMs = Math.round(performance.now() - started)
      const outcome = await this.#take(asked)
      if (outcome.kind === 'done') return outcome.answers
      if (outcome.kind === 'failed' || waitedMs > this.#options.waitMsMax) {
        const { doubt } = asked
        const isUnclear = doubt !== null && isPassing(doubt.error)
        const failed = isUnclear ? unclear(this.#options.schema, doubt.error) : null
        return calls.map(() => failed ?? this.#gaveUp(outcome, waitedMs))
      }
      await pause()
    }
  }

  #gaveUp({ error }: Exclude<Outcome, { kind: 'done' }>, waitedMs: number): FaultError {
    const { schema, pool } = this.#options
    const failed = isRetried(error) ? null : postgresFailure(error, schema, connectionIn(pool))
    if (failed !== null && !(failed instanceof FaultError)) throw failed
    return failed === null || failed.fault.code === 'ledger.busy' ? busy(waitedMs, error) : failed
  }

  /** A short turn where that may do; else, or where it recorded nothing, a whole one. */
  async #take(asked: Asked): Promise<Outcome> {
    const short = asked.doubt === null ? await this.#takeShort(asked) : null
    return short ?? this.#takeWhole(asked)
  }

  /**
   * Does a turn by one statement, or by two where others write to the stream as well: the first reads its
   * end. Null where it recorded nothing, or where that is in doubt.
   */
  async #takeShort(asked: Asked): Promise<Outcome | null> {
    const { streams, calls } = asked
    const name = streams.join(' ')
    const missed = this.#missed.get(name) ?? 0
    this.#missed.set(name, Math.max(0, missed - 1))
    const turn = this.#newTurn(streams)
    if (!turn.isShort(calls)) return null
    let client: PoolClient | null = null
    try {
      client = await this.#options.pool.connect()
      const connected = client
      const isReady = (missed === 0 && turn.isKnown()) || (await turn.readEnd(connected))
      const write = (): Promise<boolean> => turn.writeAtOnce(connected, calls)
      const isDone = isReady && (await this.#during('commit', write))
      release(connected, 'sound')
      client = null
      if (!isDone) this.#missed.set(name, SHARED_TURNS)
      if (!isDone) return null
      await this.#during('answer', () => undefined)
    } catch (error) {
      // The server refused the statement and rolled it back.
      const isRefused = isRetried(error)
      if (client !== null) release(client, isRefused ? 'sound' : 'broken')
      if (isRefused) this.#missed.set(name, SHARED_TURNS)
      if (turn.isSent && !isRefused) asked.doubt = { turn, error }
      // What stopped it before it was sent stops a whole turn as well, which says so.
      return null
    }
    this.#keep(turn)
    return { kind: 'done', answers: turn.answers() }
  }

  async #during<T>(step: PostgresStep, work: () => T | Promise<T>): Promise<T> {
    await this.#options.onStep?.(step, 'before')
    const result = await work()
    await this.#options.onStep?.(step, 'after')
    return result
  }

  /**
   * Does one turn. A failure before the commit leaves nothing behind: the server rolls back.
   *
   * A short turn in doubt is settled here, under the locks: its statement holds none before it begins, and
   * may begin late. Either its facts are there, or this turn writes, and then the fence refuses it.
   */
  async #takeWhole({ streams, calls, doubt }: Asked): Promise<Outcome> {
    const turn = this.#newTurn(streams)
    const last: { step: PostgresStep } = { step: 'begin' }
    let client: PoolClient | null = null
    const during = <T>(now: PostgresStep, work: () => T | Promise<T>): Promise<T> => {
      last.step = now
      return this.#during(now, work)
    }
    try {
      const connected = await this.#options.pool.connect()
      client = connected
      await during('begin', () => connected.query('BEGIN ISOLATION LEVEL READ COMMITTED'))
      await during('turn', () => turn.prepare(connected, calls))
      if (doubt !== null && (await doubt.turn.isThere(connected))) {
        await connected.query('ROLLBACK')
        release(connected, 'sound')
        this.#keep(doubt.turn)
        return { kind: 'done', answers: doubt.turn.answers() }
      }
      await during('append', () => turn.write(connected, calls))
      if (turn.isEmpty) await connected.query('ROLLBACK')
      else {
        const { command } = await during('commit', () => connected.query('COMMIT'))
        invariant(command === 'COMMIT', 'a commit that was not refused is one')
      }
      release(connected, 'sound')
      client = null
      await during('answer', () => undefined)
    } catch (error) {
      if (client !== null) release(client, 'broken')
      if (!turn.isEmpty && (last.step === 'commit' || last.step === 'answer')) {
        const settled = await this.#settle(turn, error)
        if (settled !== null) return settled
      } else return { kind: isRetried(error) || isPassing(error) ? 'again' : 'failed', error }
    }
    this.#keep(turn)
    return { kind: 'done', answers: turn.answers() }
  }

  #newTurn(streams: readonly string[]): PostgresTurn {
    const { schema, name, keys, nowMs = Date.now } = this.#options
    const holder = this.#holder
    const known = { states: this.#states, trusted: this.#trusted }
    return new PostgresTurn({ schema, name, keys, nowMs, holder, ids: this.#ids, streams, known })
  }

  /**
   * The commit was asked for and not confirmed. Taking the turn again waits until the transaction in
   * doubt has ended either way; then the facts are there or they are not. Null: they are.
   */
  async #settle(turn: PostgresTurn, error: unknown): Promise<Outcome | null> {
    const until = performance.now() + this.#options.waitMsMax
    for (;;) {
      let client: PoolClient | null = null
      try {
        client = await this.#options.pool.connect()
        const isRecorded = await turn.isRecorded(client)
        release(client, 'sound')
        return isRecorded ? null : { kind: isPassing(error) ? 'again' : 'failed', error }
      } catch (again) {
        if (client !== null) release(client, 'broken')
        if (performance.now() < until && isPassing(again)) await pause()
        else return { kind: 'failed', error: unclear(this.#options.schema, error) }
      }
    }
  }

  #keep(turn: PostgresTurn): void {
    for (const settled of turn.settle()) {
      const { name, id, storedSize } = settled.state
      // The server numbers new streams: the next turn reads which number it was.
      if (id !== NEW_STREAM) this.#states.set(name, settled)
      this.#trusted.set(name, storedSize)
      this.#options.onGrown?.(name, storedSize)
    }
    for (const name of this.#states.keys()) {
      if (this.#states.size <= STATES_MAX) break
      this.#states.delete(name)
    }
  }
}

interface Asked {
  readonly streams: readonly string[]
  readonly calls: readonly AppendCall[]
  /** A short turn whose statement was sent, and not answered. */
  doubt: { readonly turn: PostgresTurn; readonly error: unknown } | null
}

type Outcome =
  | { readonly kind: 'done'; readonly answers: readonly AppendOutcome[] }
  | { readonly kind: 'again'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }

function takeBatch(queue: Queued[]): readonly Queued[] {
  let [calls, drafts] = [0, 0]
  for (const { call } of queue) {
    drafts += call.drafts.length
    if (calls > 0 && (drafts > DRAFTS_MAX || call.rotateTo !== undefined)) break
    calls++
    if (call.rotateTo !== undefined) break
  }
  return queue.splice(0, calls)
}

function busy(waitedMs: number, cause: unknown): FaultError {
  return new FaultError(fault('ledger.busy', '', { waitedMs }), { cause })
}

function unclear(at: string, cause: unknown): FaultError {
  return new FaultError(fault('ledger.unclear', at, null), { cause })
}

function gather(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, GATHER_MS))
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())))
}
