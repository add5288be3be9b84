/** What commands on one machine say about work that lies on another one. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { script, TOOL } from '../flow-run/scripts.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const TIMEOUT = { timeout: 180_000 }
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let endpoint: Endpoint
let url = ''
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
}, 180_000)

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.kill()
})

afterAll(async () => {
  await endpoint.close()
  await fleet.stop()
})

/** Lets the machine write a file, and returns the id of the act. */
function write(machine: FleetMachine, name: string): string {
  const path = join(realpathSync(machine.project), name)
  const report = join(machine.folder, `${name}.json`)
  machine.spawn(['exec', '--report', report, '--write', path, '--', 'sh', '-c', `echo > ${name}`])
  return JSON.parse(readFileSync(report, 'utf8')).action_id
}

it('an undo names the machine that did the act, and what to type there', TIMEOUT, () => {
  const older = write(first, 'older.txt')
  const id = write(second, 'made.txt')
  for (const words of [['undo'], ['rollback', id]]) {
    const { status, json } = first.writ(words)
    expect([status, json.error.code]).toEqual([1, 'machine.elsewhere'])
    expect(json.error.message).toMatch(new RegExp(`${id}.*\\(beta\\)`))
    expect(json.error.hint).toContain(`type on beta: \`writ rollback ${id}\``)
  }
  // Everything since a moment: each machine takes back its own.
  const since = first.writ(['rollback', '--since', '1h'])
  expect([since.status, since.json.action_id]).toEqual([1, older])
  expect(since.json.elsewhere).toEqual([{ action_id: id, machine: 'beta' }])
  expect(existsSync(join(first.project, 'older.txt'))).toBe(false)
  expect(first.writ(['rollback', '--since', '1h']).json.error.code).toBe('machine.elsewhere')
  expect(second.must(['undo']).action_id).toBe(id)
  expect(existsSync(join(second.project, 'made.txt'))).toBe(false)
})

const FLOW_TERMS = { phase_id: 'P', actor: 'w', title: '', max_attempts: 3 }

async function work(machine: FleetMachine): Promise<WorkerProcess> {
  const worker = new WorkerProcess(machine)
  workers.push(worker)
  await worker.until((news) => news.kind === 'ready')
  return worker
}

/** Begins a run that waits for a person to judge its work; no worker runs any more then. */
async function waitingRun(
  machine: FleetMachine,
  name: string,
  executor: object = { http: url, tools: 'none' },
): Promise<string> {
  const flow = {
    type: 'flow_v1',
    flow_id: name,
    title: '',
    nodes: [
      { ...FLOW_TERMS, node_id: 'a', kind: 'WORK', executor },
      { ...FLOW_TERMS, node_id: 'c', kind: 'CHECK', target: 'a', reviewer: { human: true } },
    ],
    edges: [{ edge_id: 'e', source: 'a', target: 'c', class: 'Progress' }],
  }
  const file = join(machine.project, `${name}.json`)
  writeFileSync(file, JSON.stringify(flow))
  const worker = await work(machine)
  const { run_id: run } = machine.must(['flow', 'run', file, '--queue'])
  const paused = await worker.until((news) => news.kind === 'done' && news.run === run)
  expect(paused.status).toBe('WAITING')
  await worker.kill()
  return run
}

it(
  'a yes to changed files is given where they are seen, or to their version',
  TIMEOUT,
  async () => {
    const change = script(`writeFileSync('made-by-work.txt', 'hidden here')
${TOOL}answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'all fine' } })`)
    writeFileSync(join(second.project, 'change.mjs'), change)
    const run = await waitingRun(second, 'unseen', { command: ['node', 'change.mjs'] })
    const refused = first.writ(['flow', 'approve', run, 'c'])
    expect([refused.status, refused.json.error.code]).toEqual([1, 'machine.elsewhere'])
    expect(refused.json.error.message).toContain('lie on another machine of the home')
    const [, version = ''] = /--digest (sha256:[0-9a-f]{64})/.exec(refused.json.error.hint) ?? []
    first.must(['flow', 'approve', run, 'c', '--digest', version])
    const worker = await work(second)
    const done = await worker.until((news) => news.kind === 'done' && news.run === run)
    expect(done.status).toBe('DONE')
  },
)

it('an answer that is under way is seen, and no other one is taken', TIMEOUT, async () => {
  const run = await waitingRun(second, 'judged')
  first.must(['flow', 'approve', run, 'c'])
  for (const words of [['approve'], ['reject', '--comment', 'no']]) {
    const [verdict = '', ...options] = words
    const { status, json } = first.writ(['flow', verdict, run, 'c', ...options])
    expect([status, json.error.code]).toEqual([1, 'flow.not_waiting'])
    expect(json.error.message).toContain('answered `approve`')
    expect(json.error.message).toContain('under way to the machine beta')
  }
  // Also on the machine that walks it, where the order does not lie yet.
  expect(second.writ(['flow', 'reject', run, 'c', '--comment', 'no']).status).toBe(1)
  for (const machine of [first, second]) {
    const { stops } = machine.writ(['flow', 'status', run]).json
    expect(stops).toMatchObject([{ kind: 'answered', node_id: 'c' }])
    expect(machine.writ(['flow', 'show', run, 'c']).json.stops).toMatchObject([
      { kind: 'answered' },
    ])
    const asked = machine.must(['inbox']).flows.filter((one: Loose) => one.run_id === run)
    expect(asked).toMatchObject([{ why: 'answered' }])
    expect(asked[0].says).toContain('under way to the machine beta')
    expect(asked[0].next).toEqual([`writ flow status ${run}`])
  }
  const worker = await work(second)
  const done = await worker.until((news) => news.kind === 'done' && news.run === run)
  expect(done.status).toBe('DONE')
})

