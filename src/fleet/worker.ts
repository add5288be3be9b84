/**
 * A worker: takes jobs of a home from its PostgreSQL server and does them on this machine.
 *
 * INVARIANT (one outcome): a job that is done twice records nothing twice: facts of a run have the keys
 *   `flow/<run>/<seq>`, and one process of a machine walks a run at a time.
 * INVARIANT (nothing left behind): a job is done only when its run has ended, waits for a person, or has
 *   another job for the time that it waits for.
 */
import { EventEmitter } from 'node:events'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Job, Runner, Task, TaskList } from 'graphile-worker'
import { FaultError, fault, faultCode, faultError, showName } from '../base/index.ts'
import type { Home } from '../home/index.ts'
import {
  type FlowHost,
  hasBegun,
  labelsOf,
  leaveOrder,
  machineOf,
  nextTimer,
  type Order,
  resumeRun,
  startRun,
  type WalkedRun,
} from '../runs/index.ts'
import { pinnedFlow } from '../schedules/index.ts'
import { type HomeServer, type Ledger, postgresFailure } from '../store/index.ts'
import {
  addAgain,
  checkPrepared,
  formatLabels,
  JOB_FORMAT,
  jobsSchema,
  leaveToNewer,
  orderId,
  type RunJob,
  refuseForged,
  signedLabels,
  taskOf,
  workspaceLabel,
} from './jobs.ts'
import { RollCall } from './roll-call.ts'

/** What a worker tells of. */
export interface WorkerNews {
  readonly kind: 'ready' | 'taken' | 'done' | 'failed' | 'passed_on' | 'away' | 'back'
  readonly at: string
  readonly task?: string
  readonly run?: string
  readonly status?: string
  readonly code?: string
  readonly message?: string
}

interface WorkerOptions {
  readonly home: Home
  readonly ledger: Ledger
  readonly server: HomeServer
  readonly labels: readonly string[]
  readonly concurrency: number
  readonly version: string
  /** Opens the gate of a stream for one job. */
  readonly withHost: <T>(stream: string, work: (host: FlowHost) => Promise<T>) => Promise<T>
  /** What the worker does every minute, one of all workers at a time. */
  readonly minutely: Readonly<Record<string, () => Promise<void>>>
  readonly tell: (news: WorkerNews) => void
}

interface Worker {
  /** Takes no more jobs, gives back those under way, and ends. */
  stop(): Promise<void>
  /** Fails if the worker cannot go on. */
  readonly ended: Promise<void>
}

/** The engine looks by itself now and then, where a message of the server was lost. */
const POLL_MS = 1_000
/** How often the ledger is compared with what this machine has seen. */
const COMPARE_MS = 5_000
const FLAGS_MS = 1_000
/** Where nothing is wrong with a job itself: how long it rests before it is done again. */
const RESTS_MS: Readonly<Record<string, number>> = {
  // This worker ends.
  'flow.interrupted': 0,
  // Another process walks the run.
  'flow.taken': 2_000,
  // The server is away, or others held a turn for too long.
  'ledger.unreachable': 2_000,
  'ledger.busy': 2_000,
}
const SERVER_CODES: ReadonlySet<string> = new Set(['ledger.unreachable', 'ledger.busy'])
/** A worker that ends waits as long for a server that is away; then its jobs are given back by others. */
const LAST_MS = 3_000
const AGAIN_MS = 500
/** Before a worker begins again that the server dropped. */
const REST_MS = 500

