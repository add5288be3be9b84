/**
 * Workers over one PostgreSQL server: runs with one participant that works for 100 ms, by one and
 * by two worker processes with ten places each, next to a plain graphile-worker queue whose jobs sleep
 * as long; the same with participants that work for a second; and how soon an idle worker takes a job.
 * Client, workers and server share the machine; only ratios mean something elsewhere.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run as startQueue } from 'graphile-worker'
import pg from 'pg'
import { startPostgres } from '../tools/postgres.mjs'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const { openLedger } = await import(new URL('store/index.js', DIST))
const { addRun, serverOf } = await import(new URL('fleet/index.js', DIST))
const { newRunId } = await import(new URL('runs/index.js', DIST))
const { pinFlow } = await import(new URL('schedules/index.js', DIST))
const { compileFlow } = await import(new URL('flow/index.js', DIST))

export const title = 'workers of a fleet'

const RUNS = Number(process.env.WRIT_BENCH_FLEET_RUNS ?? 200)
const WORK_MS = 100
/** Long enough that places, and not the processors of a small machine, bound the runs. */
const LONG_MS = 1_000
const LONG_RUNS = 80
const PLACES = 10
const LOOKS = 40
const PROGRAM = new URL('../bin/writ.cjs', import.meta.url).pathname

export async function measure() {
  const server = await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-fleet-'))
  const participant = createServer(async (request, response) => {
    for await (const _ of request);
    await pause(request.url === '/long' ? LONG_MS : WORK_MS)
    const artifact = { name: 'out', format: 'md', content: 'done' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ result_type: 'ARTIFACT', artifact }))
  })
  try {
    await new Promise((resolve) => participant.listen(0, '127.0.0.1', resolve))
    const place = await prepare(server, folder, `http://127.0.0.1:${participant.address().port}`)
    const latency = await pickUp(place)
    const one = await rate(place, 1, RUNS)
    const two = await rate(place, 2, RUNS)
    const long = { ...place, add: place.addLong }
    const longOne = await rate(long, 1, LONG_RUNS)
    const longTwo = await rate(long, 2, LONG_RUNS)
    const queue = await plainQueue(server)
    await place.ledger.close()
    return [
      row('runs/s, two workers', 'two processes', two, 'one process', one, 1.6),
      row(
        'runs/s of long work, two workers',
        'two processes',
        longTwo,
        'one process',
        longOne,
        1.6,
      ),
      row('runs/s, one worker', 'writ worker', one, 'plain graphile-worker queue', queue, 0.3),
      row('a job is taken within 50 ms (p50)', '50 ms', 50, 'measured, ms', latency, 1),
    ]
  } finally {
    participant.closeAllConnections()
    participant.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function prepare(server, folder, http) {
  const project = join(folder, 'project')
  mkdirSync(project)
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_STATE_HOME: join(folder, 'state'),
    USER: 'bench',
  }
  const writ = (...words) => {
    const ended = spawnSync(process.execPath, [PROGRAM, ...words, '--json'], { cwd: project, env })
    if (ended.status !== 0) throw new Error(`${words.join(' ')}: ${ended.stdout}${ended.stderr}`)
  }
  const { host, user } = server.connection
  writ('init', '--no-pass', '--store', `postgresql://${user}@/postgres?host=${host}`)
  writ('worker', 'prepare')
  const root = join(folder, 'state', 'writ')
  const [id] = readdirSync(root).filter((name) => name !== 'homes.json')
  const ledger = await openLedger({ directory: join(root, id) })
  const workspace = realpathSync(project)
  const adderOf = async (address) => {
    const flow = flowOf(address)
    await pinFlow(ledger, flow)
    const begin = { flow: flow.digest, participants: null, workspace }
    return async () => {
      const run = newRunId(Date.now())
      await addRun(serverOf(ledger), { run, stream: 'main', begin })
      return run
    }
  }
  const [add, addLong] = [await adderOf(http), await adderOf(`${http}/long`)]
  return { ledger, project, env, add, addLong, serverPid: pidOf(server) }
}

function flowOf(http) {
  const executor = { http, tools: 'none' }
  const node = { node_id: 'a', kind: 'WORK', title: '', phase_id: 'P', actor: 'w', executor }
  const nodes = [{ ...node, max_attempts: 3 }]
  return compileFlow({ type: 'flow_v1', flow_id: 'bench', title: '', nodes, edges: [] }).flow
}

