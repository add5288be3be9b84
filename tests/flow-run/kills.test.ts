/**
 * `kill -9` at any moment of a run with every class of edge, and again while it is gone on with: the
 * result is that of a run that nobody disturbed, and no finished step is done twice. How many are
 * killed is data: `WRIT_FLOW_KILLS`.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Fact, replayRun } from '../../src/flow/index.ts'
import { readRun } from '../../src/host/flow/run-records.ts'
import { childWords } from './child-program.ts'
import { everyEdge, writeScripts } from './every-edge.ts'
import { RunPlace } from './place.ts'
import { compiledFlow } from './scripts.ts'

const KILLS = Number(process.env['WRIT_FLOW_KILLS'] ?? 8)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 2 ** 31)
const KILLS_A_ROUND_MAX = 4

/** What must be the same, whoever was killed when. */
function outcome(place: RunPlace, facts: readonly Fact[]): unknown {
  const kinds = (kind: string, pick: (payload: never) => unknown) =>
    facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === kind ? [pick(payload as never)] : [],
    )
  return {
    fired: kinds('fired', ({ edge_id }: { edge_id: string }) => edge_id),
    entered: kinds('entered', ({ node_id }: { node_id: string }) => node_id),
    statuses: kinds('status', (one: { node_id: string; status: string }) => [
      one.node_id,
      one.status,
    ]),
    artifacts: kinds('artifact', (one: { path: string; digest: string }) => [one.path, one.digest]),
    promoted: told(facts, 'promoted').length,
    rolledBack: told(facts, 'rolled_back').length,
    files: tree(place.workspace),
  }
}

function told(facts: readonly Fact[], name: string): readonly Fact[] {
  return facts.filter(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === name,
  )
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

interface Ended {
  readonly lines: readonly string[]
  readonly wasKilled: boolean
}

function walk(words: readonly string[], killAfterMs: number | null): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    let text = ''
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString('utf8')
    })
    child.on('error', reject)
    child.on('close', (_code, signal) => {
      if (timer !== null) clearTimeout(timer)
      resolve({ lines: text.split('\n').slice(0, -1), wasKilled: signal === 'SIGKILL' })
    })
  })
}

async function fresh(): Promise<RunPlace> {
  const place = await new RunPlace('kills').make()
  writeScripts(place)
  return place
}

/** How it ends when nobody is killed, and how long that takes. */
async function undisturbed(program: readonly string[]) {
  const place = await fresh()
  try {
    const started = performance.now()
    const { lines } = await walk([...program, place.folder, 'every-edge'], null)
    const spanMs = performance.now() - started
    expect(lines[1]).toBe('DONE')
    const { facts } = await readRun(place.ledger, 'main', lines[0] ?? '')
    expect(Object.keys(tree(place.workspace)).length).toBeGreaterThan(5)
    return { wanted: outcome(place, facts), spanMs }
  } finally {
    await place.remove()
  }
}

it(`goes on after ${KILLS} kills as if nothing had happened, seed ${SEED}`, async () => {
  const program = await childWords()
  const flow = compiledFlow(everyEdge())
  const { wanted, spanMs } = await undisturbed(program)
  let [state, killed] = [SEED, 0]
  const chance = (): number => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
  for (let round = 0; killed < KILLS; round++) {
    const place = await fresh()
    try {
      let runId = ''
      let last: Ended = { lines: [], wasKilled: true }
      for (let kill = 0; last.wasKilled; kill++) {
        const killMs = kill < KILLS_A_ROUND_MAX ? 30 + chance() * spanMs * 0.9 : null
        const words = runId === '' ? ['every-edge'] : ['resume', runId]
        last = await walk([...program, place.folder, ...words], killMs)
        if (last.wasKilled) killed++
        if (runId === '' && last.lines[0] !== undefined) runId = last.lines[0]
        if (runId !== '' && (await readRun(place.ledger, 'main', runId)).facts.length === 0)
          runId = ''
      }
      const { facts } = await readRun(place.ledger, 'main', runId)
      expect([round, last.lines.at(-1)]).toEqual([round, 'DONE'])
      expect([round, outcome(place, facts)]).toEqual([round, wanted])
      expect(facts.map(({ payload }) => payload.seq)).toEqual(facts.map((_, index) => index))
      expect(replayRun(flow, facts)).toBeNull()
      expect(await place.gate.attempts.held()).toEqual([])
    } finally {
      await place.remove()
    }
  }
}, 3_600_000)