/** Starts a worker; fails if it cannot begin. Where the server is away later, it waits and begins again. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const stop = new AbortController()
  const watch = new LedgerWatch(options)
  const first = await openSession(options, watch).catch((error: unknown) => {
    throw postgresFailure(error, options.server.schema)
  })
  options.tell({ kind: 'ready', at: now() })
  const working = keepWorking(options, { first, watch, stop: stop.signal })
  working.catch(() => undefined)
  const end = async (): Promise<void> => {
    stop.abort()
    await working.catch(() => undefined)
  }
  return { stop: end, ended: working }
}

interface WorkerCourse {
  readonly first: WorkerSession
  readonly watch: LedgerWatch
  readonly stop: AbortSignal
}

async function keepWorking(
  options: WorkerOptions,
  { first, watch, stop }: WorkerCourse,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
  for (let session: WorkerSession | null = first; !stop.aborted; ) {
    try {
      session ??= await openSession(options, watch)
      await Promise.race([session.broken, watch.failed, stopped])
    } catch (error) {
      if (isLasting(error)) throw error
      watch.noteAway(error)
    } finally {
      await session?.close()
      session = null
    }
    await Promise.race([pause(REST_MS), stopped])
  }
}

/** A worker while its connection to the server lasts. */
interface WorkerSession {
  /** Resolves when the server dropped it: what it works on may be given to another worker. */
  readonly broken: Promise<unknown>
  /** Ends the walks under way; their jobs are given back. */
  close(): Promise<void>
}

