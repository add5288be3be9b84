/** How jobs come back: after a server that was busy, after failures, and for newer workers. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let machine: FleetMachine
let endpoint: Endpoint
let url = ''
let client: pg.Client
/** The schemas of facts and of jobs. */
let facts = ''
let jobs = ''
const workers: WorkerProcess[] = []

async function work(): Promise<WorkerProcess> {
  const worker = new WorkerProcess(machine)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

beforeAll(async () => {
  fleet = await Fleet.start()
  machine = fleet.first('alpha')
  const early = machine.spawn(['worker'])
  expect([early.status, early.stderr]).toEqual([4, expect.stringContaining('worker prepare')])
  const weak = machine.spawn(['worker', 'prepare'])
  expect([weak.status, weak.stderr]).toEqual([4, expect.stringContaining('--store-owner ROLE')])
  machine.must(['worker', 'prepare', '--store-owner', 'keeper'])
  endpoint = workEndpoint(100)
  url = await endpoint.open()
  client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^(wj|writ)_[0-9a-f_]+$' ORDER BY nspname",
  )
  ;[jobs, facts] = rows.map(({ nspname }) => nspname)
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await client.end()
  await endpoint.close()
  await fleet.stop()
})

function queued(name: string): string {
  return machine.must(['flow', 'run', writeFlow(machine, name, url), '--queue']).run_id
}

