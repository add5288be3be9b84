/**
 * `writ worker …`: takes jobs of a home from its PostgreSQL server, on any number of machines.
 * `prepare` makes the tables of jobs, `list` shows workers and what waits, `retry` lets a failed job
 * try again, `drop` removes one.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { faultError, showName } from '../../base/index.ts'
import { isHaltedNow } from '../../dispatch/index.ts'
import {
  addRun,
  dropJob,
  findingOf,
  prepareJobs,
  retryJob,
  seenJobs,
  seenWorkers,
  serverOf,
  startWorker,
  type WorkerNews,
} from '../../fleet/index.ts'
import { readSecret, stateRoot } from '../../home/index.ts'
import { type Caller, MAIN_STREAM } from '../../ledger/index.ts'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import { look } from '../../notifications/index.ts'
import { type FlowHost, machineOf } from '../../runs/index.ts'
import { type RunQueue, runSchedules } from '../../schedules/index.ts'
import { HostedHome } from '../../server/index.ts'
import { ancestorNames, type GateSurface } from '../../service/index.ts'
import { machineNamer } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { requireHuman, requireWholeHost, type Session, withHome } from '../call/home.ts'
import { signalled } from '../call/listening.ts'
import { surroundings } from '../call/terminal.ts'
import { moreText } from '../flow/queued.ts'
import { isLabel } from '../history/option-values.ts'
import { plain, table } from '../history/text.ts'
import { runOwnLoop } from '../hooks/own-loop.ts'

const CONCURRENCY = 4
const CONCURRENCY_MAX = 64

/** `writ worker`: takes jobs until a signal ends it, or the server has lost facts. */
export async function run(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  const around = surroundings()
  if (around.env['WRIT_TOKEN'] !== undefined) {
    const message = 'a worker acts for the humans of the home, and `WRIT_TOKEN` is set'
    throw faultError('principal.not_human', '', message, 'call without `WRIT_TOKEN`')
  }
  const labels = labelsOption(call)
  const concurrency = concurrencyOption(call)
  const home = await HostedHome.open(around, options.text('home'), ancestorNames())
  process.on('unhandledRejection', tolerate)
  const isJson = options.isOn('json') || options.isOn('jsonl')
  const tell = (news: WorkerNews): void => {
    void terminal.out(`${isJson ? JSON.stringify(news) : newsText(news)}\n`)
  }
  try {
    const server = serverOf(home.ledger)
    const hosts = new WorkerHosts(home)
    const queue: RunQueue = {
      start: (run, { flow_digest: flow, participants_digest: participants, workspace }) =>
        addRun(server, { run, stream: MAIN_STREAM, begin: { flow, participants, workspace } }),
      resume: async (run) => {
        const machine = await machineOf(home.ledger, run)
        await addRun(server, { run, stream: MAIN_STREAM }, { machine })
      },
    }
    const worker = await startWorker({
      home: home.home,
      ledger: home.ledger,
      server,
      labels,
      concurrency,
      version: ownVersion(),
      withHost: (stream, work) => hosts.withHost(stream, work),
      proposals: {
        register: () => home.register(),
        withGate: ({ caller, stream, agent, take }, work) =>
          home.withGate(caller, stream, work, take, agent === null ? [] : [agent]),
      },
      lasting: call.options.isOn('dispatch')
        ? { dispatch: (stop) => dispatchTasks(call, home, stop) }
        : {},
      minutely: {
        schedules: () => hosts.withHost(MAIN_STREAM, (host) => lookAtSchedules(host, queue)),
        notices: () => hosts.tellPeople(),
      },
      tell,
    })
    const ended = worker.ended.then(() => EXIT.yes)
    const stopped = signalled().then(() => EXIT.yes)
    const exit = await Promise.race([ended, stopped])
    await worker.stop()
    return exit
  } finally {
    await home.close()
  }
}

/**
 * The engine leaves promises alone that fail while the server is away; the worker begins again then.
 * Everything else is a bug and ends the process.
 */
function tolerate(error: unknown): void {
  const { code } = error as { readonly code?: unknown } // Of an error of the system or the server.
  const isOfServer =
    (typeof code === 'string' && SERVER_AWAY.test(code)) ||
    /Connection terminated|not queryable|after calling end/i.test(String(error))
  if (!isOfServer) throw error
}

/** No connection (the system's names, SQLSTATE class 08), or the server stops or starts (57P). */
const SERVER_AWAY =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3}|57P\w{2})$/

/** A process of its own holds the client of the brokers, and ends with this one. */
function dispatchTasks({ terminal }: CommandCall, { home }: HostedHome, stop: AbortSignal) {
  const argv = ['dispatch', 'run', '--attached', '--jsonl', `--home=${home.directory}`]
  return runOwnLoop(argv, dirname(home.directory), (line) => void terminal.out(`${line}\n`), stop)
}

async function lookAtSchedules(host: FlowHost, queue: RunQueue): Promise<void> {
  await runSchedules(host, { once: true, tell: () => undefined, queue })
}

/** What jobs are given of this machine: a gate in the name of the home's human, who is asked nothing. */
class WorkerHosts {
  readonly #home: HostedHome

  constructor(home: HostedHome) {
    this.#home = home
  }

