/** Jobs that another role of the server writes, which may hold anything: nothing fails for them. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
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
  second = fleet.joined(first, 'beta')
  endpoint = workEndpoint(10)
  url = await endpoint.open()
  const [row] = await asClerk("SELECT nspname FROM pg_namespace WHERE nspname ~ '^wj_'")
  jobs = row.nspname
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
  await asClerk('DELETE FROM @._private_jobs')
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

async function work(machine: FleetMachine): Promise<WorkerProcess> {
  const worker = new WorkerProcess(machine)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

/** Begins a run on the first machine that waits for a signal; no worker runs any more then. */
async function waitingRun(name: string): Promise<string> {
  const worker = await work(first)
  const flow = writeFlow(first, name, url, { node: { signal: 'go' } })
  const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
  const paused = await worker.until((news) => news.kind === 'done' && news.run === run)
  expect(paused.status).toBe('WAITING')
  await worker.kill()
  return run
}

it('a signal brings any text to a run of another machine', TIMEOUT, async () => {
  const run = await waitingRun('texts')
  second.must(['flow', 'signal', run, 'go', '--data', String.raw`{"x":"a\u0000b"}`])
  expect(second.writ(['flow', 'status', run]).json.status).toBe('WAITING')
  expect(second.writ(['worker', 'list']).json.jobs).toMatchObject([{ run }])
  const worker = await work(first)
  const done = await worker.until((news) => news.kind === 'done' && news.run === run)
  expect(done.status).toBe('DONE')
})

it('strange jobs keep no command and no worker from the others', TIMEOUT, async () => {
  const run = await waitingRun('strange')
  const id = JSON.stringify(run)
  const payloads = [
    String.raw`{"v":1,"run":${id},"stream":"main","order":{"kind":"signal","data":"\u0000"}}`,
    String.raw`{"v":1,"run":${id},"stream":"main","order":"\u0000","seal":{"key":"\ud800","sig":1}}`,
    String.raw`{"v":1,"run":${id},"stream":"\ud800","order":"{}","seal":null}`,
    String.raw`{"v":1,"run":"run-\u0000","stream":"main"}`,
    String.raw`{"v":1,"action":"\u0000","stream":[],"document":7}`,
    '{"v":4000000000,"run":7}',
    'null',
    '"text"',
    '[1]',
  ]
  for (const payload of payloads)
    await asClerk(`SELECT @.add_job('run', $1::json, max_attempts := 10)`, [payload])
  await asClerk(`SELECT @.add_job('propose', $1::json, max_attempts := 10)`, [payloads[4]])
  await asClerk(`SELECT @.add_job('run', '{}', run_at := 'infinity')`)
  await asClerk(`UPDATE @._private_jobs SET flags = '[1]' WHERE payload::text = 'null'`)
  const long = `SELECT @.add_job('run', json_build_object('run', repeat('a', 34000000)))`
  await expect(asClerk(long)).rejects.toMatchObject({ code: '23514' })
  const listed = second.writ(['worker', 'list'])
  expect(listed.json.error).toBeUndefined()
  expect(listed.status).toBe(3)
  expect(listed.json.jobs.length).toBeGreaterThanOrEqual(payloads.length + 2)
  expect(second.spawn(['worker', 'list']).stdout).toContain('no worker runs')
  expect(second.writ(['flow', 'status', run]).json.status).toBe('WAITING')
  expect(second.must(['inbox']).flows).toMatchObject([{ run_id: run }])
  expect(second.must(['flow', 'list']).runs.length).toBeGreaterThan(0)
  // An answer is compared with those under way.
  second.must(['flow', 'signal', run, 'go'])
  const worker = await work(first)
  const done = await worker.until((news) => news.kind === 'done' && news.status === 'DONE')
  expect(done.run).toBe(run)
  const failed = () => worker.news.filter(({ kind }) => kind === 'failed')
  while (failed().length < payloads.length + 1) await pause(100)
  const refused = failed().filter(({ code }) => code === 'machine.job')
  expect(refused.length).toBeGreaterThanOrEqual(4)
  const next = writeFlow(first, 'next', url)
  const { run_id: later } = first.must(['flow', 'run', next, '--queue'])
  await worker.until((news) => news.kind === 'done' && news.run === later)
  // The worker sweeps every five seconds, also over them.
  await asClerk(
    `SELECT @.add_job('run', '{"v":1,"run":"run-swept","stream":"main"}', max_attempts := 1)`,
  )
  const isSwept = async () =>
    (await asClerk(`SELECT FROM @._private_jobs WHERE payload::text LIKE '%run-swept%'`)).length ===
    0
  while (!(await isSwept())) await pause(200)
  for (const { id: job } of first.writ(['worker', 'list']).json.jobs)
    expect(first.writ(['worker', 'drop', job]).json).toMatchObject({ job })
})

it(
  'work behind a thousand jobs is found by its id, and a stuck job in the list',
  TIMEOUT,
  async () => {
    await asClerk(
      `SELECT count(@.add_job('run', json_build_object('v', 1, 'run', 'run-' || one, 'stream', 'main'),
      run_at := now() + interval '1 day')) FROM generate_series(1, 1200) AS one`,
    )
    const flow = writeFlow(first, 'behind', url)
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const document = JSON.parse(first.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout)
    const { action_id: action } = document.descriptor
    first.must(['propose', '-', '--queue'], JSON.stringify(document))
    await asClerk(
      `SELECT @.add_job('run', '{"v":1,"run":"run-stuck","stream":"main"}', max_attempts := 10)`,
    )
    const sql =
      "UPDATE @._private_jobs SET attempts = 10, last_error = 'x' WHERE payload->>'run' = $1"
    await asClerk(sql, ['run-stuck'])
    for (const id of [run, run.slice(4, 20), action, action.slice(0, 13)])
      expect([id, first.writ(['show', id]).json.status]).toEqual([id, 'QUEUED'])
    expect(first.writ(['flow', 'status', run]).json).toMatchObject({
      run_id: run,
      status: 'QUEUED',
    })
    const { status, json } = first.writ(['worker', 'list'])
    expect([status, json.jobs.length, json.more]).toEqual([3, 1_000, 203])
    expect(json.jobs[0]).toMatchObject({ run: 'run-stuck', state: 'stuck' })
    expect(first.spawn(['worker', 'list']).stdout).toContain('and 203 more jobs are queued')
    const list = first.must(['flow', 'list'])
    expect(list.queued).toMatchObject([{ run_id: run, flow_id: 'behind' }])
    expect(list.queued_more).toBeUndefined()
    expect(first.must(['flow', 'cancel', run])).toMatchObject({ status: 'CANCELLED', queued: true })
    expect(first.writ(['flow', 'status', run]).json.error.code).toBe('flow.unknown_run')
  },
)