/** Changes the job of a run, as `terms` say. */
async function change(run: string, terms: string): Promise<void> {
  await client.query(`UPDATE ${jobs}._private_jobs SET ${terms} WHERE payload->>'run' = $1`, [run])
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
function listed(run: string): any {
  return machine.writ(['worker', 'list']).json.jobs.find((job: { run: string }) => job.run === run)
}

// biome-ignore lint/suspicious/noExplicitAny: as above
async function untilListed(run: string, is: (job: any) => boolean): Promise<any> {
  for (let tries = 0; tries < 30; tries++) {
    const job = listed(run)
    if (is(job)) return job
    await new Promise((next) => setTimeout(next, 500))
  }
  throw new Error(JSON.stringify(listed(run)))
}

it('soon after others held the ledger for too long, and no try is used up', TIMEOUT, async () => {
  const run = queued('busy')
  await client.query(`BEGIN; LOCK TABLE ${facts}.facts IN SHARE MODE`)
  const worker = await work()
  const passed = await worker.until((news) => news.kind === 'passed_on' && news.run === run)
  expect(passed.code).toBe('ledger.busy')
  await client.query('ROLLBACK')
  expect(listed(run)?.tries ?? 0).toBeLessThan(2)
  const done = await worker.until((news) => news.kind === 'done' && news.run === run, 30_000)
  expect(done.status).toBe('DONE')
  expect(worker.news.filter((news) => news.kind === 'failed')).toEqual([])
})

it('a minute after a failure at the latest, however often it failed', TIMEOUT, async () => {
  const run = queued('late')
  await change(run, "attempts = 8, last_error = 'x', run_at = now() + interval '6 hours'")
  await work()
  const near = (job: { run_at: string }) => Date.parse(job.run_at) - Date.now() < 61_000
  const job = await untilListed(run, near)
  expect(job).toMatchObject({ state: 'waiting', tries: 8, finding: 'failed so far: x' })
})

it('as one job: one that was added again is not listed as stuck', TIMEOUT, async () => {
  const run = queued('twice')
  // As the engine leaves a job that was added again while a worker had it, when that worker dies.
  await change(run, 'key = NULL, attempts = max_attempts')
  await work()
  await untilListed(run, (job) => job === undefined)
})

it('to a worker that knows its format, and without a failure', TIMEOUT, async () => {
  const run = queued('newer')
  await change(run, 'payload = (payload::jsonb || \'{"v": 2}\')::json')
  const worker = await work()
  const passed = await worker.until((news) => news.kind === 'passed_on' && news.run === run)
  expect(passed).toMatchObject({ code: 'ledger.version' })
  expect(passed.message).toContain('the job has the format `2`, and this writ knows 1')
  const job = await untilListed(run, ({ state }) => state === 'due')
  expect(job).toMatchObject({ tries: 0, error: null })
  expect(job.finding).toBe('a newer writ made it, and no worker knows jobs of format 2')
  const { rows } = await client.query(
    `SELECT payload->>'v' AS v, flags FROM ${jobs}._private_jobs WHERE payload->>'run' = $1`,
    [run],
  )
  expect([rows[0].v, rows[0].flags['job:2']]).toEqual(['2', true])
})

it(
  'until it failed ten times; then it waits with its reason and the way out',
  TIMEOUT,
  async () => {
    const run = 'run-01a1f5cb-0000-7000-8000-000000000000'
    const payload = JSON.stringify({ v: 1, run, stream: 'main' })
    const sql = `SELECT ${jobs}.add_job('run', $1::json, max_attempts := 10, job_key := $2)`
    await client.query(sql, [payload, `run/${run}`])
    await change(run, 'attempts = 9')
    await work()
    const job = await untilListed(run, ({ state }) => state === 'stuck')
    expect(job.finding).toContain('failed 10 times: flow.unknown_run')
    machine.must(['worker', 'drop', job.id])
    expect(listed(run)).toBeUndefined()
  },
)

it(
  'until it is refused for good, which is once; then it waits in the same way',
  TIMEOUT,
  async () => {
    const run = queued('poison')
    const { rows } = await client.query(
      `SELECT payload FROM ${jobs}._private_jobs WHERE payload->>'run' = $1`,
      [run],
    )
    const digest = `sha256:${'0'.repeat(64)}`
    await change(run, `payload = jsonb_set(payload::jsonb, '{begin,flow}', '"${digest}"')::json`)
    const worker = await work()
    const failed = await worker.until((news) => news.kind === 'failed' && news.run === run)
    // What the job says is signed: nothing else begins a run.
    expect(failed.code).toBe('machine.unknown')
    const job = await untilListed(run, ({ state }) => state === 'stuck')
    expect(job.finding).toContain('refused: machine.unknown')
    expect(worker.news.filter(({ kind }) => kind === 'failed')).toHaveLength(1)
    await change(run, `payload = '${JSON.stringify(rows[0].payload)}'`)
    machine.must(['worker', 'retry', job.id])
    await worker.until((news) => news.kind === 'done' && news.run === run)
  },
)

it('with what a person said only where a machine of the home has signed it', TIMEOUT, async () => {
  const file = writeFlow(machine, 'forged', url, { node: { signal: 'go' } })
  const { run_id: run } = machine.must(['flow', 'run', file, '--queue'])
  const worker = await work()
  await worker.until((news) => news.kind === 'done' && news.run === run)
  const signal = { kind: 'signal', name: 'go', principal: 'human:mallory@local', data: null }
  const order = JSON.stringify(signal)
  const { rows } = await client.query(
    `SELECT tasks.identifier FROM ${jobs}._private_tasks AS tasks WHERE identifier LIKE 'run@%'`,
  )
  for (const seal of [undefined, { key: '0123456789abcdef', sig: 'AAAA' }]) {
    const payload = { v: 1, run, stream: 'main', order, seal }
    await client.query(`SELECT ${jobs}.add_job($1, $2::json, max_attempts := 10, flags := $3)`, [
      rows[0]?.identifier ?? 'run',
      JSON.stringify(payload),
      null,
    ])
  }
  const failed = () => worker.news.filter((one) => one.run === run && one.kind === 'failed')
  for (let tries = 0; failed().length < 2 && tries < 200; tries++)
    await new Promise((next) => setTimeout(next, 100))
  expect(failed().map(({ code }) => code)).toEqual(failed().map(() => 'machine.unknown'))
  expect(failed().length).toBeGreaterThan(1)
  expect(machine.writ(['flow', 'status', run]).json.status).toBe('WAITING')
})
