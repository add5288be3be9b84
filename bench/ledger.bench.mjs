/**
 * Compares the ledger with bare SQLite, by the same driver, and bare SHA-256, its own single appends,
 * and itself when it was small. One machine, one disk, one run; only ratios mean something elsewhere.
 */
import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { task } from './contracts-documents.mjs'
import { HYPERCORE, hypercoreRate } from './ledger-hypercore.mjs'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const host = await import(new URL('store/index.js', DIST))
const ledgerRoom = await import(new URL('ledger/index.js', DIST))
const { connect, createKey, createLedgerFile, Engine, FactBlocks, makeCurrent, openKeys } = host
const { InlineWriter, publicKeyOf, SqliteStore } = host
const {
  Audit,
  assemble,
  equalBytes,
  nodesOf,
  openCheckpoint,
  planInclusion,
  prepareFact,
  verifierFor,
} = ledgerRoom

export const title = 'ledger'

const PRINCIPAL = { kind: 'human', id: 'ann', namespace: 'farm' }
const NAME = 'example.org/writ/bench'
const REPEATS = 5
const LARGE = Number(process.env.WRIT_BENCH_FACTS ?? 1_000_000)

export async function measure() {
  const folder = mkdtempSync(join(process.env.WRIT_BENCH_FOLDER ?? tmpdir(), 'writ-ledger-'))
  try {
    return [...(await batches(folder)), ...(await callers(folder)), ...(await large(folder))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An empty ledger in a directory of its own. */
function newPlace(folder, name) {
  const directory = join(folder, name)
  const keysDirectory = join(directory, 'keys')
  const file = join(directory, 'ledger.db')
  mkdirSync(directory)
  createLedgerFile(file, NAME)
  makeCurrent(keysDirectory, createKey(keysDirectory, NAME))
  return { file, keysDirectory, engine: () => new Engine({ file, keys: openKeys(keysDirectory) }) }
}

let made = 0

/** Ids from the host rise with time; here a counter replaces the clock. */
function entry() {
  const id = `${(made++).toString(16).padStart(12, '0')}-${randomUUID().slice(19)}`
  const payload = { ...task, act_task_id: id }
  const record = { type: 'ao_act_task_v0', payload }
  return { stream: 'main', source: 'bench', principal: PRINCIPAL, record, idempotencyKey: id }
}

const salt = () => new Uint8Array(32)

function draft() {
  const prepared = prepareFact(entry(), { salt })
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.violations))
  return prepared.draft
}

const drafts = (count) => Array.from({ length: count }, draft)

/** Operations per second of a stretch of work. */
function rate(count, work) {
  const started = performance.now()
  work()
  return (count / (performance.now() - started)) * 1000
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

function commit(engine, list) {
  const [answer] = engine.commit([{ drafts: list }])
  if (answer instanceof Error) throw answer
  return answer
}

function commitAll(engine, lists) {
  for (const list of lists) commit(engine, list)
}

/** Batches of 64 against 100 ready-made rows per transaction of the same bytes. */
async function batches(folder) {
  const count = 12_800
  const { engine: open, file } = newPlace(folder, 'batches')
  const engine = open()
  commit(engine, drafts(64))
  const text = connect(file, 'read').prepare('SELECT fact FROM facts LIMIT 1').pluck().get()
  const raw = rawTable(join(folder, 'raw.db'))
  const rates = { raw: [], ready: [], judged: [] }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    rates.raw.push(rate(count, () => raw(text, count)))
    const ready = Array.from({ length: count / 64 }, () => drafts(64))
    rates.ready.push(rate(count, () => commitAll(engine, ready)))
    rates.judged.push(
      rate(count, () => {
        for (let index = 0; index < count / 64; index++) commit(engine, drafts(64))
      }),
    )
    while (engine.followUp());
  }
  engine.close()
  const bytes = Buffer.from(text)
  const hypercore = await hypercoreRate(folder, bytes, count, 64, REPEATS)
  const beside = `bare SQLite, 100 rows of ${text.length} bytes per transaction`
  return [
    row(
      '64 drafts per commit, signed, durable',
      'facts/s',
      median(rates.ready),
      beside,
      median(rates.raw),
      0.2,
    ),
    row(
      '64 drafts per commit, signed, durable',
      'facts/s',
      median(rates.ready),
      HYPERCORE,
      hypercore,
      null,
    ),
    row(
      '64 entries per commit, judged by contract',
      'facts/s',
      median(rates.judged),
      beside,
      median(rates.raw),
      null,
    ),
  ]
}

function rawTable(file) {
  const database = connect(file, 'create')
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec('CREATE TABLE facts (seq INTEGER PRIMARY KEY, fact TEXT)')
  const insert = database.prepare('INSERT INTO facts (fact) VALUES (?)')
  const [begin, commit] = [database.prepare('BEGIN'), database.prepare('COMMIT')]
  const hundred = (text) => {
    begin.run()
    for (let index = 0; index < 100; index++) insert.run(text)
    commit.run()
  }
  return (text, count) => {
    for (let index = 0; index < count / 100; index++) hundred(text)
  }
}

/** Facts per second of so many callers, each waiting for its own fact. */
async function callersRate(store, callers, facts) {
  const ready = drafts(facts)
  let next = 0
  const caller = async () => {
    while (next < facts) await store.append([ready[next++]])
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: callers }, caller))
  return (facts / (performance.now() - started)) * 1000
}

