/**
 * Runs of flows on the ledger: one run against its single appends, fifty at once against one, and
 * resuming a long run against reading and parsing its facts. The nodes start no program, so that only
 * the walk and its facts are measured. One machine, one disk, one run; only ratios mean something
 * elsewhere.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const { createLedger, openLedger } = await import(new URL('store/index.js', DIST))
const { loadRun, startRun } = await import(new URL('runs/index.js', DIST))
const { SYSTEM_CLOCK } = await import(new URL('machine/index.js', DIST))
const { compileFlow, emptyState, foldFacts, step } = await import(new URL('flow/index.js', DIST))

export const title = 'runs of flows'

const ANN = { kind: 'human', id: 'ann', namespace: 'bench' }
const NODES = 400
const LONG_FACTS = Number(process.env.WRIT_BENCH_RUN_FACTS ?? 100_000)
const REPEATS = 3

/** A chain in one phase, with a guard at every edge. */
function chain(length) {
  const nodes = Array.from({ length }, (_, index) => ({
    node_id: `n${index}`,
    kind: 'WORK',
    title: '',
    phase_id: 'P',
    actor: 'a',
    max_attempts: 1,
  }))
  const edges = nodes.slice(1).map(({ node_id }, index) => ({
    edge_id: `e${index}`,
    source: `n${index}`,
    target: node_id,
    class: 'Progress',
    guard_expr: 'state.rejection_count == 0',
  }))
  const { flow } = compileFlow({ type: 'flow_v1', flow_id: 'chain', title: '', nodes, edges })
  return flow
}

export async function measure() {
  const folder = mkdtempSync(join(process.env.WRIT_BENCH_FOLDER ?? tmpdir(), 'writ-flow-run-'))
  try {
    return [...(await walks(folder)), ...(await resumes(folder))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let places = 0

async function newHost(folder) {
  const place = join(folder, `place-${places++}`)
  const [state, workspace] = [join(place, 'state'), join(place, 'work')]
  mkdirSync(join(workspace, '.writ'), { recursive: true })
  await createLedger({ directory: state }, 'example.org/bench', { principal: ANN, source: 'bench' })
  const ledger = await openLedger({ directory: state })
  const host = {
    home: { directory: join(workspace, '.writ'), state },
    ledger,
    stream: 'main',
    principal: ANN,
    // No node starts a program, so the gate is not called.
    attempts: null,
    rollback: null,
    confirm: async () => ({ kind: 'wait' }),
    environment: {},
    clock: SYSTEM_CLOCK,
    isHalted: async () => false,
  }
  return { host, workspace }
}

async function walks(folder) {
  const flow = chain(NODES)
  const best = { single: 0, one: 0, fifty: 0 }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const { host, workspace } = await newHost(folder)
    const order = { flow, workspace, participantsDigest: null }
    const started = performance.now()
    const run = await startRun(host, order)
    best.one = Math.max(best.one, rate(run.facts.length, started))
    best.single = Math.max(best.single, await singles(host.ledger, run.facts))
    const fiftyStarted = performance.now()
    const runs = await Promise.all(Array.from({ length: 50 }, () => startRun(host, order)))
    const facts = runs.reduce((sum, { facts: list }) => sum + list.length, 0)
    best.fifty = Math.max(best.fifty, rate(facts, fiftyStarted))
    await host.ledger.close()
  }
  return [
    row('facts/s of one run', 'walked', best.one, 'single appends', best.single, 0.5),
    row('facts/s of fifty runs', 'together', best.fifty, 'one run', best.one, 1.5),
  ]
}

/** The same facts, one after another by one caller. */
async function singles(ledger, facts) {
  const some = facts.slice(0, 500)
  const started = performance.now()
  for (const record of some) {
    await ledger.record({ stream: 'beside', source: 'bench', principal: ANN, record })
  }
  return rate(some.length, started)
}

function rate(count, started) {
  return (count / (performance.now() - started)) * 1000
}

async function resumes(folder) {
  const { host } = await newHost(folder)
  const { ledger } = host
  const runId = 'run-00000000-0000-7000-8000-000000000000'
  const facts = await longRun(ledger, runId)
  const best = { ours: 0, theirs: 0 }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const started = performance.now()
    await readAndParse(ledger, runId)
    best.theirs = Math.max(best.theirs, rate(facts, started))
    const resumed = performance.now()
    const { flow, facts: read } = await loadRun(ledger, 'main', runId)
    const state = foldFacts(flow, read)
    if (state.seq !== facts) throw new Error('the state is not that of all facts')
    best.ours = Math.max(best.ours, rate(facts, resumed))
  }
  await ledger.close()
  const what = `facts/s, going on with a run of ${facts.toLocaleString('en')} facts`
  return [row(what, 'read and folded', best.ours, 'read and parsed', best.theirs, 0.5)]
}

/** Steps in memory, and appends many facts at a time: only how it is read is measured. */
async function longRun(ledger, runId) {
  const flow = chain(Math.ceil(LONG_FACTS / 6) + 10)
  await keep(ledger, flow.document)
  let state = emptyState(flow)
  let waiting = []
  let count = 0
  let open = []
  const append = async () => {
    const entries = waiting.map((record) => ({
      stream: 'main',
      source: 'bench',
      principal: ANN,
      record,
      idempotencyKey: `flow/${runId}/${record.payload.seq}`,
    }))
    await ledger.recordAll(entries)
    waiting = []
  }
  const send = async (event) => {
    const at = '2026-01-01T00:00:00.000Z'
    const next = step(state, { ...event, at, nonce: 'n' })
    state = next.state
    waiting.push(...next.facts)
    count += next.facts.length
    open.push(...next.commands)
    if (waiting.length >= 2000) await append()
  }
  await send({ type: 'started', run_id: runId })
  while (open.length > 0 && count < LONG_FACTS) {
    const [command, ...rest] = open
    open = rest
    if (command.type === 'pass')
      await send({ type: 'passed', node_id: command.node_id, command: command.command })
  }
  await append()
  return count
}

async function keep(ledger, document) {
  const { canonicalJson, digestBytes } = await import(new URL('base/index.js', DIST))
  const bytes = new TextEncoder().encode(canonicalJson(document))
  await ledger.objects.put({ digest: digestBytes(bytes), bytes })
}

async function readAndParse(ledger, run) {
  let cursor = -1
  const facts = []
  while (cursor !== null) {
    const query = { stream: 'main', run, cursor, limit: 1000, order: 'oldest_first' }
    const page = await ledger.store.find(query)
    for (const { text } of page.facts) facts.push(JSON.parse(text))
    cursor = page.next
  }
  return facts
}
