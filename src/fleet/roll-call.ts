/**
 * Which workers are alive. Each holds a lock of its session on the server as long as it lives: when it
 * dies, or its machine does, the server drops the lock, and another worker gives its jobs back. No clock
 * and no pause of a busy machine takes a job from a worker that is alive.
 */
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { HomeServer } from '../store/index.ts'
import { jobsSchema, lockName } from './jobs.ts'

interface WorkerWords {
  readonly machine: string
  readonly labels: readonly string[]
  readonly version: string
}

const LOOK_MS = 1_000
/**
 * So many looks the session of the guard may owe an answer. They are counted and not timed: the process may
 * have been stopped meanwhile, and then the answer lies there.
 */
const UNANSWERED_MAX = 15
/** How often jobs are looked for that no worker on the roll has. */
const ORPHANS_MS = 5_000
/** A job that failed is tried again after this time at the latest. */
const PAUSE_MS_MAX = 60_000
/** Of the others, each look takes some: every worker is looked at now and then, however many there are. */
const LOOKED_AT = 8

export class RollCall {
  readonly #pool: Pool
  readonly #server: Pick<HomeServer, 'schema'>
  readonly #words: WorkerWords
  readonly #worker = randomUUID()
  readonly #ids = new Set<string>()
  readonly #alone = new Set<string>()
  #guard: PoolClient | null = null
  /** Null where the guard has answered. */
  #unanswered: number | null = null
  #sweptMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> = Promise.resolve()
  #tellLost: () => void = () => undefined
  /** Resolves when the server has dropped the lock: its jobs may be given to others. */
  readonly lost: Promise<void>

  constructor(pool: Pool, server: Pick<HomeServer, 'schema'>, words: WorkerWords) {
    this.#pool = pool
    this.#server = server
    this.#words = words
    this.lost = new Promise((resolve) => {
      this.#tellLost = resolve
    })
  }

  /** Notes a name under which the engine locks jobs for this worker; before `start`. */
  add(id: string): void {
    this.#ids.add(id)
  }

  /** Takes the lock, then looks after the others; calls `onTick` after each look. */
  async start(onTick: () => Promise<void>): Promise<void> {
    await this.#enter()
    this.#timer = setInterval(() => {
      this.#askGuard()
      this.#looking = this.#looking
        .then(() => this.#look())
        .catch(ignore)
        .then(onTick)
    }, LOOK_MS)
  }

  /**
   * Does what one worker of all does at a time; null if one does it now. The server gives the lock to
   * others when this worker dies.
   */
  async alone<T>(name: string, work: () => Promise<T>): Promise<{ readonly value: T } | null> {
    const guard = this.#guard
    // A session of the server that has the lock would be given it a second time.
    if (guard === null || this.#alone.has(name)) return null
    const lock = [lockName(this.#server, name)]
    this.#alone.add(name)
    try {
      const { rows } = await guard.query<{ free: boolean }>(
        'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS free',
        lock,
      )
      if (rows[0]?.free !== true) return null
      try {
        return { value: await work() }
      } finally {
        await guard.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', lock).catch(ignore)
      }
    } finally {
      this.#alone.delete(name)
    }
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#looking
    const { schema } = this.#server
    await this.#pool.query(`SELECT ${schema}.drop_worker($1)`, [this.#worker]).catch(ignore)
    this.#guard?.release(true)
    this.#guard = null
  }

  async #enter(): Promise<void> {
    const client = await this.#pool.connect()
    client.once('error', () => this.#tellLost())
    client.once('end', () => this.#tellLost())
    this.#guard = client
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [
      lockName(this.#server, `worker/${this.#worker}`),
    ])
    const { machine, labels, version } = this.#words
    await client.query(`SELECT ${this.#server.schema}.put_worker($1, $2, $3, $4, $5)`, [
      this.#worker,
      machine,
      labels,
      version,
      [...this.#ids],
    ])
  }

  /**
   * Asks whether the session of the guard is still there. The network may drop it without a word, and then
   * the server has dropped the lock, too.
   */
  #askGuard(): void {
    if (this.#guard === null) return
    if (this.#unanswered !== null) {
      if (++this.#unanswered <= UNANSWERED_MAX) return
      // Its queries fail now, and nothing waits for them when the worker ends.
      this.#guard.release(true)
      this.#guard = null
      this.#tellLost()
      return
    }
    this.#unanswered = 0
    const answered = (): void => {
      this.#unanswered = null
    }
    this.#guard.query('SELECT').then(answered, () => this.#tellLost())
  }

  async #look(): Promise<void> {
    const { schema } = this.#server
    const { rows } = await this.#pool.query<{ worker: string; ids: string[] }>(
      `SELECT worker, ids FROM ${schema}.workers WHERE worker <> $1 ORDER BY random() LIMIT ${LOOKED_AT}`,
      [this.#worker],
    )
    for (const { worker, ids } of rows) await this.#reap(worker, ids)
    if (performance.now() - this.#sweptMs < ORPHANS_MS) return
    this.#sweptMs = performance.now()
    await this.#sweep()
  }

  /** Mends what no worker mends by itself; many workers may do it at a time. */
  async #sweep(): Promise<void> {
    const jobs = jobsSchema(this.#server)
    const table = `${jobs}._private_jobs`
    // Jobs of names that are not on the roll are given back. A worker takes none before its own names are;
    // one that lost its lock may have taken some after its names had gone, and died then.
    await this.#pool.query(
      `SELECT ${jobs}.force_unlock_workers(ids) FROM (SELECT array_agg(DISTINCT locked_by) AS ids
        FROM ${table} WHERE locked_at < now() - interval '${ORPHANS_MS} milliseconds'
          AND locked_by <> ALL (SELECT unnest(ids) FROM ${this.#server.schema}.workers)) AS lost
        WHERE ids IS NOT NULL`,
    )
    // A job that was added again while a worker had it lost its key and its tries: where the worker died,
    // it would be listed as stuck for ever. The server reads not every payload as JSON.
    await this.#pool.query(
      `DELETE FROM ${table} WHERE locked_at IS NULL AND key IS NULL AND attempts >= max_attempts
        AND task_id IN (SELECT id FROM ${jobs}._private_tasks WHERE identifier ~ '^run(@|$)')
        AND position('"order"' IN payload::text) = 0`,
    )
    // The engine waits longer after each failure, up to six hours.
    const latest = `now() + interval '${PAUSE_MS_MAX} milliseconds'`
    await this.#pool.query(
      `SELECT ${jobs}.reschedule_jobs(ids, run_at := ${latest}) FROM (SELECT array_agg(id) AS ids
        FROM ${table} WHERE locked_at IS NULL AND attempts > 0 AND attempts < max_attempts
          AND last_error IS NOT NULL AND run_at > ${latest}) AS late WHERE ids IS NOT NULL`,
    )
  }

  /** Gives back the jobs of a worker whose lock is free. */
  async #reap(worker: string, ids: readonly string[]): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await client.query('BEGIN')
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS free',
        [lockName(this.#server, `worker/${worker}`)],
      )
      if (rows[0]?.free === true) {
        await client.query(`SELECT ${jobsSchema(this.#server)}.force_unlock_workers($1)`, [ids])
        await client.query(`SELECT ${this.#server.schema}.drop_worker($1)`, [worker])
      }
      await client.query('COMMIT')
      client.release()
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}

function ignore(): void {
  // The server may be away for a while; the next look finds what came meanwhile.
}
