/** Workers, as processes over a real PostgreSQL server. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { addRun, serverOf } from '../../src/fleet/index.ts'
import { compileFlow } from '../../src/flow/index.ts'
import { newRunId } from '../../src/runs/index.ts'
import { pinFlow } from '../../src/schedules/index.ts'
import { type Ledger, openLedger } from '../../src/store/index.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let endpoint: Endpoint
let url = ''
const workers: WorkerProcess[] = []

function work(machine: FleetMachine, ...args: readonly string[]): WorkerProcess {
  const worker = new WorkerProcess(machine, args)
  workers.push(worker)
  return worker
}

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  endpoint = workEndpoint(300)
  url = await endpoint.open()
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

/** How many attempts of a run ended with an outcome, by the facts. */
async function outcomesOf(run: string): Promise<number> {
  const client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^writ_[0-9a-f_]{36}$'",
  )
  const { rows: facts } = await client.query(
    `SELECT count(*)::int AS count FROM ${rows[0].nspname}.facts
      WHERE position($1 IN fact) > 0 AND position('"type":"attempt_ended"' IN fact) > 0
        AND position('"outcome":"ended"' IN fact) > 0`,
    [run],
  )
  await client.end()
  return facts[0].count
}

/** Takes the labels from the row of a job, as every role of the server can. */
async function withoutLabels(run: string): Promise<void> {
  const client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(
    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'wj\\_%'",
  )
  const sql = `UPDATE ${rows[0].nspname}._private_jobs SET flags = NULL WHERE payload->>'run' = $1`
  await client.query(sql, [run])
  await client.end()
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
function jobAt(run: string): any {
  const { jobs } = first.writ(['worker', 'list']).json
  return jobs.find((job: { run: string }) => job.run === run)
}

function ledgerOf(machine: FleetMachine): Promise<Ledger> {
  const root = join(machine.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  return openLedger({ directory: join(root, id) })
}

/** Adds a job that begins a run in a workspace, which this machine signs. */
async function begunIn(machine: FleetMachine, file: string, workspace: string): Promise<string> {
  const ledger = await ledgerOf(machine)
  const compiled = compileFlow(JSON.parse(readFileSync(file, 'utf8')) as Flow)
  if (!compiled.ok) throw new Error('the flow compiles')
  await pinFlow(ledger, compiled.flow)
  const begin = { flow: compiled.flow.digest, participants: null, workspace }
  const run = newRunId(Date.now())
  await addRun(serverOf(ledger), { run, stream: 'main', begin })
  await ledger.close()
  return run
}

describe('a worker', () => {
  it('walks a run that was left to it, to its end', TIMEOUT, async () => {
    const flow = writeFlow(first, 'plain', url, { nodes: 2 })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const worker = work(first)
    const done = await worker.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
    expect(first.must(['flow', 'status', run]).status).toBe('DONE')
    expect(first.must(['worker', 'list']).workers).toHaveLength(1)
    await worker.kill('SIGTERM')
    expect(first.must(['worker', 'list']).workers).toHaveLength(0)
  })

  it(
    'that dies is noticed; another one goes on, and one outcome is recorded',
    TIMEOUT,
    async () => {
      const flow = writeFlow(first, 'taken', url, { nodes: 3 })
      const one = work(first)
      await one.until((news) => news.kind === 'ready')
      const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
      const before = endpoint.asked.length
      while (endpoint.asked.length < before + 2) await new Promise((next) => setTimeout(next, 10))
      await one.kill()
      const other = work(first)
      const done = await other.until((news) => news.kind === 'done' && news.run === run)
      expect(done.status).toBe('DONE')
      expect(await outcomesOf(run)).toBe(3)
      expect(first.must(['ledger', 'verify']).ok).toBe(true)
    },
  )

  it(
    'gives back a job of a worker that died before or after it was on the roll',
    TIMEOUT,
    async () => {
      const flow = writeFlow(first, 'orphan', url)
      const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
      const client = new pg.Client(fleet.server.connection)
      await client.connect()
      const { rows } = await client.query(
        "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'wj\\_%'",
      )
      await client.query(
        `UPDATE ${rows[0].nspname}._private_jobs SET locked_by = 'pool-gone', attempts = 1,
        locked_at = now() - interval '1 minute' WHERE payload->>'run' = $1`,
        [run],
      )
      await client.end()
      const worker = work(first)
      const done = await worker.until((news) => news.kind === 'done' && news.run === run)
      expect(done.status).toBe('DONE')
    },
  )

  it('gives its runs back at once when it is stopped', TIMEOUT, async () => {
    const flow = writeFlow(first, 'stopped', url, { nodes: 3 })
    const one = work(first)
    await one.until((news) => news.kind === 'ready')
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const before = endpoint.asked.length
    while (endpoint.asked.length < before + 2) await new Promise((next) => setTimeout(next, 10))
    await one.kill('SIGTERM')
    expect(one.news.find((news) => news.kind === 'passed_on')).toMatchObject({ run })
    const { jobs } = first.writ(['worker', 'list']).json
    const left = jobs.find((job: { run: string }) => job.run === run)
    expect(left).toMatchObject({ state: 'due', tries: 0, error: null })
    const other = work(first)
    const done = await other.until((news) => news.kind === 'done' && news.run === run)
    expect([done.status, await outcomesOf(run)]).toEqual(['DONE', 3])
  })

  it('takes only what it has the labels for; what waits has a finding', TIMEOUT, async () => {
    const flow = writeFlow(first, 'labelled', url, { labels: ['gpu'] })
    const plain = work(first)
    await plain.until((news) => news.kind === 'ready')
    const { run_id: run, labels } = first.must(['flow', 'run', flow, '--queue'])
    expect(labels).toEqual(['gpu'])
    await new Promise((next) => setTimeout(next, 2_500))
    const seen = first.writ(['worker', 'list'])
    expect(seen.status).toBe(3)
    const job = seen.json.jobs.find((one: { run: string }) => one.run === run)
    expect(job).toMatchObject({ state: 'due', finding: 'no worker has gpu' })
    const able = work(first, '--labels', 'linux,gpu')
    const done = await able.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
    expect(plain.news.some((news) => news.run === run && news.kind === 'done')).toBe(false)
  })

  it('leaves a run to the machines that have its workspace', TIMEOUT, async () => {
    const second = fleet.joined(first, 'beta')
    const there = work(second)
    await there.until((news) => news.kind === 'ready')
    const { run_id: run } = first.must(['flow', 'run', writeFlow(first, 'bound', url), '--queue'])
    await new Promise((next) => setTimeout(next, 2_500))
    expect(there.news.some((news) => news.run === run && news.kind === 'done')).toBe(false)
    const job = first
      .writ(['worker', 'list'])
      .json.jobs.find((one: { run: string }) => one.run === run)
    expect(job.finding).toContain('no worker has workspace:')
    const here = work(first)
    await here.until((news) => news.kind === 'done' && news.run === run)
    // Another machine refuses to walk it, and sends what people say to it.
    const refused = second.writ(['flow', 'resume', run])
    expect(refused.json.error.code).toBe('machine.elsewhere')
  })

  it('needs what the job is signed for, also where its row names no labels', TIMEOUT, async () => {
    const file = writeFlow(first, 'stripped', url)
    const { run_id: run } = first.must(['flow', 'run', file, '--queue', '--label', 'gpu'])
    const place = `workspace:${realpathSync(first.project)}`
    for (const [machine, label] of [
      [fleet.joined(first, 'gamma'), 'gpu'],
      [first, ''],
    ] as const) {
      await withoutLabels(run)
      const unable = work(machine, ...(label === '' ? [] : ['--labels', label]))
      await unable.until((news) => news.kind === 'passed_on' && news.run === run)
      expect(jobAt(run).labels.sort()).toEqual(['gpu', place])
      await unable.kill()
    }
    const able = work(first, '--labels', 'gpu')
    const done = await able.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
  })

  it('needs the labels of the flow itself, also for jobs that name none', TIMEOUT, async () => {
    const file = writeFlow(first, 'own', url, { labels: ['gpu'] })
    const run = await begunIn(first, file, realpathSync(first.project))
    const plain = work(first)
    await plain.until((news) => news.kind === 'passed_on' && news.run === run)
    expect(jobAt(run).labels).toContain('gpu')
    expect(plain.news.some((news) => news.run === run && news.kind === 'done')).toBe(false)
  })

  it('walks a run in the subdirectory of its workspace that was named', TIMEOUT, async () => {
    const folder = join(realpathSync(first.project), 'part', 'deep')
    mkdirSync(folder, { recursive: true })
    const file = writeFlow(first, 'below', url)
    const below = Object.assign(Object.create(first) as FleetMachine, { project: folder })
    const { run_id: run } = below.must(['flow', 'run', file, '--queue'])
    expect(jobAt(run)).toMatchObject({ labels: [`workspace:${folder}`], finding: 'no worker runs' })
    const worker = work(first)
    const done = await worker.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
    const { runs } = first.must(['flow', 'list'])
    expect(runs.find((one: { run_id: string }) => one.run_id === run).workspace).toBe(folder)
    expect(readdirSync(folder)).toContain('orchestration_log.md')
  })

  it('walks no run in a directory that only looks like one of its workspace', TIMEOUT, async () => {
    const own = realpathSync(first.project)
    const outside = join(fleet.folder, 'outside')
    for (const folder of [outside, join(own, 'other', '.writ')])
      mkdirSync(folder, { recursive: true })
    symlinkSync(outside, join(own, 'link'))
    const file = writeFlow(first, 'outside', url)
    const places = ['link', '../outside', 'other/../../../outside', 'other', 'gone']
    const runs = await Promise.all(places.map((place) => begunIn(first, file, `${own}/${place}`)))
    const worker = work(first)
    await worker.until((news) => news.kind === 'ready')
    await new Promise((next) => setTimeout(next, 3_000))
    expect(worker.news.filter(({ kind, run }) => kind === 'done' && runs.includes(run))).toEqual([])
    expect(readdirSync(outside)).toEqual([])
    for (const run of runs) first.must(['flow', 'cancel', run])
  })

  it('goes on when the database was killed', TIMEOUT, async () => {
    const worker = work(first)
    await worker.until((news) => news.kind === 'ready')
    const flow = writeFlow(first, 'database', url, { nodes: 4 })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const before = endpoint.asked.length
    while (endpoint.asked.length < before + 2) await new Promise((next) => setTimeout(next, 10))
    await fleet.server.kill('crash')
    const refused = first.writ(['log'])
    expect([refused.status, refused.json.error.code]).toEqual([4, 'ledger.unreachable'])
    await fleet.server.start()
    await worker.until((news) => news.kind === 'done' && news.run === run, 120_000)
    expect(await outcomesOf(run)).toBe(4)
    expect(first.must(['ledger', 'verify']).ok).toBe(true)
  })
})

it(
  'does not begin a run that a human removed, also not from a copy of its job',
  TIMEOUT,
  async () => {
    const flow = writeFlow(first, 'removed', url, {})
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const { jobs } = first.writ(['worker', 'list']).json
    const job = jobs.find((one: { run: string }) => one.run === run)
    const asClerk = (sql: string) =>
      asOwner(fleet.server, (client) => client.query(sql), 'clerk').then(({ rows }) => rows)
    const [{ name }] = await asClerk(
      "SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^wj_'",
    )
    const [{ payload }] = await asClerk(
      `SELECT payload FROM ${name}._private_jobs WHERE id = ${job.id}`,
    )
    first.must(['worker', 'drop', job.id])
    await asClerk(`SELECT ${name}.add_job('run', '${JSON.stringify(payload)}'::json)`)
    const worker = work(first)
    const failed = await worker.until((news) => news.run === run && news.kind === 'failed')
    expect(failed.code).toBe('machine.job')
    // The copy has no key, and one without tries is taken away.
    const { json } = first.writ(['flow', 'status', run])
    expect(['QUEUED', 'flow.unknown_run']).toContain(json.status ?? json.error.code)
  },
)

it('is prepared by a role that runs nothing of others', TIMEOUT, async () => {
  const asClerk = (sql: string) => asOwner(fleet.server, (client) => client.query(sql), 'clerk')
  const { rows } = await asClerk("SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^wj_'")
  const { name } = rows[0]
  for (const sql of [
    `CREATE FUNCTION ${name}.evil() RETURNS int LANGUAGE sql AS 'SELECT 0'`,
    `ALTER TABLE ${name}.migrations RENAME TO other`,
    `UPDATE ${name}.migrations SET id = 0`,
    `CREATE TRIGGER spy AFTER INSERT ON ${name}._private_jobs EXECUTE FUNCTION ${name}.tg_jobs()`,
  ])
    await expect(asClerk(sql)).rejects.toThrow(/permission denied|must be owner/)
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  await asOwner(fleet.server, (client) =>
    client.query(`CREATE TABLE ${name}.planted (); ALTER TABLE ${name}.planted OWNER TO clerk`),
  )
  const refused = first.writ(['worker', 'prepare', '--store-owner', 'keeper'])
  expect(refused.json.error.message).toContain('the role `clerk` owns tables or functions there')
  expect(refused.json.error.hint).toContain('DROP SCHEMA')
  await asOwner(fleet.server, (client) => client.query(`DROP TABLE ${name}.planted`))
})

describe('time (X-3)', () => {
  it('a wait survives the death of every process', TIMEOUT, async () => {
    const flow = writeFlow(first, 'waits', url, { node: { after: 6 } })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const one = work(first)
    const paused = await one.until((news) => news.kind === 'done' && news.run === run)
    expect(paused.status).not.toBe('DONE')
    await one.kill()
    const other = work(first)
    const done = await other.until((news) => news.kind === 'done' && news.status === 'DONE')
    expect(done.run).toBe(run)
  })

  it('a wait is over in time though its machine has another key since then', TIMEOUT, async () => {
    const flow = writeFlow(first, 'turned', url, { node: { after: 8 } })
    const one = work(first)
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    await one.until((news) => news.kind === 'done' && news.run === run)
    first.must(['ledger', 'rotate'])
    await one.until((news) => news.kind === 'done' && news.run === run && news.status === 'DONE')
    expect(first.must(['flow', 'status', run]).status).toBe('DONE')
  })
})
