/**
 * The service under load (H-8): reads and facts through HTTP, the same with a bare Fastify and SQLite, 200
 * proposals at once, and 1,000 readers of events. Services and peer are processes of their own; this one
 * makes the load for both alike.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { row } from './measure.mjs'
import { WRIT, withPlace } from './sessions-place.mjs'

export const title = 'service'

const DEVICES = 32
const CALLERS = 32
const TURNS = 7
const TURN_MS = 1_000
const PROPOSALS = Number(process.env.WRIT_BENCH_PROPOSALS ?? 200)
const READERS = 1_000
const MEGABYTE = 1 << 20

/** Connections are kept for less long than a server keeps them. */
const agent = new Agent({ keepAlive: true, maxSockets: 4_096, timeout: 3_000 })

export async function measure() {
  return withPlace([['a.txt', 'a\n']], async (place) => {
    const devices = Array.from({ length: DEVICES }, (_, index) => deviceOf(place, index))
    const task = issue(place)
    const service = await started(place, [WRIT, 'serve', '--json', '--listen', '127.0.0.1:0'])
    const peer = await started(place, ['bench/service-peer.mjs', join(place.folder, 'peer.db')])
    try {
      const urls = { ours: JSON.parse(service.line).url, theirs: peer.line.trim() }
      return [
        ...(await rates(urls, devices, task)),
        ...(await readersOf(urls.ours, devices, service)),
        ...(await proposals(urls.ours, place, service)),
      ]
    } finally {
      await Promise.all([service, peer].map(ended))
      agent.destroy()
    }
  })
}

function writ({ project, env }, args, input) {
  const options = { cwd: project, env, encoding: 'utf8', input: input ?? '' }
  return execFileSync(process.execPath, [WRIT, ...args], {
    ...options,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

function tokenOf(place, principal) {
  writ(place, ['principal', 'add', principal])
  return JSON.parse(writ(place, ['token', 'create', principal, '--json'])).token
}

/** The pace of one principal is bounded, so many report. */
function deviceOf(place, index) {
  const id = `pump-${index}`
  return {
    token: tokenOf(place, `device:${id}@farm`),
    executor: { kind: 'device', id, namespace: 'farm' },
  }
}

function issue(place) {
  const { act_task_id: _id, created_at_ts: _at, ...task } = vector('task')
  const issuer = { kind: 'human', id: 'ann', namespace: 'local' }
  const answer = writ(place, ['task', 'issue', '-', '--json'], JSON.stringify({ ...task, issuer }))
  return JSON.parse(answer).act_task_id
}

function vector(name) {
  return JSON.parse(readFileSync(`spec/vectors/contracts/${name}.json`, 'utf8')).bases.full
}

/** A process, and the first line that it printed. */
async function started({ project, env }, words) {
  const [file, ...args] = words
  const isOwn = file === WRIT
  const child = spawn(
    process.execPath,
    [join(process.cwd(), isOwn ? 'bin/writ.cjs' : file), ...args],
    {
      cwd: isOwn ? project : process.cwd(),
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const line = await new Promise((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk)))
    child.once('exit', (status) => reject(new Error(`${file} ended with ${status}`)))
  })
  return { child, line }
}

function ended({ child }) {
  if (child.exitCode !== null) return undefined
  child.kill('SIGTERM')
  return new Promise((resolve) => child.once('exit', resolve))
}

/** Status and text of an answer. */
function call(url, { method = 'GET', token, body, wait, agent: own = agent }) {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: own, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function rates({ ours, theirs }, devices, task) {
  const receipt = vector('receipt')
  const read = {
    ours: (index) =>
      call(`${ours}/v1/streams/main/facts?limit=20`, { token: devices[index % DEVICES].token }),
    theirs: () => call(`${theirs}/facts?limit=20`, {}),
  }
  const add = {
    ours: (index) => {
      const { token, executor } = devices[index % DEVICES]
      const meta = { idempotency_key: randomUUID() }
      const one = { ...receipt, act_task_id: task, executor_id: executor, meta }
      const body = JSON.stringify({ receipt: one })
      return call(`${ours}/v1/receipts`, { method: 'POST', token, body })
    },
    theirs: (index) => {
      const { executor } = devices[index % DEVICES]
      const meta = { idempotency_key: randomUUID() }
      const one = { ...receipt, act_task_id: task, executor_id: executor, meta }
      const body = JSON.stringify({ receipt: one })
      return call(`${theirs}/facts`, { method: 'POST', body })
    },
  }
  // Facts first: there is something to read then, and the peer gets the same page.
  const added = await ratesOf(add)
  const { text: page } = await read.ours(0)
  await call(`${theirs}/page`, { method: 'POST', body: page })
  sameSize(page, (await read.theirs()).text)
  const got = await ratesOf(read)
  return [
    row(
      'reads, 20 facts, requests/s',
      'GET /v1/streams/…/facts',
      got.ours,
      'bare Fastify, SQLite',
      got.theirs,
      0.5,
    ),
    row(
      'facts, requests/s',
      'POST /v1/receipts',
      added.ours,
      'bare Fastify, SQLite',
      added.theirs,
      0.3,
    ),
  ]
}

/** Fails unless both sides answer as many bytes, but for the number of the next fact. */
function sameSize(ours, theirs) {
  if (Math.abs(ours.length - theirs.length) <= 8) return
  throw new Error(`the service answers ${ours.length} bytes, the peer ${theirs.length}`)
}

/** The median of the turns that each took in turn: the best one would hide what grows slower. */
async function ratesOf(works) {
  const rates = { ours: [], theirs: [] }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, work] of Object.entries(works)) rates[name].push(await rateOf(work))
  }
  return { ours: median(rates.ours), theirs: median(rates.theirs) }
}

