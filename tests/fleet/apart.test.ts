/** Machines that differ: in their clocks, in their versions, in where a person sits. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { jobsSchema } from '../../src/fleet/jobs.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { task } from '../ledger/entries.ts'
import { asOwner } from '../ledger/postgres-ledger.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { serve, WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 240_000 }
const HOUR_MS = 3_600_000
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let endpoint: Endpoint
let url = ''
const workers: WorkerProcess[] = []

function work(machine: FleetMachine): WorkerProcess {
  const worker = new WorkerProcess(machine)
  workers.push(worker)
  return worker
}

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  second = fleet.joined(first, 'beta')
  endpoint = workEndpoint(100)
  url = await endpoint.open()
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

async function asked(sql: string): Promise<readonly { readonly [name: string]: string }[]> {
  const client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

async function schema(): Promise<string> {
  const [row] = await asked(
    "SELECT nspname FROM pg_namespace WHERE nspname ~ '^writ_[0-9a-f_]{36}$'",
  )
  return row?.['nspname'] ?? ''
}

function issue(machine: FleetMachine): void {
  const { act_task_id: _id, ...given } = task('x') as Record<string, unknown>
  const [owner] = first.must(['principal', 'list']).principals
  const issuer = { kind: 'human', id: owner.id, namespace: owner.namespace }
  machine.must(['task', 'issue', '-'], JSON.stringify({ ...given, issuer }))
}

describe('a machine whose clock is an hour behind', () => {
  it('records in the order of the server, and the difference is a fact', TIMEOUT, () => {
    const late = Object.assign(Object.create(second) as FleetMachine, {
      env: { ...second.env, NODE_OPTIONS: `--require ${clock(-HOUR_MS)}` },
    })
    for (const machine of [first, late, first]) issue(machine)
    const { facts } = first.must(['log', '--stream', 'main'])
    const times = facts.map((fact: { occurred_at: string }) => Date.parse(fact.occurred_at))
    expect(times).toEqual([...times].sort((one, other) => one - other))
    expect(
      first.must(['log', '--stream', 'host', '--type', 'clock_jump_v1']).facts.length,
    ).toBeGreaterThan(0)
    for (const machine of [first, second])
      expect(machine.must(['ledger', 'verify']).problems).toEqual([])
  })

  it('walks its runs, and gives none to others by its clock', TIMEOUT, async () => {
    const env = { ...second.env, NODE_OPTIONS: `--require ${clock(-HOUR_MS)}` }
    const late = Object.assign(Object.create(second) as FleetMachine, { env })
    const worker = work(late)
    await worker.until((news) => news.kind === 'ready')
    const flow = writeFlow(second, 'behind', url, { nodes: 2 })
    const { run_id: run } = second.must(['flow', 'run', flow, '--queue'])
    const done = await worker.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
  })
})

/** A program that moves the clock of a process. */
function clock(byMs: number): string {
  const file = join(fleet.folder, `clock-${byMs}.cjs`)
  const text = `const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) { if (given.length === 0) super(Real.now() + ${byMs}); else super(...given) }
  static now() { return Real.now() + ${byMs} }
}
`
  writeFileSync(file, text)
  return file
}

describe('a person at another machine', () => {
  it('reaches a run by a signal while no worker lives; the next one goes on', TIMEOUT, async () => {
    const flow = writeFlow(first, 'signal', url, { nodes: 1, node: { signal: 'go' } })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const one = work(first)
    const paused = await one.until((news) => news.kind === 'done' && news.run === run)
    expect(paused.status).toBe('WAITING')
    await one.kill()
    const { flows } = second.must(['inbox'])
    expect(flows).toMatchObject([{ run_id: run, node_id: 'n0' }])
    const sent = second.writ(['flow', 'signal', run, 'go'])
    expect([sent.json?.error?.message, sent.status === 0 || sent.status === 3]).toEqual([
      undefined,
      true,
    ])
    const other = work(first)
    const done = await other.until((news) => news.kind === 'done' && news.status === 'DONE')
    expect(done.run).toBe(run)
  })
})

