/** Dispatch by workers (X-2, D-1): one worker of all at a time, and the next one when it dies. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Broker, startBroker } from '../../examples/field/broker.mjs'
import { until } from '../field/field-rig.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { WorkerProcess } from './worker-rig.ts'

const WORD = 'a-word-for-trials'
const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const TASK = JSON.parse(readFileSync('examples/documents/task.json', 'utf8'))
let fleet: Fleet
let first: FleetMachine
let second: FleetMachine
let broker: Broker
let device: ChildProcess
let doneFile = ''
const workers: WorkerProcess[] = []

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  second = fleet.joined(first, 'beta')
  const { namespace } = first.must(['principal', 'list']).principals[0]
  const user = `${namespace}/pump`
  broker = await startBroker(join(fleet.folder, 'broker'), { writ: WORD, [user]: WORD })
  const way = { name: 'field', kind: 'mqtt', url: broker.url, user: 'writ', secret: 'FIELD_WORD' }
  const dispatch = [{ ...way, ca: broker.ca, devices: [`pump@${namespace}`] }]
  const laws = JSON.stringify({ laws: [], settings: { dispatch } })
  writeFileSync(join(first.project, '.writ', 'laws.yaml'), laws)
  first.must(['laws', 'accept', '--yes'])
  for (const machine of [first, second]) machine.spawn(['secret', 'set', 'FIELD_WORD'], WORD)
  first.must(['principal', 'add', `device:pump@${namespace}`])
  device = startDevice(`pump@${namespace}`)
}, 180_000)

afterAll(async () => {
  device.kill('SIGTERM')
  for (const worker of workers) await worker.kill()
  await broker.stop()
  await fleet.stop()
})

/** A device whose work takes a second and is counted in a file. */
function startDevice(name: string): ChildProcess {
  const dir = join(fleet.folder, 'pump')
  const key = first.spawn(['device', 'key', '--dir', dir]).stdout.trim()
  first.must(['device', 'enroll', name, key])
  doneFile = join(fleet.folder, 'done')
  const word = join(fleet.folder, 'word')
  writeFileSync(word, WORD)
  // Each machine signs what it offers with its own key.
  const { keys } = first.must(['ledger', 'key'])
  const homeKeys = keys.flatMap((one: string) => ['--home-key', one])
  const reach = ['--broker', broker.url, '--ca', broker.ca, '--password-file', word]
  const work = ['--', 'sh', '-c', `echo done >> ${doneFile}; sleep 1`]
  const own = ['device', 'run', name, ...homeKeys, '--dir', dir]
  const words = [PROGRAM, ...own, ...reach, ...work]
  return spawn(process.execPath, words, { cwd: first.project, env: first.env, stdio: 'ignore' })
}

function issue(): string {
  const issuer = first.must(['principal', 'list']).principals[0]
  const start = Date.now()
  const document = {
    ...TASK,
    issuer: { kind: 'human', id: issuer.id, namespace: issuer.namespace },
    time_window: { start_ts: start, end_ts: start + 600_000 },
    meta: { device_id: 'pump' },
  }
  return first.must(['task', 'issue', '-'], JSON.stringify(document)).act_task_id
}

function stateOf(id: string): string {
  return first.must(['task', 'show', id]).dispatch.state
}

function dispatches({ news }: WorkerProcess): boolean {
  return news.some((one) => one.kind === 'taken' && one.task === 'dispatch')
}

/** How often a device carried something out. */
function doneCount(): number {
  return existsSync(doneFile) ? readFileSync(doneFile, 'utf8').split('\n').length - 1 : 0
}

it('is taken over by another worker when its worker is killed, and the task is done once', {
  timeout: 240_000,
}, async () => {
  const plain = new WorkerProcess(first)
  workers.push(plain)
  const able = [first, second].map((machine) => new WorkerProcess(machine, ['--dispatch']))
  workers.push(...able)
  const holder = await until(
    async () => able.find(dispatches),
    (found) => found !== undefined,
    30_000,
  )
  if (holder === undefined) throw new Error('a worker dispatches')
  const other = able.find((one) => one !== holder) as WorkerProcess
  const id = issue()
  await until(
    async () => stateOf(id),
    (state) => state === 'started',
    60_000,
  )
  const childPid = dispatcherOf(holder)
  await holder.kill()
  expect(dispatches(other)).toBe(false)
  await other.until((one) => one.kind === 'taken' && one.task === 'dispatch', 10_000)
  await until(
    async () => stateOf(id),
    (state) => state === 'answered',
    60_000,
  )
  // Its process ends with it.
  await until(
    async () => existsSync(`/proc/${childPid}`),
    (isThere) => !isThere,
    10_000,
  )
  const next = issue()
  await until(
    async () => stateOf(next),
    (state) => state === 'answered',
    60_000,
  )
  await pause(1_500)
  expect(doneCount()).toBe(2)
  expect([dispatches(plain), first.must(['ledger', 'verify']).ok]).toEqual([false, true])
  await other.kill('SIGTERM')
  expect(other.err).toBe('')
})

/** The process with which a worker dispatches. */
function dispatcherOf({ child }: WorkerProcess): number {
  const text = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  const pids = text.split(' ').filter((word) => word !== '')
  const found = pids.find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0dispatch\0'),
  )
  if (found === undefined) throw new Error(`no dispatcher among ${text}`)
  return Number(found)
}