async function callers(folder) {
  const { file, keysDirectory } = newPlace(folder, 'callers')
  const store = new SqliteStore(file, new InlineWriter({ file, keys: openKeys(keysDirectory) }))
  await callersRate(store, 128, 5_000)
  const rates = { one: [], many: [] }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    rates.one.push(await callersRate(store, 1, 1_000))
    rates.many.push(await callersRate(store, 128, 20_000))
  }
  await store.close()
  single.rate = median(rates.one)
  return [
    row('128 callers, one fact each', 'facts/s', median(rates.many), 'one caller', single.rate, 15),
  ]
}

/** What one caller gets, for the rows that compare with it. */
const single = { rate: 0 }

async function large(folder) {
  const small = newPlace(folder, 'small')
  const big = newPlace(folder, 'big')
  const [smallEngine, bigEngine] = [small.engine(), big.engine()]
  for (let size = 0; size < 1_000; size += 100) commit(smallEngine, drafts(100))
  for (let size = 0; size < LARGE; size += 1_000) {
    commit(bigEngine, drafts(1_000))
    bigEngine.followUp()
  }
  while (bigEngine.followUp());
  const rates = { small: [], big: [] }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    // The small one is made again, so that it is small each time.
    const fresh = newPlace(folder, `small-${repeat}`).engine()
    for (let size = 0; size < 1_000; size += 100) commit(fresh, drafts(100))
    for (const [name, engine] of [
      ['small', fresh],
      ['big', bigEngine],
    ]) {
      const ready = Array.from({ length: 100 }, () => drafts(64))
      rates[name].push(rate(6_400, () => commitAll(engine, ready)))
      while (engine.followUp());
    }
    fresh.close()
  }
  smallEngine.close()
  bigEngine.close()
  const shown = LARGE.toLocaleString('en')
  return [
    row(
      `append at ${shown} facts, 64 per commit`,
      'facts/s',
      median(rates.big),
      'at 1,000 facts',
      median(rates.small),
      0.8,
    ),
    ...(await verification(big)),
    ...(await proofs(big)),
  ]
}

/**
 * Tree, chain and tiles of every fact, and the newest signature, against hashing the same bytes. Both
 * do nothing but compute, so processor time is what is compared: other work does not bend the ratio.
 */