/** Starts workers; `news` is called with each of their lines. */
async function startWorkers({ project, env }, count, news) {
  const words = [PROGRAM, 'worker', '--jsonl', '--concurrency', String(PLACES)]
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, words, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  let ready = 0
  for (const child of children) {
    let text = ''
    child.stdout.on('data', (chunk) => {
      const lines = `${text}${chunk}`.split('\n')
      text = lines.pop()
      for (const line of lines) {
        const told = JSON.parse(line)
        if (told.kind === 'ready') ready++
        news(told)
      }
    })
  }
  while (ready < count) await pause(20)
  const stop = async () => {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(children.map((child) => new Promise((end) => child.once('exit', end))))
  }
  return Object.assign(stop, { pids: children.map(({ pid }) => pid) })
}

async function rate(place, count, runs) {
  let done = 0
  const stop = await startWorkers(place, count, ({ kind }) => {
    if (kind === 'done') done++
  })
  // The first runs load what later ones have.
  for (let index = 0; index < PLACES * count; index++) await place.add()
  while (done < PLACES * count) await pause(20)
  const used = processorMs(stop.pids, place.serverPid)
  const started = performance.now()
  for (let index = 0; index < runs; index++) await place.add()
  while (done < runs + PLACES * count) await pause(10)
  const perSecond = (runs / (performance.now() - started)) * 1000
  const now = processorMs(stop.pids, place.serverPid)
  const costs = Object.entries(now).map(
    ([name, ms]) => `${name} ${Math.round((ms - used[name]) / runs)}`,
  )
  process.stderr.write(
    `${count} worker(s): ${perSecond.toFixed(2)} runs/s; processor ms a run: ${costs.join(', ')}\n`,
  )
  await stop()
  return perSecond
}

const TICK_MS = 10

function pidOf({ directory }) {
  return Number(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** Processor time by the kernel's accounts: of the workers, of what they started, and of the server. */
function processorMs(workers, server) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf)
  const sum = (some, ...fields) =>
    some.reduce((total, one) => total + fields.reduce((own, field) => own + one[field], 0), 0) *
    TICK_MS
  const own = all.filter(({ pid }) => workers.includes(pid))
  const below = new Set(workers)
  // A child is listed after its parent, but for numbers that came round.
  for (const { pid, parent } of all) if (below.has(parent)) below.add(pid)
  const others = all.filter(({ pid }) => below.has(pid) && !workers.includes(pid))
  const served = all.filter(({ pid, parent }) => pid === server || parent === server)
  return {
    worker: sum(own, 'own'),
    children: sum(own, 'ended') + sum(others, 'own', 'ended'),
    server: sum(served, 'own', 'ended'),
  }
}

function statOf(name) {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map(
      (at) => fields[at],
    )
    return [{ pid: Number(name), parent, own: user + system, ended: endedUser + endedSystem }]
  } catch {
    // It ended since it was listed.
    return []
  }
}

async function pickUp(place) {
  const taken = new Map()
  let done = 0
  const stop = await startWorkers(place, 1, ({ kind, run, at }) => {
    if (kind === 'taken') taken.set(run, Date.parse(at))
    if (kind === 'done') done++
  })
  const waits = []
  for (let index = 0; index < LOOKS; index++) {
    const addedMs = Date.now()
    const run = await place.add()
    while (done <= index) await pause(5)
    waits.push(taken.get(run) - addedMs)
  }
  await stop()
  return waits.sort((a, b) => a - b)[Math.floor(LOOKS / 2)]
}

async function plainQueue(server) {
  const pool = new pg.Pool({ ...server.connection, max: PLACES + 5 })
  const utils = await makeWorkerUtils({ pgPool: pool, schema: 'plain_jobs' })
  await utils.migrate()
  let done = 0
  const runner = await startQueue({
    pgPool: pool,
    schema: 'plain_jobs',
    concurrency: PLACES,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    taskList: {
      sleep: async () => {
        await pause(WORK_MS)
        done++
      },
    },
  })
  const started = performance.now()
  for (let index = 0; index < RUNS; index++) await utils.addJob('sleep', { index })
  while (done < RUNS) await pause(10)
  const perSecond = (RUNS / (performance.now() - started)) * 1000
  await runner.stop()
  await utils.release()
  await pool.end()
  return perSecond
}
