/**
 * Schedules of a home on PostgreSQL: each time begins one run, although two machines look at once,
 * and also where the one that claimed it died.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Flow, ScheduleTerms } from '../../src/contracts/index.ts'
import { addRun, seenJobs, serverOf } from '../../src/fleet/index.ts'
import { compileFlow } from '../../src/flow/index.ts'
import { openHome } from '../../src/home/index.ts'
import type { FlowHost } from '../../src/runs/flow-host.ts'
import { hasBegun, lookAtRun } from '../../src/runs/index.ts'
import { runHeads } from '../../src/runs/run-records.ts'
import { pinFlow, pinnedFile } from '../../src/schedules/pinned.ts'
import {
  type RunQueue,
  ScheduleLoop,
  type ScheduleNews,
} from '../../src/schedules/schedule-loop.ts'
import {
  readSchedules,
  recordChange,
  type Schedule,
  slotsOf,
} from '../../src/schedules/schedule-records.ts'
import { troublesOf } from '../../src/schedules/trouble.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const NOON = Date.parse('2030-01-07T12:00:00.000Z')
const HOUR = 3_600_000
const TIMEOUT = { timeout: 240_000 }

let fleet: Fleet
let first: FleetMachine
let endpoint: Endpoint
let url = ''
let nowMs = NOON
const ledgers: Ledger[] = []
const hosts: FlowHost[] = []
const workers: WorkerProcess[] = []

async function hostOf(machine: FleetMachine, by: FleetMachine): Promise<FlowHost> {
  const { folder: userDirectory, env, project: cwd, name: userName } = machine
  const home = openHome({ cwd, env, userDirectory, userName }, null)
  const ledger = await openLedger({ directory: home.state })
  ledgers.push(ledger)
  const [{ id, namespace }] = by.must(['principal', 'list']).principals
  const principal = { kind: 'human', id, namespace } as const
  const clock = { nowMs: () => nowMs, elapsedMs: () => nowMs }
  const isHalted = async () => false
  // A loop that hands its runs to workers needs no gate.
  return {
    home,
    ledger,
    stream: 'main',
    principal,
    namespace,
    clock,
    isHalted,
  } as unknown as FlowHost
}

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  const second = fleet.joined(first, 'beta')
  for (const machine of [first, second]) hosts.push(await hostOf(machine, first))
  endpoint = workEndpoint(200)
  url = await endpoint.open()
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  for (const ledger of ledgers) await ledger.close()
  await endpoint.close()
  await fleet.stop()
})

async function setSchedule(host: FlowHost, name: string, at = url): Promise<void> {
  const file = writeFlow(first, name, at)
  const compiled = compileFlow(JSON.parse(readFileSync(file, 'utf8')) as Flow)
  if (!compiled.ok) throw new Error('the flow compiles')
  await pinFlow(host.ledger, compiled.flow)
  const terms: ScheduleTerms = {
    cron: '0 * * * *',
    zone: 'UTC',
    workspace: realpathSync(first.project),
    flow_id: name,
    title: '',
    flow_digest: compiled.flow.digest,
    participants_digest: null,
    files: [pinnedFile('flow', file)],
    missed: 'once',
    overlap: 'allow',
  }
  await recordChange(host, { name, change: 'set', at: new Date(nowMs).toISOString(), terms })
}

/** As a worker hands runs on. */
function queueOf({ ledger }: FlowHost): RunQueue {
  const server = serverOf(ledger)
  return {
    start: (run, { flow_digest: flow, participants_digest: participants, workspace }) =>
      addRun(server, { run, stream: 'main', begin: { flow, participants, workspace } }),
    resume: (run) => addRun(server, { run, stream: 'main' }),
  }
}

const look = (host: FlowHost, queue = queueOf(host)) =>
  new ScheduleLoop(host, { queue, tell: () => undefined }).look()

async function jobsOf(host: FlowHost): Promise<readonly string[]> {
  const { jobs } = await seenJobs(serverOf(host.ledger))
  return jobs.flatMap(({ run }) => run ?? []).sort()
}

async function claimedRuns(host: FlowHost, name: string): Promise<readonly string[]> {
  const slots = await slotsOf(host, name, 50)
  return slots.flatMap(({ kind, run_id }) => (kind === 'claimed' ? (run_id ?? []) : []))
}