function median(values) {
  return values.sort((left, right) => left - right)[Math.floor(values.length / 2)]
}

async function rateOf(work) {
  const started = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let index = caller; performance.now() - started < TURN_MS; index += CALLERS) {
        const { status, text } = await work(index)
        if (status === 429) return
        if (status !== 200) throw new Error(`${status}: ${text}`)
        done++
      }
    }),
  )
  return (done / (performance.now() - started)) * 1_000
}

function memoryOf({ child }) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  return Number(kilobytes) * 1_024
}

/** Readers of events who hear nothing. */
async function readersOf(ours, devices, service) {
  const before = memoryOf(service)
  const open = await Promise.all(
    Array.from({ length: READERS }, (_, index) => {
      const headers = { authorization: `Bearer ${devices[index % DEVICES].token}` }
      return new Promise((resolve, reject) => {
        const sent = request(`${ours}/v1/events`, { agent: false, headers }, (answer) => {
          answer.resume()
          if (answer.statusCode === 200) resolve(sent)
          else reject(new Error(`a reader got ${answer.statusCode}`))
        })
        sent.on('error', reject)
        sent.end()
      })
    }),
  )
  const used = Math.max(memoryOf(service) - before, MEGABYTE)
  for (const sent of open) {
    sent.removeAllListeners('error')
    sent.on('error', () => undefined)
    sent.destroy()
  }
  return [
    row(
      `memory of ${READERS} readers of events, 1/MB`,
      'used',
      MEGABYTE / used,
      '100 MB',
      1 / 100,
      1,
    ),
  ]
}

/** Proposals of a small command, all at once. */
async function proposals(ours, place, service) {
  const token = tokenOf(place, 'ai:bot@local')
  const before = memoryOf(service)
  const example = JSON.parse(writ(place, ['propose', '--example', 'COMMAND_EXECUTION']))
  const started = performance.now()
  const answers = await Promise.all(
    Array.from({ length: PROPOSALS }, async (_, index) => {
      const { id, body } = proposal(place, example, `out-${index}.txt`)
      let { status, text } = await call(`${ours}/v1/actions`, {
        method: 'POST',
        token,
        body,
        wait: 60,
        agent: false,
      })
      const at = `${ours}/v1/actions/${id}`
      for (let asked = 0; asked < 600 && (status !== 200 || !isDecided(text)); asked++) {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        ;({ status, text } = await call(at, { token, agent: false }))
      }
      return isDecided(text)
    }),
  )
  const seconds = (performance.now() - started) / 1_000
  const decided = answers.filter(Boolean).length
  const now = memoryOf(service)
  return [
    row(`${PROPOSALS} proposals at once`, 'decided', decided, 'proposed', PROPOSALS, 1),
    row(
      'the same, proposals/s',
      'through the service',
      decided / seconds,
      'writ propose, one by one',
      commandRate(place, example),
      null,
    ),
    row(
      'memory of the service, 1/MB',
      'after them',
      MEGABYTE / now,
      'twice as before',
      MEGABYTE / (2 * before),
      1,
    ),
  ]
}

function isDecided(text) {
  const { status } = JSON.parse(text)
  return status === 'promoted' || status === 'blocked' || status === 'denied'
}

/** A small command that creates a file. */
function proposal({ project }, example, name) {
  const filesystem = { create: [join(project, name)], modify: [], delete: [] }
  const id = randomUUID()
  const effects = { ...example.descriptor.effects, filesystem }
  const descriptor = { ...example.descriptor, action_id: id, effects }
  const operation = { ...example.operation, argv: ['sh', '-c', `echo x > ${name}`] }
  return { id, body: JSON.stringify({ descriptor, operation }) }
}

/** `writ propose` of the same, one after the other. */
function commandRate(place, example) {
  const times = Array.from({ length: 5 }, (_, index) => {
    const { body } = proposal(place, example, `own-${index}.txt`)
    const started = performance.now()
    writ(place, ['propose', '-', '--json'], body)
    return performance.now() - started
  })
  return 1_000 / Math.min(...times)
}
