/** Bodies that a flow run needs stay while it can continue; later they may be dropped, and are missing. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 120_000 })

const WORDS = 'correct horse battery staple'
const MADE = 'seven pages about plums'
const WORKER = `
import { readFileSync, writeSync, readSync } from 'node:fs'
JSON.parse(readFileSync(0, 'utf8'))
const operation = { type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() }
writeSync(3, JSON.stringify({ operation }) + '\\n')
const part = Buffer.alloc(65536)
for (let text = ''; !text.includes('\\n'); ) {
  try { text += part.toString('utf8', 0, readSync(3, part)) }
  catch (error) { if (error.code !== 'EAGAIN') throw error }
}
const artifact = { name: 'out', format: 'md', content: '${MADE}' }
console.log(JSON.stringify({ result_type: 'ARTIFACT', artifact }))
`
const NODE = { kind: 'WORK', title: '', phase_id: 'P', actor: 'a', max_attempts: 1 }
const FLOW = {
  type: 'flow_v1',
  flow_id: 'f',
  title: 'F',
  nodes: [
    { ...NODE, node_id: 'a', executor: { command: ['node', 'a.mjs'] } },
    { ...NODE, node_id: 'c', kind: 'CHECK', target: 'a', reviewer: { human: 'ann' } },
  ],
  edges: [{ edge_id: 'e', source: 'a', target: 'c', class: 'Progress' }],
}

let place: Place

beforeEach(() => {
  place = new Place('purge-runs', { runs: 'warm' }).init(WORDS)
  place.write('a.mjs', WORKER)
  place.write('flow.json', JSON.stringify(FLOW))
})

afterEach(() => place.remove())

/** Until a person has to say whether it is good. */
function begin(): string {
  const { json } = place.writ(['flow', 'run', 'flow.json', '--json'])
  expect(json.status, JSON.stringify(json)).toBe('WAITING')
  return json.run_id
}

function purge(): Json {
  const words = ['purge', '--before', '0s', '--json', '--pass-fd', '3']
  const { status, json, err } = place.writ(words, { passphrase: WORDS })
  expect(status, err).toBe(0)
  return json
}

/** Returns the file for the person, which the process that resumes the run writes again. */
function shownAgain(runId: string): Json {
  const file = join(place.project, '.writ', 'runs', runId, 'waiting-c.json')
  rmSync(file)
  const resumed = place.writ(['flow', 'resume', runId, '--json'])
  expect(resumed.json.status, resumed.out + resumed.err).toBe('WAITING')
  return JSON.parse(readFileSync(file, 'utf8'))
}

function approve(runId: string, { review_id, artifact_digest }: Json): Json {
  const review = { review_id, artifact_digest, total_score: 92 }
  place.write('review.json', JSON.stringify(review))
  const words = ['flow', 'answer', runId, 'c', '--file', 'review.json', '--pass-fd', '3']
  const answered = place.writ(words, { passphrase: WORDS })
  expect(answered.status, answered.out + answered.err).toBe(0)
  return place.writ(['flow', 'resume', runId, '--json']).json
}

it('a purge leaves what an open run needs and names the run; what has ended may go', () => {
  const runId = begin()
  const first = purge()
  expect(first.kept).toContainEqual({
    action_id: null,
    run_id: runId,
    reason: 'its run has not ended',
  })
  expect(first.dropped.filter(({ run_id }: Json) => run_id === runId)).toEqual([])
  const words = ['purge', '--before', '0s', '--dry-run', '--pass-fd', '3']
  expect(place.writ(words, { passphrase: WORDS }).out).toContain(runId)
  expect(place.writ(['flow', 'status', runId, '--json']).json.missing).toBe(undefined)

  const asked = shownAgain(runId)
  expect(asked.artifact.content).toBe(MADE)
  expect(approve(runId, asked).status).toBe('DONE')

  const second = purge()
  expect(second.kept.filter(({ run_id }: Json) => run_id === runId)).toEqual([])
  expect(second.dropped.filter(({ run_id }: Json) => run_id === runId).length).toBeGreaterThan(1)

  const { status, json } = place.writ(['flow', 'status', runId, '--json'])
  expect([status, json.status]).toEqual([0, 'DONE'])
  expect(json.missing).toContainEqual(
    expect.objectContaining({ node_id: 'a', what: 'artifact', bytes: MADE.length }),
  )
  expect(json.missing.map(({ what }: Json) => what)).toContain('raw')
  expect(place.writ(['flow', 'status', runId]).out).toContain('no longer kept')
  const folder = join(place.folder, 'out')
  const page = join(place.folder, 'report.html')
  const report = ['flow', 'report', runId, '--deliverables', folder, '--html', page]
  const told = place.writ([...report, '--json'])
  expect(told.status, told.err).toBe(0)
  expect(told.json.missing).toEqual(json.missing)
  expect(told.json.deliverables).toMatchObject({ files: [], missing: [{ node_id: 'a' }] })
  expect(readdirSync(folder)).toEqual(['manifest.json'])
  expect(readFileSync(page, 'utf8')).toContain('No longer kept')
  expect(place.writ([...report, '--force']).out).toContain('0 deliverables, 1 missing')
  // A run that is over has nothing left to hand on.
  expect(place.writ(['flow', 'resume', runId, '--json']).json.status).toBe('DONE')
  expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
})

