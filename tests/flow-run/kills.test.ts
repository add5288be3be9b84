/**
 * `kill -9` at any moment of a run with every class of edge, and again while it is gone on with: the
 * result is that of an undisturbed run, no finished step is done twice, and no answer of a
 * human is lost or counted twice. How many are killed is data: `WRIT_FLOW_KILLS`; how many runs are
 * walked side by side too: `WRIT_FLOW_KILLS_AT_ONCE`.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { elementAt, type FlowFact, foldFacts, replayRun } from '../../src/flow/index.ts'
import { RunFolder } from '../../src/runs/run-folder.ts'
import { everyEdge } from './every-edge.ts'
import { type Kill, KilledRun, type Killer } from './killed-run.ts'
import type { RunPlace } from './place.ts'
import { compiledFlow } from './scripts.ts'

const KILLS = Number(process.env['WRIT_FLOW_KILLS'] ?? 5)
const AT_ONCE = Number(process.env['WRIT_FLOW_KILLS_AT_ONCE'] ?? 1)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 2 ** 31)
/** So many kills there are in a run, if none of them cost time. */
const KILLS_A_RUN = 20
const BRIEF_PARTS = 80
/** From so many on each kind of step is hit once first, which takes about as many. */
const STEPS_FROM = 200

const FLOW = compiledFlow(everyEdge())

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

/** Returns what must be the same for all kills. */
async function outcome({ place, facts, runId }: KilledRun): Promise<unknown> {
  const kinds = (kind: string, pick: (payload: never) => unknown) =>
    facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === kind ? [pick(payload as never)] : [],
    )
  const told = (name: string): readonly string[] => eventsIn(facts, name)
  const folder = new RunFolder(place.home, runId)
  const { nodes, totals } = foldFacts(FLOW, facts)
  // The folder of the run has its id, which differs from run to run.
  const own = `run-${runId.slice(-12)}`
  return {
    totals: [totals.attempts, totals.toolCalls, totals.rejections, totals.tokens],
    nodes: FLOW.nodes.map(({ index }) => {
      const { status, attempts, entries, granted, work } = elementAt(nodes, index)
      return [status, attempts, entries, granted, work.toolCalls, work.retries]
    }),
    fired: kinds('fired', ({ edge_id }: { edge_id: string }) => edge_id),
    entered: kinds('entered', ({ node_id }: { node_id: string }) => node_id),
    statuses: kinds('status', (one: { node_id: string; status: string }) => [
      one.node_id,
      one.status,
    ]),
    artifacts: kinds('artifact', ({ path, digest }: { path: string; digest: string }) => [
      path.replace(own, 'run'),
      digest,
    ]),
    attempts: told('attempt_ended'),
    promoted: told('promoted'),
    rolledBack: told('rolled_back'),
    answers: told('human_answer'),
    unblocked: told('unblocked'),
    evidence: facts.filter(({ type }) => type === 'flow_evidence_v1').length,
    findings: facts.flatMap(({ type, payload }) =>
      type === 'flow_finding_v1' ? [`${payload.code} ${payload.action}`] : [],
    ),
    // One that was interrupted and taken back is a fact too, and no act.
    acts: await countOf(place, 'promotion_v1', ({ status }) => status === 'APPLIED'),
    undone: await countOf(place, 'rollback_v1', ({ verified }) => verified === true),
    held: await place.gate.attempts.held(),
    left: [folder.orders().length, folder.begun(), folder.waiting()],
    shown: readdirSync(folder.shown).sort(),
    files: Object.entries(tree(place.workspace)).map(([path, text]) => [
      path.replace(own, 'run'),
      text,
    ]),
  }
}

function eventsIn(facts: readonly FlowFact[], name: string): readonly string[] {
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
    const { event } = payload
    if (event.type !== name) return []
    const node = 'node_id' in event ? event.node_id : ''
    return [`${node} ${'answer' in event ? event.answer : ''}`]
  })
}

type Payload = Readonly<Record<string, unknown>>

async function countOf(
  { ledger }: RunPlace,
  type: string,
  isCounted: (payload: Payload) => boolean,
): Promise<number> {
  const query = { stream: 'main', type, cursor: -1, limit: 1_000, order: 'oldest_first' } as const
  const { facts } = await ledger.store.find(query)
  return facts.filter(({ text }) => isCounted(JSON.parse(text).record.payload)).length
}

function tree(root: string, folder = ''): Record<string, string> {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (path === '.writ' || path === 'orchestration_log.md') continue
    if (entry.isDirectory()) Object.assign(files, tree(root, path))
    else files[path] = readFileSync(join(root, path), 'utf8')
  }
  return files
}

/** Returns how the run ends without a kill, and how long that takes. */
async function undisturbed() {
  const run = await KilledRun.in(null)
  try {
    const started = performance.now()
    await run.walk()
    const spanMs = performance.now() - started
    expect(Object.keys(tree(run.place.workspace)).length).toBeGreaterThan(10)
    return { wanted: await outcome(run), spanMs }
  } finally {
    await run.place.remove()
  }
}

function startMs(): number {
  const started = performance.now()
  execFileSync(process.execPath, ['bin/writ.cjs', '--version'])
  return performance.now() - started
}

/** One run, killed at random or, with `steps`, at each kind of step once. */
async function walkRun(killer: Killer, wanted: unknown): Promise<readonly Kill[]> {
  const run = await KilledRun.in(killer)
  try {
    await run.walk()
    const { facts } = run
    const history = run.kills.map(({ during, facts: at }) => `${at} ${during}`)
    expect([history, await outcome(run)]).toEqual([history, wanted])
    expect(facts.map(({ payload }) => payload.seq)).toEqual(facts.map((_, index) => index))
    expect(replayRun(FLOW, facts)).toBeNull()
    return run.kills
  } finally {
    await run.place.remove()
  }
}

function chanceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
}

it(`goes on after ${KILLS} kills as if nothing had happened, seed ${SEED}`, async () => {
  const { wanted, spanMs } = await undisturbed()
  const [meanMs, briefMs] = [spanMs / KILLS_A_RUN, spanMs / BRIEF_PARTS]
  const kills: Kill[] = []
  const lanes = Array.from({ length: AT_ONCE }, async (_, lane) => {
    const chance = chanceOf(SEED + lane)
    const killer = (): Killer => ({ chance, meanMs, briefMs, startMs: startMs() })
    if (lane === 0 && KILLS >= STEPS_FROM)
      kills.push(...(await walkRun({ ...killer(), steps: new Set() }, wanted)))
    while (kills.length < KILLS) {
      kills.push(...(await walkRun(killer(), wanted)))
      process.stderr.write(`${kills.length} kills, during ${JSON.stringify(tally(kills))}\n`)
    }
  })
  await Promise.all(lanes)
  expect(kills.length).toBeGreaterThanOrEqual(KILLS)
}, 3_600_000)

function tally(kills: readonly Kill[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { during } of kills) counts[during] = (counts[during] ?? 0) + 1
  return counts
}