  async withHost<T>(stream: string, work: (host: FlowHost) => Promise<T>): Promise<T> {
    const { home, ledger } = this.#home
    const { caller, namespace } = await this.#human()
    return this.#home.withGate(caller, stream, (gate) =>
      work({
        home,
        ledger,
        stream,
        principal: caller.principal,
        namespace,
        attempts: gate.attempts,
        rollback: (actionId, run) => gate.rollback({ actionId }, { dryRun: false, run }),
        confirm: async () => ({ kind: 'wait' }),
        environment: process.env,
        clock: SYSTEM_CLOCK,
        isHalted: () => gate.isHalted(),
      }),
    )
  }

  async #human(): Promise<{ readonly caller: Caller; readonly namespace: string }> {
    const { owner } = await this.#home.register()
    if (owner === null) throw faultError('principal.unknown', '', 'the home has no human')
    const caller: Caller = { principal: owner, streams: null, proof: 'none' }
    return { caller, namespace: owner.namespace }
  }

  /** Tells people of questions that wait, by the ways that the laws name (N-1). */
  async tellPeople(): Promise<void> {
    const { home, ledger } = this.#home
    const { caller } = await this.#human()
    const root = stateRoot(surroundings())
    const notice = (gate: GateSurface) => ({
      gate,
      ledger,
      stream: MAIN_STREAM,
      principal: caller.principal,
      workspace: dirname(home.directory),
      secretOf: (name: string) => process.env[name] ?? readSecret(root, name),
      nowMs: Date.now,
      console: null,
    })
    await this.#home.withGate(caller, MAIN_STREAM, async (gate) => {
      await look(notice(gate), () => undefined)
    })
  }
}

function labelsOption({ options }: CommandCall): readonly string[] {
  const labels = (options.text('labels') ?? '').split(',').filter((label) => label !== '')
  const wrong = labels.find((label) => !isLabel(label))
  if (wrong === undefined) return labels
  throw usageError(`${showName(wrong)} is no label`, 'writ worker --labels linux,gpu,repo:shop')
}

function concurrencyOption({ options }: CommandCall): number {
  const given = options.text('concurrency')
  const count = given === null ? CONCURRENCY : Number(given)
  if (Number.isInteger(count) && count >= 1 && count <= CONCURRENCY_MAX) return count
  throw usageError(`\`--concurrency\` is a whole number from 1 to ${CONCURRENCY_MAX}`)
}

function ownVersion(): string {
  const file = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'package.json')
  // The package's own file.
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}

function newsText({ kind, at, task, run, action, status, code, message }: WorkerNews): string {
  const parts = [at, kind.replace('_', ' '), task, run, action, status, message, code]
  return plain(parts.filter((part) => part !== undefined).join('  '))
}

/** `writ worker prepare`: the tables of jobs, made by the role that owns those of the home. */
export async function prepare(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'preparing workers')
    await prepareJobs(serverOf(session.ledger), call.options.text('store-owner') ?? undefined)
    return reply(call, { ok: true }, (paint) => `${paint.good('prepared')}  writ worker\n`)
  })
}

const HALTED_WORDS = 'workers begin nothing until `writ resume`; jobs wait, and no try is used up'

/** `writ worker list`: the workers that are alive, and the jobs that wait or failed, with the reason. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHome(call, async ({ home: { state }, ledger, caller }) => {
    requireWholeHost(caller, 'listing workers')
    const server = serverOf(ledger)
    const nameOf = await machineNamer(ledger)
    const [found, seen] = [await seenWorkers(server), await seenJobs(server)]
    const workers = found.map((one) => ({ ...one, machine_name: nameOf(one.machine) }))
    const halted = await isHaltedNow({ ledger, state })
    const terms = { nameOf, isHalted: halted }
    const jobs = seen.jobs.map((job) => ({ ...job, finding: findingOf(job, workers, terms) }))
    const isWaiting = jobs.some(({ finding }) => finding !== null)
    await reply(call, { workers, jobs, more: seen.more, halted }, (paint) => {
      const rows = workers.map((one) => [
        one.worker,
        one.machine_name,
        one.labels.join(' '),
        one.version,
      ])
      const waiting = jobs.map((one) => [
        one.id,
        plain(one.run ?? one.action ?? one.task),
        one.state,
        plain(one.finding ?? ''),
        one.state === 'stuck' ? `writ worker retry ${one.id}` : '',
      ])
      const heads = ['worker', 'machine', 'labels', 'version']
      const jobHeads = ['job', 'about', 'state', 'why', 'to try again']
      const note = halted ? `${paint.bad('halted')}  ${HALTED_WORDS}\n` : ''
      const queued = waiting.length === 0 ? '' : table(call.terminal, jobHeads, waiting)
      return `${note}${table(call.terminal, heads, rows)}${queued}${moreText(seen.more)}`
    })
    return isWaiting ? EXIT.waiting : EXIT.yes
  })
}

/** `writ worker retry JOB`. */
export function retry(call: CommandCall): Promise<Exit> {
  return changeNamed(call, ({ ledger }, id) => retryJob(serverOf(ledger), id), [
    'letting a job try again',
    'tries again',
  ])
}

/** `writ worker drop JOB`. */
export function drop(call: CommandCall): Promise<Exit> {
  return changeNamed(call, removeJob, ['removing a job', 'removed'])
}

function removeJob({ ledger, caller }: Session, id: string): Promise<boolean> {
  return dropJob(serverOf(ledger), ledger, id, { principal: caller.principal })
}

async function changeNamed(
  call: CommandCall,
  change: (session: Session, id: string) => Promise<boolean>,
  [what, done]: readonly [string, string],
): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || others.length > 0 || !/^\d{1,18}$/.test(id)) {
    throw usageError('name one job by its number', 'writ worker list')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, what)
    if (!(await change(session, id))) {
      const message = `there is no job ${showName(id)} that a worker does not have`
      throw faultError('machine.job', id, message, '`writ worker list` names the jobs')
    }
    return reply(call, { job: id }, (paint) => `${paint.good(done)}  ${id}\n`)
  })
}