it(
  'a question and a run of another machine name it before anything is asked',
  TIMEOUT,
  async () => {
    const path = join(realpathSync(second.project), 'asked.txt')
    const document = JSON.parse(second.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout)
    document.descriptor.effects.filesystem = { create: [path], modify: [], delete: [] }
    const asks = { required: true, reason: 'a person looks', cooldown_on_repeat: false }
    document.descriptor.confirmation = asks
    document.operation.argv = ['sh', '-c', 'echo > asked.txt']
    const { pending } = second.writ(['propose', '-'], JSON.stringify(document)).json
    const [row] = first.must(['inbox']).pending
    expect([row.id, row.machine]).toEqual([pending.id, 'beta'])
    for (const words of [['inbox'], ['inbox', pending.id]])
      expect(first.spawn(words).stdout).toContain('files lie on the machine beta')
    expect(second.spawn(['inbox']).stdout).not.toContain('machine')
    const refused = first.writ(['approve', pending.id]).json.error
    expect([refused.code, refused.message]).toEqual([
      'machine.elsewhere',
      expect.stringContaining('on the machine beta'),
    ])
    first.must(['deny', pending.id])

    const run = await waitingRun(second, 'there')
    const status = () => first.spawn(['flow', 'status', run]).stdout
    expect(status()).toContain('the machine beta walks it, and no worker runs there')
    expect(status()).not.toContain('flow resume')
    expect(first.writ(['flow', 'status', run]).json.machine).toBe('beta')
    expect(first.writ(['flow', 'resume', run]).json.error.message).toContain('beta')
    first.must(['flow', 'approve', run, 'c'])
    expect(first.spawn(['worker', 'list']).stdout).toContain('a worker on the machine beta')
    await work(second)
    const { workers: seen } = first.writ(['worker', 'list']).json
    expect(seen).toMatchObject([{ machine_name: 'beta' }])
    for (let tries = 0; !status().includes('DONE') && tries < 100; tries++) await pause(100)
    expect(status()).not.toContain('walks it')
  },
)

it('what is queued is found by its id, with the reason why it waits', TIMEOUT, () => {
  const document = JSON.parse(first.spawn(['propose', '--example', 'COMMAND_EXECUTION']).stdout)
  const id = document.descriptor.action_id
  first.must(['principal', 'add', 'ai:bot@local'])
  const env = { ...first.env, WRIT_TOKEN: first.must(['token', 'create', 'ai:bot@local']).token }
  const agent = Object.assign(Object.create(first) as FleetMachine, { env })
  const input = JSON.stringify(document)
  const queued = agent.spawn(['propose', '-', '--queue', '--label', 'gpu'], input).stdout
  expect(queued).toBe(`queued  ${id}\n  to follow it: writ show ${id}\n`)
  for (const [machine, seesWorkers] of [
    [first, true],
    [agent, false],
  ] as const) {
    const { status, json } = machine.writ(['show', id])
    expect([status, json.status, json.finding]).toEqual([3, 'QUEUED', 'no worker runs'])
    expect(machine.spawn(['show', id]).stdout.includes('writ worker list')).toBe(seesWorkers)
  }

  const flow = writeFlow(first, 'later', url, { labels: ['gpu'] })
  const { run_id: run } = first.must(['flow', 'run', flow, '--queue'])
  const found = first.writ(['flow', 'status', run])
  expect([found.status, found.json.status, found.json.run_id]).toEqual([3, 'QUEUED', run])
  const row = { run_id: run, flow_id: 'later', finding: 'no worker runs' }
  expect(first.must(['flow', 'list']).queued).toMatchObject([row])
  expect(first.must(['flow', 'list', '--status', 'done']).queued).toBeUndefined()
  expect(first.spawn(['flow', 'list']).stdout).toMatch(new RegExp(`later.*QUEUED.*${run}`))
  expect(first.must(['flow', 'status']).queued).toMatchObject([row])
  expect(first.must(['flow', 'cancel', run])).toMatchObject({ status: 'CANCELLED', queued: true })
  expect(first.writ(['flow', 'status', run]).json.error.code).toBe('flow.unknown_run')
  expect(first.writ(['flow', 'cancel', run]).json.error.code).toBe('flow.unknown_run')
  const { jobs } = first.writ(['worker', 'list']).json
  expect(jobs.map((job: Loose) => job.action ?? job.run)).toEqual([id])
})

it('an answer that no machine has signed does not count', TIMEOUT, async () => {
  const run = await waitingRun(second, 'forged')
  first.must(['flow', 'approve', run, 'c'])
  const client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(
    "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'wj\\_%'",
  )
  await client.query(
    `UPDATE ${rows[0].nspname}._private_jobs
      SET payload = regexp_replace(payload::text, 'human:[^@]+', 'human:eve')::json
      WHERE payload->>'run' = $1 AND payload->'order' IS NOT NULL`,
    [run],
  )
  await client.end()
  const { stops } = first.writ(['flow', 'status', run]).json
  expect(stops).toMatchObject([{ node_id: 'c' }])
  expect(stops[0].kind).not.toBe('answered')
  first.must(['flow', 'reject', run, 'c', '--comment', 'no'])
  expect(first.writ(['flow', 'status', run]).json.stops).toMatchObject([{ kind: 'answered' }])
})
