/**
 * Runs of flows whose nodes are real processes in the sandbox: whether a late node costs more than an
 * early one, whether replay grows with the square of a run, and how many trivial nodes end in a second.
 * Costs of nodes are processor time of writ and its children, which other programs disturb less than
 * they disturb a clock; only ratios mean something elsewhere.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const WRIT = fileURLToPath(new URL('../bin/writ.cjs', import.meta.url))
const { makeHome, openHome, stateRoot } = await import(new URL('home/index.js', DIST))
const { SYSTEM_CLOCK } = await import(new URL('machine/index.js', DIST))
const { startRun } = await import(new URL('runs/index.js', DIST))
const { createDriver } = await import(new URL('sandbox/index.js', DIST))
const { openGate } = await import(new URL('service/index.js', DIST))
const { openLedger } = await import(new URL('store/index.js', DIST))
const { compileFlow } = await import(new URL('flow/index.js', DIST))

export const title = 'nodes of flows'

const ANN = { kind: 'human', id: 'ann', namespace: 'local' }
const LONG = Number(process.env.WRIT_BENCH_NODES ?? 500)
const SHORT = LONG / 10
const WIDE = 100
const WANTED_A_SECOND = 15

/** Reads its input, gives one artifact, and has no tools. */
const WORK = `read -r input
id=\${input#*\\"node_id\\":\\"}
id=\${id%%\\"*}
echo '{"task_id":"'$id'","result_type":"ARTIFACT","artifact":{"name":"out","format":"md","content":"by '$id'"}}'
`

export async function measure() {
  const folder = realpathSync(
    mkdtempSync(join(process.env.WRIT_BENCH_FOLDER ?? tmpdir(), 'writ-nodes-')),
  )
  try {
    const long = await walked(join(folder, 'long'), LONG, true)
    const short = await walked(join(folder, 'short'), SHORT, true)
    const wide = await walked(join(folder, 'wide'), WIDE, false)
    const [early, late] = [costOf(long.ends, 0, SHORT), costOf(long.ends, LONG - SHORT, LONG)]
    return [
      row(
        'nodes per processor second',
        `the last ${SHORT} of ${LONG}`,
        late,
        `the first ${SHORT}`,
        early,
        0.77,
      ),
      row(
        'nodes/s, writ replay',
        `of ${LONG}`,
        LONG / long.replay,
        `of ${SHORT}`,
        SHORT / short.replay,
        1,
      ),
      row(
        `nodes/s of ${WIDE} trivial commands`,
        'walked',
        WIDE / wide.seconds,
        'wanted',
        WANTED_A_SECOND,
        1,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nodes in a chain, ten a phase, or all at once. */
function flowOf(count, isChain) {
  const nodes = Array.from({ length: count }, (_, index) => ({
    node_id: `n${index}`,
    kind: 'WORK',
    title: '',
    phase_id: `P${isChain ? Math.floor(index / 10) : 0}`,
    actor: 'a',
    max_attempts: 1,
    executor: { command: ['sh', 'work.sh'], tools: 'none' },
  }))
  const edges = nodes.slice(1).map(({ node_id }, index) => ({
    edge_id: `e${index}`,
    source: `n${index}`,
    target: node_id,
    class: 'Progress',
  }))
  const document = {
    type: 'flow_v1',
    flow_id: 'nodes',
    title: '',
    nodes,
    edges: isChain ? edges : [],
  }
  return compileFlow(document).flow
}

async function walked(folder, count, isChain) {
  const [workspace, userDirectory] = [join(folder, 'project'), join(folder, 'home')]
  for (const place of [workspace, userDirectory]) mkdirSync(place, { recursive: true })
  writeFileSync(join(workspace, 'work.sh'), WORK)
  const env = { PATH: process.env.PATH, HOME: userDirectory, XDG_STATE_HOME: join(folder, 'state') }
  const around = { cwd: workspace, env, userDirectory, userName: 'ann' }
  await makeHome(around, null, { principal: ANN, source: 'bench' })
  const home = openHome(around, null)
  const ledger = await openLedger({ directory: home.state })
  const gate = await openGate({
    home,
    ledger,
    caller: { principal: ANN, streams: null, proof: 'none' },
    stream: 'main',
    stateRoot: stateRoot(around),
    userDirectory,
    environment: env,
    ancestors: [],
    hasPasskey: false,
    driver: createDriver({}),
    nowMs: Date.now,
  })
  const host = {
    home,
    ledger,
    stream: 'main',
    principal: ANN,
    attempts: gate.attempts,
    rollback: null,
    confirm: async () => ({ kind: 'wait' }),
    environment: {},
    clock: SYSTEM_CLOCK,
    isHalted: () => gate.isHalted(),
  }
  const ends = [processorMs()]
  const onFacts = (facts) => {
    for (const { payload } of facts)
      if (payload.event?.type === 'promoted') ends.push(processorMs())
  }
  const started = performance.now()
  const order = { flow: flowOf(count, isChain), workspace, participantsDigest: null, onFacts }
  const { status } = await startRun(host, order)
  const seconds = (performance.now() - started) / 1000
  if (status !== 'DONE') throw new Error(`the run is ${status}`)
  await gate.close()
  await ledger.close()
  return { ends, seconds, replay: isChain ? replaySeconds(workspace, env) : 0 }
}

/** Of this process and of the children that it has waited for. */
function processorMs() {
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const [, , , , , , , , , , , , , user = 0, system = 0] = fields.split(' ')
  return (userCPUTime + systemCPUTime) / 1000 + (Number(user) + Number(system)) * 10
}

function costOf(ends, from, to) {
  return ((to - from) / (ends[to] - ends[from])) * 1000
}

/** The better of two, as the processor time of the command. */
function replaySeconds(cwd, env) {
  const times = [0, 1].map(() => {
    const before = processorMs()
    const { status, stderr } = spawnSync(process.execPath, [WRIT, 'replay'], { cwd, env })
    if (status !== 0) throw new Error(String(stderr))
    return (processorMs() - before) / 1000
  })
  return Math.min(...times)
}
