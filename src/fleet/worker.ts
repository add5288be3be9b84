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
import { faultCode, faultError } from '../base/index.ts'
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
import { hasWorkspace, pinnedFlow } from '../schedules/index.ts'
import { connectionIn, type HomeServer, type Ledger, postgresFailure } from '../store/index.ts'
import {
  addAgain,
  checkPrepared,
  formatLabels,
  jobsSchema,
  orderId,
  type RunJob,
  refuseForged,
  sealedText,
  signedLabels,
  taskOf,
  workspaceIn,
  workspaceLabel,
} from './jobs.ts'
import { LastingWork } from './lasting-work.ts'
import { type ProposalHost, ProposalJobs } from './proposals.ts'
import { refuseRemoved } from './removed-job.ts'
import { RollCall } from './roll-call.ts'
import { withSealOfNow } from './seal-of-now.ts'
import {
  addPatiently,
  type MachineStanding,
  now,
  takeTurn,
  type WorkerNews,
  wordsOf,
} from './turn.ts'

interface WorkerOptions {
  readonly home: Home
  readonly ledger: Ledger
  readonly server: HomeServer
  readonly labels: readonly string[]
  readonly concurrency: number
  readonly version: string
  /** Opens the gate of a stream for one job. */
  readonly withHost: <T>(stream: string, work: (host: FlowHost) => Promise<T>) => Promise<T>
  readonly proposals: ProposalHost
  /** What the worker does as long as it lives, one of all workers at a time. */
  readonly lasting: Readonly<Record<string, (stop: AbortSignal) => Promise<void>>>
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
/** This machine was removed, or never let in. */
const OUT_CODES: ReadonlySet<string> = new Set(['machine.removed', 'machine.unknown'])
/** With any other code that makes a job rest, what a person said was left to the run before. */
const EARLY_CODES: ReadonlySet<string> = new Set([
  'ledger.unreachable',
  'ledger.busy',
  ...OUT_CODES,
])
/** Before a worker begins again that the server dropped. */
const REST_MS = 500

/** Starts a worker; fails if it cannot begin. Where the server is away later, it waits and begins again. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const stop = new AbortController()
  const watch = new LedgerWatch(options)
  const first = await openSession(options, watch).catch((error: unknown) => {
    const { schema, queries } = options.server
    throw postgresFailure(error, schema, connectionIn(queries))
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
  /**
   * Resolves when the server dropped it, for what it works on may be given to another worker; also when
   * this machine has another key, and with it another name.
   */
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
  const workspace = workspaceLabel(dirname(options.home.directory))
  const labels = [...options.labels, workspace, ...formatLabels()]
  const roll = new RollCall(pool, server, { machine, labels, version: options.version })
  const stop = new AbortController()
  const flags = new ForeignFlags(options, labels)
  const place = { machine, labels, flags, standing: watch, stop: stop.signal }
  const jobs = new WorkerJobs(options, place)
  const proposals = new ProposalJobs({ ...options, ...place, roll })
  const lasting = new LastingWork(options, roll, stop.signal)
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
    await lasting.ended()
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
      taskList: { ...jobs.tasks(), ...proposals.tasks() },
      crontab: Object.keys(minutely)
        .map((name) => `* * * * * ${name} ?max=1&jobKey=${name}&queue=${name}`)
        .join('\n'),
      // Asked before every job: none is taken before the roll has the names that it is locked by.
      forbiddenFlags: () => begun.then(() => flags.read()),
    })
    await roll.start(async () => {
      lasting.look()
      await watch.look()
    })
    begin()
    const ended = runner.promise.catch(() => undefined)
    return { broken: Promise.race([roll.lost, ended, watch.turnedFrom(machine)]), close }
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
  readonly #options: WorkerOptions
  readonly #labels: readonly string[]
  #known: string[] = []
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(options: WorkerOptions, labels: readonly string[]) {
    this.#options = options
    this.#labels = labels
  }

  /** Asked before every job: looks at most once a second. */
  async read(): Promise<string[]> {
    if (performance.now() - this.#lookedMs < FLAGS_MS) return this.#known
    this.#lookedMs = performance.now()
    const { server } = this.#options
    const { rows } = await server.queries.query<{ flag: string }>(
      `SELECT DISTINCT flag FROM ${jobsSchema(server)}._private_jobs AS job,
        jsonb_object_keys(CASE jsonb_typeof(job.flags) WHEN 'object' THEN job.flags END) AS flag`,
    )
    this.#known = rows.map(({ flag }) => flag).filter((flag) => !this.#has(flag))
    return this.#known
  }

  /** A directory below the workspace of the home is this machine's, too. */
  #has(label: string): boolean {
    if (this.#labels.includes(label)) return true
    const workspace = workspaceIn(label)
    return workspace !== null && hasWorkspace(this.#options, workspace)
  }

  /** Returns whether a job asks for more than this worker has. It came before the last look. */
  isForeign(flags: readonly string[]): boolean {
    const foreign = flags.filter((flag) => !this.#has(flag))
    this.#known = [...new Set([...this.#known, ...foreign])]
    return foreign.length > 0
  }
}

/** Looks whether the server still has what this machine has seen, and whether it may record. */
class LedgerWatch implements MachineStanding {
  readonly #options: WorkerOptions
  #comparedMs = Number.NEGATIVE_INFINITY
  #isAway = false
  #turn: { readonly from: string; readonly tell: () => void } | null = null
  #fail: (error: unknown) => void = () => undefined
  readonly failed: Promise<never>

  constructor(options: WorkerOptions) {
    this.#options = options
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => undefined)
  }

  turnedFrom(machine: string): Promise<void> {
    return new Promise((resolve) => {
      this.#turn = { from: machine, tell: resolve }
    })
  }

  async look(): Promise<void> {
    if (performance.now() - this.#comparedMs < COMPARE_MS) return
    this.#comparedMs = performance.now()
    try {
      const { ledger } = this.#options
      await ledger.compareHeads()
      if (this.#turn !== null && (await ledger.machine()) !== this.#turn.from) this.#turn.tell()
      if (this.#isAway) this.#options.tell({ kind: 'back', at: now() })
      this.#isAway = false
    } catch (error) {
      if (isLasting(error)) return this.#fail(error)
      this.noteAway(error)
    }
  }

  async isOut(error: unknown): Promise<boolean> {
    if (!OUT_CODES.has(faultCode(error) ?? '')) return false
    // A job that no machine signed has the same code.
    const own = await this.#options.ledger.machine().catch((reason: unknown) => reason)
    if (!OUT_CODES.has(faultCode(own) ?? '')) return false
    this.#fail(own)
    return true
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
  readonly standing: MachineStanding
  readonly stop: AbortSignal
}

interface Rest {
  readonly restMs: number
  readonly code: string
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
    const own = this.#options.ledger
      .machineNames()
      .map((name) => [taskOf('run', name), run] as const)
    return { run, ...Object.fromEntries([...own, ...repeated]) }
  }

  #told(payload: unknown, job: Job): Promise<void> {
    const { tell, server } = this.#options
    const given = (payload ?? {}) as RunJob // Jobs of this task are made by `addRun`.
    return takeTurn(
      { ...this.#place, tell, server },
      {
        words: { task: 'run', run: given.run },
        payload,
        job,
        work: (labels) => this.#walk(given, labels, job.id),
        again: (restMs, code) => this.#passOn(given, job, { restMs, code }),
      },
    )
  }

  /**
   * Adds the job again where nothing is wrong with it: this worker ends, another process walks the run at
   * the moment, everything is halted, or the server is away. A failure of a job uses up a try and makes it wait longer each time,
   * and these may come often.
   */
  async #passOn(given: RunJob, { id, flags }: Job, { restMs, code }: Rest): Promise<boolean> {
    const { run, stream, order } = given
    const isLeft = order !== undefined && !EARLY_CODES.has(code)
    const { server, ledger } = this.#options
    return addPatiently(this.#place.stop, async () => {
      const machine = await machineOf(ledger, run)
      const at = new Date(Date.now() + restMs)
      const isLook = isLeft || (await this.#isLook(given))
      const job = isLook ? { run, stream } : await withSealOfNow(server, given, id)
      const labels = isLook ? [] : Object.keys(flags ?? {})
      await addAgain(server, job, { machine, at, labels, after: id })
    })
  }

  /**
   * Returns whether a job that would begin a run finds it begun. It only asks to look at the run then, which
   * needs no signature and no labels: the machine that queued it may have another key by now.
   */
  async #isLook({ run, stream, begin, order }: RunJob): Promise<boolean> {
    if (begin === undefined || order !== undefined) return false
    return hasBegun({ ledger: this.#options.ledger, stream }, run)
  }

  /**
   * Returns the job as this worker does it, or the labels that it lacks for it. Fails if no machine that may sign
   * has signed the job, or a human removed it. Whether its run has begun is asked only where that decides.
   */
  async #accepted(
    given: RunJob,
    flags: readonly string[],
  ): Promise<RunJob | { readonly foreign: readonly string[] }> {
    const { server } = this.#options
    const look: RunJob = { run: given.run, stream: given.stream }
    try {
      await refuseForged(server, given)
      const text = sealedText(server, given)
      if (text !== null) await refuseRemoved(this.#options.ledger, text, given.run)
    } catch (error) {
      if (await this.#isLook(given)) return look
      throw error
    }
    const foreign = [...flags, ...(await this.#neededBy(given))]
    if (!this.#place.flags.isForeign(foreign)) return given
    return (await this.#isLook(given)) ? look : { foreign }
  }

  /** Begins the run, or goes on with it. Null where another machine has to. */
  async #walk(given: RunJob, flags: readonly string[], id: string): Promise<string | null> {
    const { ledger, server, withHost } = this.#options
    const job = await this.#accepted(given, flags)
    if ('foreign' in job) {
      const { foreign: labels } = job
      await addAgain(server, await withSealOfNow(server, given, id), { labels })
      return null
    }
    const bound = await machineOf(ledger, job.run)
    if (bound !== null && !ledger.machineNames().includes(bound)) {
      await addAgain(server, await withSealOfNow(server, job, id), { machine: bound })
      return null
    }
    // A run is bound before it begins, so what people say is left at the machine that walks it alone.
    if (job.order !== undefined && bound === null) throw faultError('flow.unknown_run', job.run)
    return withHost(job.stream, async (host) => {
      // `orderOf` looks at it when it is taken.
      if (job.order !== undefined)
        leaveOrder(host, job.run, JSON.parse(job.order) as Order, orderId(server, job))
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

/**
 * The server lost facts, has some that no machine signed, or other tables, or this machine may not record:
 * waiting does not help.
 */
function isLasting(error: unknown): boolean {
  const code = faultCode(error) ?? ''
  if (OUT_CODES.has(code)) return true
  return ['ledger.truncated', 'ledger.tampered', 'ledger.corrupt', 'ledger.version'].includes(code)
}