it('the sweep of every day leaves it too', () => {
  const laws = 'laws: []\nsettings: { retention: { outputs_days: 0 } }\n'
  place.write('.writ/laws.yaml', laws)
  const accept = ['laws', 'accept', '--yes', '--pass-fd', '3']
  expect(place.writ(accept, { passphrase: WORDS }).status).toBe(0)
  const runId = begin()
  // The stamp of the last sweep is of today; without it the next promotion sweeps.
  for (const entry of readdirSync(join(place.folder, 'state'), { recursive: true })) {
    if (String(entry).includes('.bodies-swept-')) rmSync(join(place.folder, 'state', String(entry)))
  }
  const done = place.exec(['--yes'], 'echo printed; echo x > made')
  expect(done.status, done.err).toBe(0)
  const { facts } = place.writ(['log', '--type', 'body_dropped_v1', '--json']).json
  expect(facts.length).toBeGreaterThan(0)
  expect(shownAgain(runId).artifact.content).toBe(MADE)
})

it('a run whose contents are lost all the same does not go on, and says why', () => {
  const runId = begin()
  const root = join(place.folder, 'state')
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !file.includes('/objects/')) continue
    if (readFileSync(file).subarray(32).equals(Buffer.from(MADE))) rmSync(file)
  }
  const { status, json } = place.writ(['flow', 'resume', runId, '--json'])
  expect([status, json.error.code]).toEqual([4, 'flow.output_missing'])
  expect(existsSync(join(place.project, '.writ', 'runs', runId, 'waiting-c.json'))).toBe(true)
  expect(place.writ(['flow', 'status', runId, '--json']).json.missing).toHaveLength(1)
})

/** The stages that are held, wherever they lie. */
function heldStages(): readonly string[] {
  const found = execFileSync('find', [place.folder, '-path', '*/stage/*', '-name', 'held'])
  return found
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((file) => dirname(file))
}

/** Sets times as if the stage were that old and housekeeping had not run since. */
function age(stage: string, days: number): void {
  const then = Date.now() / 1000 - days * 24 * 60 * 60
  utimesSync(stage, then, then)
  rmSync(join(dirname(stage), '.swept'), { force: true })
}

it('what a run has staged stays while the run can go on, and not for ever after', () => {
  const runId = begin()
  const [stage = ''] = heldStages()
  age(stage, 100)
  expect(place.exec(['--yes'], 'echo x > made').status).toBe(0)
  expect(heldStages()).toEqual([stage])
  expect(approve(runId, shownAgain(runId)).status).toBe('DONE')
  const made = join(place.project, 'artifacts', `run-${runId.slice(-12)}`, 'a', '1', 'out.md')
  expect(readFileSync(made, 'utf8')).toBe(MADE)

  // One that its run never came to forget, because it ended otherwise.
  place.write('a.mjs', WORKER.replace(MADE, 'eight pages'))
  begin()
  const [left = ''] = heldStages()
  writeFileSync(join(left, 'held'), JSON.stringify({ stream: 'main', run: runId }))
  age(left, 20)
  expect(place.exec(['--yes'], 'echo y > made').status).toBe(0)
  expect(heldStages()).toEqual([left])
  age(left, 100)
  expect(place.exec(['--yes'], 'echo z > made').status).toBe(0)
  expect(heldStages()).toEqual([])
})