async function verification({ file, keysDirectory }) {
  const database = connect(file, 'read')
  const sample = database.prepare('SELECT CAST(fact AS BLOB) FROM facts LIMIT 20000').pluck().all()
  const bare = median(
    Array.from({ length: REPEATS }, () =>
      computeRate(sample.length, () => {
        for (const bytes of sample) hash('sha256', bytes, 'hex')
      }),
    ),
  )
  sample.length = 0
  const { checkpoint, size } = await readHead(file, keysDirectory)
  const key = openKeys(keysDirectory).current()
  const verifier = verifierFor(publicKeyOf(key, `${NAME}/main`))
  verify(database, Math.min(size, 50_000))
  globalThis.gc?.()
  const verified = computeRate(size, () => {
    const opened = openCheckpoint(checkpoint, [verifier])
    const audit = verify(database, size)
    if (!opened.ok || !equalBytes(opened.checkpoint.root, audit.root()))
      throw new Error('not signed')
  })
  database.close()
  return [
    row(
      'verification of tree, chain, tiles, signature',
      'facts per processor second',
      verified,
      'bare SHA-256 of the same bytes',
      bare,
      0.25,
    ),
  ]
}

/** Operations per second of processor time. */
function computeRate(count, work) {
  const started = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(started)
  return (count / (user + system)) * 1e6
}

const BLOCK = 256
const FULL_TILE = 256 * 32

/** The same tile that the facts make must be stored, byte for byte. */
function verify(database, size) {
  const blocks = new FactBlocks(database)
  const tile = database.prepare('SELECT hashes, nodes FROM tiles WHERE place = ?')
  const audit = new Audit()
  while (audit.size < size) {
    const block = blocks.read(1, audit.size, Math.min(size, audit.size + BLOCK))
    if (block === null || !block.isWhole) throw new Error(`facts are missing behind ${audit.size}`)
    for (let index = 0; index < block.entries.length; index++) {
      if (!audit.takePrefixed(block.entries[index], block.chains[index])) throw new Error('broken')
    }
    for (const { level, index, hashes, inner } of audit.takeTiles()) {
      // A tile is compared once: when it is full, or at the end.
      if (hashes.length < FULL_TILE && audit.size < size) continue
      const stored = tile.get(2 ** 32 + level * 2 ** 28 + index)
      const isOurs = stored.hashes.equals(hashes) && stored.nodes.equals(inner)
      if (!isOurs && stored.hashes.length === hashes.length) throw new Error('tile')
    }
  }
  return audit
}

async function proofs({ file, keysDirectory }) {
  const { size } = await readHead(file, keysDirectory)
  const prove = (store, index) => {
    const plan = planInclusion(index, size)
    return assemble(plan, store.readNodes('main', nodesOf(plan)))
  }
  const writer = () => new InlineWriter({ file, keys: openKeys(keysDirectory) })
  const [warm, cold] = [new SqliteStore(file, writer()), new SqliteStore(file, writer())]
  // 200,000 leaves are what the cache of tiles holds; the others are read each time.
  const near = () => Math.floor(Math.random() * Math.min(size, 200_000))
  const anywhere = () => Math.floor(Math.random() * size)
  for (let index = 0; index < 5_000; index++) prove(warm, near())
  const memory = rate(50_000, () => {
    for (let index = 0; index < 50_000; index++) prove(warm, near())
  })
  const disk = rate(10_000, () => {
    for (let index = 0; index < 10_000; index++) prove(cold, anywhere())
  })
  await warm.close()
  await cold.close()
  return [
    row('inclusion proofs from memory', 'proofs/s', memory, 'single appends', single.rate, 20),
    row('inclusion proofs from disk', 'proofs/s', disk, 'single appends', single.rate, 3),
  ]
}

async function readHead(file, keysDirectory) {
  const store = new SqliteStore(file, new InlineWriter({ file, keys: openKeys(keysDirectory) }))
  const head = await store.head('main')
  await store.close()
  return head
}