async function isDone(host: FlowHost, run: string): Promise<boolean> {
  const status = await lookAtRun(host, run).catch(() => null)
  return status?.status === 'DONE'
}

it(
  'start one run at each time, although two machines look and a worker dies',
  TIMEOUT,
  async () => {
    const [host = null] = hosts
    if (host === null) throw new Error('no host')
    await setSchedule(host, 'hourly')
    for (let round = 1; round <= 4; round++) {
      nowMs = NOON + round * HOUR
      await Promise.all(hosts.map((one) => look(one)))
    }
    const runs = await claimedRuns(host, 'hourly')
    expect([runs.length, new Set(runs).size]).toEqual([4, 4])
    expect(await jobsOf(host)).toEqual([...runs].sort())
    const one = new WorkerProcess(first)
    workers.push(one)
    await one.until((news) => news.kind === 'taken')
    await one.kill()
    workers.push(new WorkerProcess(first))
    for (const run of runs) while (!(await isDone(host, run))) await pause(200)
    // The first fact of a run is written once, and no look begins another one.
    await Promise.all(hosts.map((other) => look(other)))
    const begun: string[] = []
    for await (const { run_id } of runHeads(host.ledger, 'main')) begun.push(run_id)
    expect(begun.sort()).toEqual([...runs].sort())
  },
)

it(
  'start the run that was claimed by a machine which died before it handed it on',
  TIMEOUT,
  async () => {
    const [host, other] = hosts
    if (host === undefined || other === undefined) throw new Error('no hosts')
    const at = new Date(nowMs).toISOString()
    await recordChange(host, { name: 'hourly', change: 'removed', at })
    await setSchedule(host, 'later')
    nowMs += HOUR
    const dying: RunQueue = { ...queueOf(host), start: () => Promise.reject(new Error('killed')) }
    await expect(look(host, dying)).rejects.toThrow('killed')
    const claimed = await claimedRuns(host, 'later')
    expect(claimed).toHaveLength(1)
    expect(await jobsOf(host)).not.toContain(claimed[0])
    await Promise.all([look(other), look(host)])
    expect(await claimedRuns(host, 'later')).toEqual(claimed)
    expect((await jobsOf(host)).filter((run) => run === claimed[0])).toEqual(claimed)
  },
)

it(
  'start no run of a workspace that only another machine has, and go on with none',
  TIMEOUT,
  async () => {
    const [host, other] = hosts
    if (host === undefined || other === undefined) throw new Error('no hosts')
    const at = new Date(nowMs).toISOString()
    await recordChange(host, { name: 'later', change: 'removed', at })
    const slow = workEndpoint(3_000)
    await setSchedule(host, 'there', await slow.open())
    nowMs += HOUR
    const news: ScheduleNews[] = []
    // As `writ schedule run` and `writ serve` look: without workers.
    const alone = new ScheduleLoop(other, { tell: (one) => news.push(one) })
    await alone.look()
    await alone.look()
    expect(news).toMatchObject([{ kind: 'left', name: 'there' }])
    expect(news[0]?.message).toContain(`no home at \`${realpathSync(first.project)}\``)
    expect(await claimedRuns(host, 'there')).toEqual([])
    const [trouble] = await troublesOf(
      { ...other, clock: { ...other.clock, nowMs: () => nowMs + HOUR / 2 } },
      (await readSchedules(other)).find(({ name }) => name === 'there') as Schedule,
    )
    expect(trouble?.says).toContain('no process looked on a machine with a home at')
    // A worker on any machine claims the time; a service elsewhere does not begin its run.
    await look(other)
    const [run = ''] = await claimedRuns(host, 'there')
    await alone.look()
    const worker = new WorkerProcess(first)
    workers.push(worker)
    await worker.until((one) => one.kind === 'taken' && one.run === run)
    while (!(await hasBegun(host, run))) await pause(50)
    await worker.kill()
    await alone.look()
    await alone.settled()
    expect((await lookAtRun(other, run)).status).toBe('RUNNING')
    expect((await slotsOf(host, 'there', 5)).map(({ kind }) => kind)).toEqual(['claimed'])
    expect(news).toHaveLength(1)
    workers.push(new WorkerProcess(first))
    while (!(await isDone(host, run))) await pause(200)
    await slow.close()
  },
)
