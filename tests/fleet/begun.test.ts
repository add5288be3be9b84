/** Jobs of runs that have begun: who queued a run no longer matters to it, and neither does a removal. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { dropJob, serverOf } from '../../src/fleet/index.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import { until } from '../field/field-rig.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let endpoint: Endpoint
let url = ''
let jobs = ''
const workers: WorkerProcess[] = []

// biome-ignore lint/suspicious/noExplicitAny: parts of answers
type Loose = any

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  endpoint = workEndpoint(300)
  url = await endpoint.open()
  const [row] = await asClerk("SELECT nspname FROM pg_namespace WHERE nspname ~ '^wj_'")
  jobs = row.nspname
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

/** Asks as a role without a machine. */
function asClerk(sql: string, values: readonly unknown[] = []): Promise<readonly Loose[]> {
  const text = sql.replaceAll('@', jobs)
  return asOwner(fleet.server, (client) => client.query(text, [...values]), 'clerk').then(
    ({ rows }) => rows,
  )
}

async function work(...args: readonly string[]): Promise<WorkerProcess> {
  const worker = new WorkerProcess(first, args)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

function queued(machine: FleetMachine, name: string, terms: object): string {
  return machine.must([
    'flow',
    'run',
    writeFlow(first, name, url, terms),
    '--queue',
    '--label',
    'x',
  ]).run_id
}

async function payloadOf(run: string): Promise<Loose> {
  const sql = "SELECT payload, flags FROM @._private_jobs WHERE payload->>'run' = $1"
  const [job, ...others] = await asClerk(sql, [run])
  expect(others).toEqual([])
  return job
}

/** Adds the job once more, as every role of the server can. */
async function addCopy(payload: Loose): Promise<void> {
  await asClerk("SELECT @.add_job('run', $1::json, max_attempts := 10)", [JSON.stringify(payload)])
}

it('go on when the machine that queued it was removed', TIMEOUT, async () => {
  const gamma = fleet.joined(first, 'gamma', first.project)
  const run = queued(gamma, 'orphaned', { nodes: 3 })
  const { payload } = await payloadOf(run)
  const one = await work('--labels', 'x')
  const before = endpoint.asked.length
  while (endpoint.asked.length < before + 1) await pause(10)
  await one.kill('SIGTERM')
  expect(one.news.find((news) => news.kind === 'passed_on')).toMatchObject({ run })
  // It only asks to look at the run, and needs nothing of the worker but its machine.
  const left = await payloadOf(run)
  expect(left).toMatchObject({ payload: { run, stream: 'main' }, flags: null })
  expect(Object.keys(left.payload).sort()).toEqual(['run', 'stream', 'v'])
  first.must(['machine', 'remove', 'gamma'])
  // As the server keeps a job whose worker died.
  await asClerk('DELETE FROM @._private_jobs')
  await addCopy(payload)
  const other = await work()
  const done = await other.until((news) => news.run === run && news.kind !== 'taken')
  expect([done.kind, done.status]).toEqual(['done', 'DONE'])
})

it(
  'begin none: a job of a removed machine is refused where its run has not begun',
  TIMEOUT,
  async () => {
    const delta = fleet.joined(first, 'delta', first.project)
    const run = queued(delta, 'unbegun', {})
    first.must(['machine', 'remove', 'delta'])
    const worker = await work('--labels', 'x')
    const failed = await worker.until((news) => news.run === run && news.kind === 'failed')
    expect(failed.code).toBe('machine.unknown')
    expect(first.writ(['flow', 'status', run]).json.status).toBe('QUEUED')
  },
)

/** Removes a job as `writ worker drop` does, with a ledger that records as `record` says. */
async function dropWith(
  id: string,
  record: (plain: () => ReturnType<Ledger['record']>) => ReturnType<Ledger['record']>,
) {
  const root = join(first.folder, 'state', 'writ')
  const [home = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  const ledger = await openLedger({ directory: join(root, home) })
  const changed = Object.assign(Object.create(ledger) as Ledger, {
    record: (entry: Parameters<Ledger['record']>[0]) => record(() => ledger.record(entry)),
  })
  const [owner] = first.must(['principal', 'list']).principals
  const principal = { kind: 'human', id: owner.id, namespace: owner.namespace } as const
  try {
    return await dropJob(serverOf(ledger), changed, id, { principal })
  } finally {
    await ledger.close()
  }
}

async function idOf(run: string): Promise<string> {
  const sql = "SELECT id::text FROM @._private_jobs WHERE payload->>'run' = $1"
  return (await asClerk(sql, [run]))[0]?.id
}

it('a job that is being removed is taken by no worker', TIMEOUT, async () => {
  const run = queued(first, 'dropped', {})
  const id = await idOf(run)
  const isGone = await dropWith(id, async (plain) => {
    const worker = await work('--labels', 'x')
    await pause(2_500)
    expect(worker.news.filter((news) => news.run === run)).toEqual([])
    return plain()
  })
  expect(isGone).toBe(true)
  expect(first.writ(['flow', 'status', run]).json.error.code).toBe('flow.unknown_run')
})

it('a removal that fails leaves the job, before its fact and after it', TIMEOUT, async () => {
  const run = queued(first, 'kept', {})
  const id = await idOf(run)
  const lost = new Error('lost')
  await expect(dropWith(id, () => Promise.reject(lost))).rejects.toThrow('lost')
  expect(await idOf(run)).toBe(id)
  await expect(dropWith(id, (plain) => plain().then(() => Promise.reject(lost)))).rejects.toThrow(
    'lost',
  )
  // The fact counts, and the job is named with the way out.
  const worker = await work('--labels', 'x')
  const failed = await worker.until((news) => news.run === run && news.kind === 'failed')
  expect([failed.code, failed.message]).toEqual([
    'machine.job',
    expect.stringContaining('the command was interrupted'),
  ])
  // The worker tells of it before it gives the job back.
  await until(
    // biome-ignore lint/suspicious/noExplicitAny: parts of answers
    () => first.writ(['worker', 'list']).json.jobs.find((job: any) => job.id === id)?.state,
    (state) => state === 'stuck',
  )
  await worker.kill()
  first.must(['worker', 'drop', id])
  expect(first.writ(['flow', 'status', run]).json.error.code).toBe('flow.unknown_run')
})

it('of a removed job go on, and are not taken out of the queue', TIMEOUT, async () => {
  const run = queued(first, 'begun', { node: { signal: 'go' } })
  const { payload } = await payloadOf(run)
  const worker = await work('--labels', 'x')
  await worker.until((news) => news.kind === 'done' && news.run === run)
  // It takes the job away after it has told of it.
  await worker.kill('SIGTERM')
  await addCopy(payload)
  first.must(['worker', 'drop', await idOf(run)])
  first.must(['flow', 'signal', run, 'go'])
  await asClerk('DELETE FROM @._private_jobs')
  await addCopy(payload)
  const other = await work()
  const done = await other.until((news) => news.run === run && news.kind !== 'taken')
  expect([done.kind, done.status]).toEqual(['done', 'DONE'])
})
