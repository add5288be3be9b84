/** Time and signals as processes: waits that survive the process, timeouts, signals, `--wait`. */
import { execFileSync } from 'node:child_process'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('time').init()
})

afterEach(() => place.remove())

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

function replayed(): void {
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
}

const WORK = `${TOOL}${artifact("'made ' + JSON.stringify(input.signals ?? null)")}`

it('a wait outlives the process: WAITING with until when, too early, and then done', async () => {
  const nodes = [goal('s', 'P0'), goal('b', 'P2')]
  const document = flowOf(nodes, [edge('s', 'b', { after: 8 })])
  place.write('flow.json', JSON.stringify(document))
  const { run_id, status, stops } = walk('run', 'flow.json')
  expect(status).toBe('WAITING')
  expect(stops).toEqual([expect.objectContaining({ kind: 'time', node_id: 'b' })])
  expect(stops[0].says).toMatch(/^it waits until \d{4}-/)
  expect(stops[0].next).toEqual([`writ flow resume ${run_id} --wait`])
  const text = place.writ(['flow', 'status', run_id])
  expect([text.status, text.out]).toEqual([3, expect.stringContaining('it waits until')])
  expect(walk('resume', run_id, '--wait').status).toBe('DONE')
  replayed()
})

it('a signal starts what waits for it, with its data; an unknown one is refused', () => {
  place.write('a.mjs', script(WORK))
  const nodes = [worker('a', { signal: 'deployed' }), goal('b', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b')])))
  const { run_id, status, stops } = walk('run', 'flow.json')
  expect([status, stops[0].says]).toEqual(['WAITING', 'it waits for the signal deployed'])
  expect(stops[0].next[0]).toBe(`writ flow signal ${run_id} deployed`)
  const [asked] = place.writ(['inbox', '--json']).json.flows
  expect([asked.run_id, asked.next[0]]).toEqual([run_id, `writ flow signal ${run_id} deployed`])
  const wrong = walk('signal', run_id, 'deploied').error
  expect([wrong.code, wrong.hint]).toEqual([
    'flow.unknown_signal',
    expect.stringContaining('deployed'),
  ])
  expect(place.writ(['flow', 'signal', run_id, 'deployed', '--data', '{']).status).toBe(2)
  expect(walk('signal', run_id, 'deployed', '--data', '{"version":3}').ok).toBe(true)
  expect(walk('resume', run_id).status).toBe('DONE')
  const report = place.writ(['flow', 'report', run_id, '--json']).out
  expect(report).toContain('artifacts/')
  const made = execFileSync(
    'sh',
    ['-c', 'cat artifacts/*/*/*/* artifacts/*/*/* 2>/dev/null || true'],
    {
      cwd: place.project,
    },
  ).toString()
  expect(made).toContain('made {"deployed":{"version":3}}')
  expect(walk('signal', run_id, 'deployed').error.code).toBe('flow.not_waiting')
  replayed()
})

it('an attempt that takes too long is ended by its timeout, and tried again after its pause', () => {
  const slow = 'await new Promise((done) => setTimeout(done, 60000))'
  place.write('a.mjs', script(`if (input.attempt === 1) ${slow}\n${WORK}`))
  const retry = { initial: 1, failed: false as const }
  const nodes = [worker('a', { timeout: 3, retry, max_attempts: 2 }), goal('b', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b')])))
  const { status, findings } = walk('run', 'flow.json')
  expect(status).toBe('DONE')
  const failed = findings.find(({ code }: Json) => code === 'flow.attempt_failed')
  expect(JSON.stringify(failed)).toContain('no answer within 3 seconds')
  const waited = findings.find(({ code }: Json) => code === 'flow.waiting')
  expect(waited.values).toMatchObject({ why: 'retry' })
  replayed()
})

it('a failure that is not to be tried again is not', () => {
  place.write('a.mjs', script(`process.exit(3)`))
  const nodes = [worker('a', { retry: { failed: false }, max_attempts: 5 }), goal('b', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b')])))
  const { status, state } = walk('run', 'flow.json')
  expect([status, state.attempt_count]).toEqual(['WAITING', 1])
})

it('a deadline that passes leads out by the Exception edge, while the walker waits', () => {
  place.write('a.mjs', script(`await new Promise((done) => setTimeout(done, 60000))`))
  const nodes = [worker('a', { deadline: 4 }), goal('b', 'P2'), goal('late', 'P2')]
  const out = edge('a', 'late', { class: 'Exception' })
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b'), out])))
  const { status, findings } = walk('run', 'flow.json')
  expect(status).toBe('DONE')
  expect(findings.map(({ code }: Json) => code)).toContain('flow.deadline')
  replayed()
})