describe('an order that another hand sends again', () => {
  it('has no effect, though its machine has signed it', TIMEOUT, async () => {
    const flow = writeFlow(first, 'again', url, { node: { signal: 'go' } })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const one = work(first)
    await one.until((news) => news.kind === 'done' && news.run === run)
    await one.kill()
    second.must(['flow', 'budget', run, '--attempts', '50'])
    const jobs = jobsSchema({ schema: await schema() })
    const orders = () =>
      asked(
        `SELECT payload::text, identifier FROM ${jobs}._private_jobs AS job
          JOIN ${jobs}._private_tasks AS task ON task.id = job.task_id
          WHERE payload->>'run' = '${run}' AND payload->'order' IS NOT NULL`,
      )
    const [job] = await orders()
    const budgetAfter = async () => {
      for (let tries = 0; (await orders()).length > 0 && tries < 300; tries++)
        await new Promise((next) => setTimeout(next, 100))
      return /attempts \d+ of (\d+)/.exec(first.spawn(['flow', 'status', run]).stdout)?.[1]
    }
    const other = work(first)
    expect(await budgetAfter()).toBe('50')
    second.must(['flow', 'budget', run, '--attempts', '6'])
    expect(await budgetAfter()).toBe('6')
    await asked(`SELECT ${jobs}.add_job('${job?.['identifier']}', '${job?.['payload']}'::json)`)
    expect(await budgetAfter()).toBe('6')
    expect(other.news.filter((news) => news.kind === 'failed')).toEqual([])
    // What a person says again counts again.
    second.must(['flow', 'budget', run, '--attempts', '50'])
    expect(await budgetAfter()).toBe('50')
  })
})

describe('a machine that was removed', () => {
  it('orders nothing any more, also by jobs that it signed before', TIMEOUT, async () => {
    const third = fleet.joined(first, 'gamma')
    const flow = writeFlow(first, 'removed', url, { node: { signal: 'go' } })
    const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
    const one = work(first)
    await one.until((news) => news.kind === 'done' && news.run === run)
    await one.kill()
    third.writ(['flow', 'signal', run, 'go'])
    first.must(['machine', 'remove', 'gamma'])
    const queued = third.writ(['flow', 'signal', run, 'go'])
    expect(queued.json.error.code).toBe('machine.removed')
    const other = work(first)
    const failed = await other.until((news) => news.kind === 'failed' && news.run === run)
    expect(failed.code).toBe('machine.unknown')
    expect(first.writ(['flow', 'status', run]).json.status).toBe('WAITING')
  })
})

describe('a newer writ that changes the home', () => {
  it(
    'ends commands, services and workers of the older one in words, also those under way',
    TIMEOUT,
    async () => {
      const name = await schema()
      const set = (version: number) =>
        asOwner(fleet.server, (client) =>
          client.query(`ALTER TABLE ${name}.ledger DISABLE TRIGGER ledger_refuse;
          UPDATE ${name}.ledger SET version = ${version};
          ALTER TABLE ${name}.ledger ENABLE ALWAYS TRIGGER ledger_refuse`),
        )
      const before = work(first)
      const service = serve(second)
      await before.until((news) => news.kind === 'ready')
      await service.ready
      await set(4)
      try {
        for (const words of [['log'], ['serve', '--listen', '127.0.0.1:0'], ['worker']]) {
          const refused = first.spawn(words)
          expect([words[0], refused.status]).toEqual([words[0], 4])
          expect(refused.stderr).toContain('ledger.version')
          expect(refused.stderr).toContain('install that version on this machine as well')
        }
        const gone = performance.now() + 60_000
        while (before.child.exitCode === null && performance.now() < gone)
          await new Promise((next) => setTimeout(next, 100))
        expect([before.child.exitCode, before.err]).toEqual([
          4,
          expect.stringContaining('newer writ'),
        ])
        expect(await service.ended).toEqual([4, expect.stringContaining('newer writ')])
      } finally {
        await set(3)
      }
    },
  )
})
