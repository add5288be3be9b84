/**
 * The proof of the fleet: five workers and two services of two machines on one PostgreSQL server,
 * all of them and the server killed at random while runs are under way. Every run ends, no outcome is
 * lost or doubled, and the ledger verifies. `npm run soak fleet` walks 2,000 runs; `WRIT_SEED` repeats.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { addRun, retryJob, seenJobs, serverOf } from '../../src/fleet/index.ts'
import { compileFlow } from '../../src/flow/index.ts'
import { lookAtRun, newRunId } from '../../src/runs/index.ts'
import { pinFlow } from '../../src/schedules/index.ts'
import { type Ledger, openLedger, verifyLedger } from '../../src/store/index.ts'
import type { Endpoint } from '../flow-run/endpoints.ts'
import { Fleet, type FleetMachine } from './fleet-rig.ts'
import { numbers, WorkerProcess, workEndpoint, writeFlow } from './worker-rig.ts'

const RUNS = Number(process.env['WRIT_FLEET_RUNS'] ?? 10)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 1_000_000)
const NODES = 2
/** The usual ten runs take half a minute on two quiet cores, and this much where others want them, too. */
const END_MS = 300_000 + RUNS * 20_000
const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')

let fleet: Fleet
let endpoint: Endpoint
const machines: FleetMachine[] = []
const children: ChildProcess[] = []
const started: WorkerProcess[] = []

beforeAll(async () => {
  fleet = await Fleet.start()
  const first = fleet.first('alpha')
  first.must(['worker', 'prepare', '--store-owner', 'keeper'])
  machines.push(first, fleet.joined(first, 'beta'))
  endpoint = workEndpoint(100)
}, 300_000)

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await endpoint.close()
  await fleet.stop()
}, 300_000)

function stateOf(machine: FleetMachine): string {
  const root = join(machine.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  return join(root, id)
}

/** A process that is started again when it was killed. */
class Kept {
  readonly #start: () => ChildProcess
  #child: ChildProcess

  constructor(start: () => ChildProcess) {
    this.#start = start
    this.#child = this.#begin()
  }

  #begin(): ChildProcess {
    const child = this.#start()
    children.push(child)
    return child
  }

  async kill(isAgain = true): Promise<void> {
    const child = this.#child
    if (child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    }
    if (isAgain) this.#child = this.#begin()
  }

  /** Starts it again if it ended by itself, as a supervisor would. */
  look(): void {
    if (this.#child.exitCode !== null) this.#child = this.#begin()
  }
}

function serve(machine: FleetMachine): ChildProcess {
  const words = [PROGRAM, 'serve', '--listen', '127.0.0.1:0']
  return spawn(process.execPath, words, { cwd: machine.project, env: machine.env, stdio: 'ignore' })
}

function work(machine: FleetMachine): ChildProcess {
  const worker = new WorkerProcess(machine, ['--concurrency', '4'])
  started.push(worker)
  return worker.child
}

/** What workers told that may say why a run does not end. */
function troubles(): string {
  const told = started.flatMap(({ news, err }) => [
    ...news.filter(({ kind }) => kind === 'failed' || kind === 'away').map((one) => one.message),
    ...(err === '' ? [] : [err]),
  ])
  return [...new Set(told)].join('\n')
}

/** Puts the runs of a machine on the server. */
async function addRuns(machine: FleetMachine, ledger: Ledger, count: number, url: string) {
  const file = writeFlow(machine, 'killed', url, { nodes: NODES })
  const compiled = compileFlow(JSON.parse(readFileSync(file, 'utf8')) as Flow)
  if (!compiled.ok) throw new Error('the flow compiles')
  await pinFlow(ledger, compiled.flow)
  const workspace = realpathSync(machine.project)
  const begin = { flow: compiled.flow.digest, participants: null, workspace }
  const runs: string[] = []
  for (let index = 0; index < count; index++) {
    const run = newRunId(Date.now())
    await addRun(serverOf(ledger), { run, stream: 'main', begin })
    runs.push(run)
  }
  return runs
}

/** Tries again while the server is away. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries > 60) throw error
      await pause(500)
    }
  }
}

async function outcomesOf(ledger: Ledger, run: string): Promise<number> {
  const client = new pg.Client(fleet.server.connection)
  await client.connect()
  const { rows } = await client.query(
    `SELECT count(*)::int AS count FROM ${serverOf(ledger).schema}.facts
      WHERE position($1 IN fact) > 0 AND position('"type":"attempt_ended"' IN fact) > 0
        AND position('"outcome":"ended"' IN fact) > 0`,
    [run],
  )
  await client.end()
  return rows[0].count
}

it('every run ends, nothing is lost or doubled, and the ledger verifies', {
  timeout: END_MS + 60_000 + RUNS * 5_000,
}, async () => {
  process.stderr.write(`fleet: ${RUNS} runs, seed ${SEED}\n`)
  const next = numbers(SEED)
  const url = await endpoint.open()
  const ledgers = await Promise.all(
    machines.map((machine) => openLedger({ directory: stateOf(machine) })),
  )
  const runs: string[][] = []
  for (const [index, machine] of machines.entries()) {
    const ledger = ledgers[index] as Ledger
    runs.push([...(await addRuns(machine, ledger, Math.ceil(RUNS / machines.length), url))])
  }
  const [alpha, beta] = machines as [FleetMachine, FleetMachine]
  const workers = [alpha, alpha, alpha, beta, beta].map((machine) => new Kept(() => work(machine)))
  const services = [alpha, beta].map((machine) => new Kept(() => serve(machine)))
  const server = serverOf(ledgers[0] as Ledger)
  const killsMax = Math.max(4, RUNS / 10)
  let kills = 0
  const startedMs = performance.now()
  for (;;) {
    await pause(1_000 + next() * 3_000)
    for (const one of [...workers, ...services]) one.look()
    const { jobs } = await patiently(() => seenJobs(server))
    const left = jobs.filter(({ task }) => task === 'run')
    if (left.length === 0) break
    if (performance.now() - startedMs > END_MS)
      throw new Error(`seed ${SEED}, ${kills} kills: ${JSON.stringify(left)}\n${troubles()}`)
    for (const { id, state } of left) if (state === 'stuck') await retryJob(server, id)
    if (kills >= killsMax) continue
    kills++
    const choice = next()
    if (choice < 0.15) {
      await fleet.server.kill('crash')
      await pause(next() * 1_000)
      await fleet.server.start()
    } else if (choice < 0.3) await services[Math.floor(next() * services.length)]?.kill()
    else await workers[Math.floor(next() * workers.length)]?.kill()
  }
  for (const one of [...workers, ...services]) await one.kill(false)
  for (const [index, own] of runs.entries()) {
    const ledger = ledgers[index] as Ledger
    const home = {
      directory: join((machines[index] as FleetMachine).project, '.writ'),
      state: stateOf(machines[index] as FleetMachine),
    }
    for (const run of own) {
      const { status } = await patiently(() => lookAtRun({ ledger, stream: 'main', home }, run))
      expect([run, status, await outcomesOf(ledger, run)]).toEqual([run, 'DONE', NODES])
    }
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  process.stderr.write(`fleet: ${kills} kills in ${seconds} s\n${troubles()}\n`)
  for (const ledger of ledgers) await ledger.close()
  const report = await verifyLedger({ directory: stateOf(alpha) }, { contracts: true, index: true })
  expect([report.problems, report.ok]).toEqual([[], true])
})