async function openSession(options: WorkerOptions, watch: LedgerWatch): Promise<WorkerSession> {
  const { server, concurrency, minutely } = options
  // The engine is in the script of workers alone: other commands use the rest of this room.
  const { Logger, run: startRunner } = await import('graphile-worker')
  // The engine would make its tables itself, without the rights of the home's owner.
  await checkPrepared(server)
  const machine = await options.ledger.machine()
  const pool = await server.openPool(concurrency + 5)
  const place = workspaceLabel(dirname(options.home.directory))
  const labels = [...options.labels, place, ...formatLabels()]
  const roll = new RollCall(pool, server, { machine, labels, version: options.version })
  const stop = new AbortController()
  const flags = new ForeignFlags(server, labels)
  const jobs = new WorkerJobs(options, { machine, labels, flags, stop: stop.signal })
  let runner: Runner | null = null
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const close = async (): Promise<void> => {
    stop.abort(faultError('flow.interrupted', '', 'the worker ends; another one goes on'))
    const stopped = runner?.stop().catch(() => undefined)
    begin()
    await stopped
    await roll.stop()
    await pool.end().catch(() => undefined)
  }
  try {
    runner = await startRunner({
      pgPool: pool,
      schema: jobsSchema(server),
      concurrency,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: new Logger(() => () => undefined),
      events: namesInto(roll),
      taskList: jobs.tasks(),
      crontab: Object.keys(minutely)
        .map((name) => `* * * * * ${name} ?max=1&jobKey=${name}&queue=${name}`)
        .join('\n'),
      // Asked before every job: none is taken before the roll has the names that it is locked by.
      forbiddenFlags: () => begun.then(() => flags.read()),
    })
    await roll.start(() => watch.look())
    begin()
    return { broken: Promise.race([roll.lost, runner.promise.catch(() => undefined)]), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Tells the roll under which names the engine locks jobs. */
function namesInto(roll: RollCall): EventEmitter {
  const events = new EventEmitter()
  events.on('pool:create', ({ workerPool }: { readonly workerPool: { readonly id: string } }) =>
    roll.add(workerPool.id),
  )
  events.on('worker:create', ({ worker }: { readonly worker: { readonly workerId: string } }) =>
    roll.add(worker.workerId),
  )
  return events
}

/** Labels that jobs ask for and this worker does not have; the engine leaves those jobs to others. */
class ForeignFlags {
  readonly #server: HomeServer
  readonly #labels: readonly string[]
  #known: string[] = []
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(server: HomeServer, labels: readonly string[]) {
    this.#server = server
    this.#labels = labels
  }

  /** Asked before every job: looks at most once a second. */
  async read(): Promise<string[]> {
    if (performance.now() - this.#lookedMs < FLAGS_MS) return this.#known
    this.#lookedMs = performance.now()
    const { rows } = await this.#server.queries.query<{ flag: string }>(
      `SELECT DISTINCT flag FROM ${jobsSchema(this.#server)}._private_jobs AS job,
        jsonb_object_keys(job.flags) AS flag WHERE job.flags IS NOT NULL`,
    )
    this.#known = rows.map(({ flag }) => flag).filter((flag) => !this.#labels.includes(flag))
    return this.#known
  }

  /** Returns whether a job asks for more than this worker has. It came before the last look. */
  isForeign(flags: readonly string[]): boolean {
    const foreign = flags.filter((flag) => !this.#labels.includes(flag))
    this.#known = [...new Set([...this.#known, ...foreign])]
    return foreign.length > 0
  }
}

/** Looks whether the server still has what this machine has seen. */
class LedgerWatch {
  readonly #options: WorkerOptions
  #comparedMs = Number.NEGATIVE_INFINITY
  #isAway = false
  #fail: (error: unknown) => void = () => undefined
  readonly failed: Promise<never>

  constructor(options: WorkerOptions) {
    this.#options = options
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => undefined)
  }

  async look(): Promise<void> {
    if (performance.now() - this.#comparedMs < COMPARE_MS) return
    this.#comparedMs = performance.now()
    try {
      await this.#options.ledger.compareHeads()
      if (this.#isAway) this.#options.tell({ kind: 'back', at: now() })
      this.#isAway = false
    } catch (error) {
      if (isLasting(error)) return this.#fail(error)
      this.noteAway(error)
    }
  }

  /** Tells once that the server is away. */
  noteAway(error: unknown): void {
    if (!this.#isAway) this.#options.tell({ kind: 'away', at: now(), ...wordsOf(error) })
    this.#isAway = true
  }
}

interface WorkerPlace {
  readonly machine: string
  readonly labels: readonly string[]
  readonly flags: ForeignFlags
  readonly stop: AbortSignal
}

class WorkerJobs {
  readonly #options: WorkerOptions
  readonly #place: WorkerPlace

  constructor(options: WorkerOptions, place: WorkerPlace) {
    this.#options = options
    this.#place = place
  }

  /** The jobs that any machine can do, and those of this one. */
  tasks(): TaskList {
    const { minutely } = this.#options
    const run: Task = (payload, { job }) => this.#told(payload, job)
    const repeated = Object.entries(minutely).map(([name, work]) => [name, work] as const)
    return { run, [taskOf('run', this.#place.machine)]: run, ...Object.fromEntries(repeated) }
  }

  async #told(payload: unknown, job: Job): Promise<void> {
    const { tell, server } = this.#options
    const task = 'run'
    const labels = Object.keys(job.flags ?? {})
    const given = payload as RunJob & { readonly v: unknown } // Jobs of this task are made by `addRun`.
    const { v, run } = given
    tell({ kind: 'taken', at: now(), task, run })
    try {
      if (v !== JOB_FORMAT) {
        if (typeof v !== 'number' || v < JOB_FORMAT) throw newerJob(v)
        this.#place.flags.isForeign(formatLabels(v))
        const left = { task: job.task_identifier, payload, key: job.key, labels }
        await leaveToNewer(server, left, v)
        return tell({ kind: 'passed_on', at: now(), task, run, ...wordsOf(newerJob(v)) })
      }
      const status = await this.#walk(given, labels)
      tell({
        kind: status === null ? 'passed_on' : 'done',
        at: now(),
        task,
        run,
        ...(status === null ? {} : { status }),
      })
    } catch (error) {
      if (await this.#passOn(given, job, error)) {
        return tell({ kind: 'passed_on', at: now(), task, run, ...wordsOf(error) })
      }
      tell({ kind: 'failed', at: now(), task, run, ...wordsOf(error) })
      // The engine keeps the message for people; a stack says nothing to them.
      throw Object.assign(new Error(failureText(error)), { stack: '' })
    }
  }

  /**
   * Adds the job again where nothing is wrong with it: this worker ends, another process walks the run at
   * the moment, or the server is away. A failure of a job uses up a try and makes it wait longer each time,
   * and these may come often.
   */
  async #passOn(given: RunJob, { id, flags }: Job, error: unknown): Promise<boolean> {
    const code = faultCode(error) ?? ''
    const restMs = RESTS_MS[code]
    if (restMs === undefined) return false
    const { run, stream, order } = given
    // Where the server answered, what a person said was left to the run before it was walked.
    const isLeft = order !== undefined && !SERVER_CODES.has(code)
    const job = isLeft ? { run, stream } : given
    const { server, ledger } = this.#options
    for (let endMs = Number.POSITIVE_INFINITY; performance.now() < endMs; await pause(AGAIN_MS)) {
      try {
        const machine = await machineOf(ledger, run)
        const at = new Date(Date.now() + restMs)
        const labels = Object.keys(flags ?? {})
        await addAgain(server, job, { machine, at, labels, after: id })
        return true
      } catch {
        // The server is away.
        if (this.#place.stop.aborted) endMs = Math.min(endMs, performance.now() + LAST_MS)
      }
    }
    return false
  }

  /** Begins the run, or goes on with it. Null where another machine has to. */
  async #walk(job: RunJob, flags: readonly string[]): Promise<string | null> {
    const { ledger, server, withHost } = this.#options
    await refuseForged(server, job)
    const labels = [...flags, ...(await this.#neededBy(job))]
    if (this.#place.flags.isForeign(labels)) {
      await addAgain(server, job, { labels })
      return null
    }
    const bound = await machineOf(ledger, job.run)
    if (bound !== null && bound !== this.#place.machine) {
      await addAgain(server, job, { machine: bound })
      return null
    }
    return withHost(job.stream, async (host) => {
      if (job.order !== undefined) leaveOnce(host, job, orderId(server, job))
      const walked = await this.#goOn(host, job)
      await this.#comeBack(walked, job)
      return walked.status
    })
  }

  /** What the signed words of a job, and the flow that they name, ask of the worker that begins the run. */
  async #neededBy(job: RunJob): Promise<readonly string[]> {
    if (job.begin === undefined) return []
    const flow = await pinnedFlow(this.#options.ledger, job.begin.flow)
    return [...signedLabels(job), ...(flow === null ? [] : labelsOf(flow))]
  }

  async #goOn(host: FlowHost, { run, begin }: RunJob): Promise<WalkedRun> {
    const watching = { abort: this.#place.stop }
    if (await hasBegun(host, run)) return resumeRun(host, run, watching)
    if (begin === undefined) throw faultError('flow.unknown_run', run)
    const flow = await pinnedFlow(host.ledger, begin.flow)
    if (flow === null) throw faultError('flow.flow_missing', begin.flow)
    const { workspace, participants: participantsDigest } = begin
    return startRun(host, { flow, workspace, participantsDigest, runId: run, ...watching })
  }

  /** A run that waits for a time has a job for it: that survives the death of any process. */
  async #comeBack({ state }: WalkedRun, { run, stream }: RunJob): Promise<void> {
    const until = state.ended === null ? nextTimer(state) : null
    if (until === null) return
    const { machine } = this.#place
    await addAgain(this.#options.server, { run, stream }, { machine, at: new Date(until) })
  }
}

/** The server lost facts, or a newer writ changed its tables: waiting does not help. */
function isLasting(error: unknown): boolean {
  return ['ledger.truncated', 'ledger.version'].includes(faultCode(error) ?? '')
}

/** A job that is done again, or copied, has left its order before: the first one counts. */
function leaveOnce(host: FlowHost, { run, order }: RunJob, id: string): void {
  try {
    leaveOrder(host, run, order as Order, id) // `orderOf` looks at it when it is taken.
  } catch (error) {
    if (faultCode(error) !== 'flow.not_waiting') throw error
  }
}

function newerJob(found: unknown): Error {
  const message = `the job has the format ${showName(String(found))}, and this writ knows ${JOB_FORMAT}`
  const hint = 'install the writ that made the job here, too'
  const details = { found: Number(found), known: JOB_FORMAT }
  return new FaultError(fault('ledger.version', '', details, { message, hint }))
}

function wordsOf(error: unknown): { readonly code?: string; readonly message: string } {
  const code = faultCode(error)
  const message = error instanceof Error ? error.message : String(error)
  return code === null ? { message } : { code, message }
}

function failureText(error: unknown): string {
  const { code, message } = wordsOf(error)
  return code === undefined ? message : `${message} (${code})`
}

function now(): string {
  return new Date().toISOString()
}
