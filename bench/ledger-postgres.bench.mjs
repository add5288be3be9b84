/**
 * The ledger on PostgreSQL against the obvious design: every append locks the row of the head, links
 * its fact to the one before and commits alone. Same server, same facts, fsync on, in turns; client and
 * server share the machine. The obvious design makes a chain only; ours a tree and signed checkpoints.
 */
import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { startPostgres } from '../tools/postgres.mjs'
import { task } from './contracts-documents.mjs'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const host = await import(new URL('store/index.js', DIST))
const { prepareFact, sealFact } = await import(new URL('ledger/index.js', DIST))

export const title = 'ledger on PostgreSQL'

const PRINCIPAL = { kind: 'human', id: 'ann', namespace: 'farm' }
const CLIENTS = 16
const CALLERS = 2048
const REPEATS = 5
const MEASURE_MS = 1_500
const WARM_MS = 500

export async function measure() {
  const server = await startPostgres({ shared_buffers: '256MB', max_wal_size: '4GB' })
  try {
    const place = { connection: server.connection, schema: 'bench' }
    await host.createPostgresLedger(place, 'example.org/writ/bench', 'bench_appender')
    const keys = host.ringOf(host.keyFromSeed(host.newSeed()))
    const stores = []
    for (let index = 0; index < CLIENTS; index++) {
      stores.push(await host.openPostgresStore({ ...place, keys, isIndexing: false }))
    }
    const naive = await openNaive(server)
    const [first] = stores
    const rates = await bestRates({
      naive: (until) => callEach(naive.appends, 1, until),
      one: (until) => callEach([appendTo(first)], CALLERS, until),
      turns: (until) => callEach(stores.map(appendTo), CALLERS / CLIENTS, until),
      lonely: (until) => callEach(stores.map(appendTo), 1, until),
    })
    await naive.close()
    await Promise.all(stores.map((store) => store.close()))
    return rows(rates)
  } finally {
    await server.stop()
  }
}

function rows({ naive, one, turns, lonely }) {
  const theirs = `head-row lock, ${CLIENTS} clients`
  return [
    row(`facts/s, one sequencer, ${CALLERS} callers`, 'signed', one, theirs, naive, 30),
    row(
      `facts/s, ${CLIENTS} sequencers taking turns, ${CALLERS / CLIENTS} callers each`,
      'signed',
      turns,
      theirs,
      naive,
      null,
    ),
    row(`facts/s, ${CLIENTS} sequencers, one caller each`, 'signed', lonely, theirs, naive, null),
  ]
}

const DRAFTS = Array.from({ length: 4_096 }, () => {
  const record = { type: 'ao_act_task_v0', payload: { ...task, act_task_id: randomUUID() } }
  const entry = { stream: 'main', source: 'bench', principal: PRINCIPAL, record }
  const prepared = prepareFact(entry, { salt: () => new Uint8Array(32) })
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.violations))
  return prepared.draft
})

let made = 0
const nextDraft = () => DRAFTS[made++ % DRAFTS.length]

const appendTo = (store) => () => store.append([nextDraft()])

/** One append after the other on each client, in one transaction under the lock of the head's row. */
async function openNaive(server) {
  const pool = new pg.Pool({ ...server.connection, max: CLIENTS })
  await pool.query(`CREATE TABLE naive_head (one int PRIMARY KEY, size bigint, chain bytea);
    CREATE TABLE naive_facts (seq bigint PRIMARY KEY, fact text NOT NULL, chain bytea NOT NULL)`)
  await pool.query('INSERT INTO naive_head VALUES (1, 0, $1)', [Buffer.alloc(32)])
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => pool.connect()))
  const append = async (client) => {
    await client.query('BEGIN')
    const { rows } = await client.query('SELECT size, chain FROM naive_head FOR UPDATE')
    const [{ size, chain }] = rows
    const seal = { seq: Number(size), factId: randomUUID(), occurredAt: new Date().toISOString() }
    const fact = sealFact(nextDraft(), seal)
    const next = createHash('sha256').update(chain).update(fact).digest()
    await client.query('INSERT INTO naive_facts VALUES ($1, $2, $3)', [size, fact, next])
    await client.query('UPDATE naive_head SET size = size + 1, chain = $1', [next])
    await client.query('COMMIT')
  }
  const close = async () => {
    for (const client of clients) client.release()
    await pool.end()
  }
  return { appends: clients.map((client) => () => append(client)), close }
}

/** So many callers on each function, each waiting for its answer; how many answers there were. */
async function callEach(functions, callersEach, until) {
  let calls = 0
  const caller = async (append) => {
    while (performance.now() < until) {
      await append()
      calls++
    }
  }
  await Promise.all(
    functions.flatMap((append) => Array.from({ length: callersEach }, () => caller(append))),
  )
  return calls
}

async function bestRates(works) {
  const rates = Object.fromEntries(Object.keys(works).map((name) => [name, []]))
  for (const work of Object.values(works)) await work(performance.now() + WARM_MS)
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const [name, work] of Object.entries(works)) {
      const started = performance.now()
      const calls = await work(started + MEASURE_MS)
      rates[name].push((calls / (performance.now() - started)) * 1000)
    }
  }
  return Object.fromEntries(
    Object.entries(rates).map(([name, list]) => [name, list.sort((a, b) => a - b)[REPEATS >> 1]]),
  )
}
