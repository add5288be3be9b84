/** The log of a run is written outside the gate, so it replaces no file but the log of another run. */
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { chain, script, smallFlow, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

const LOG = 'orchestration_log.md'
let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 120_000)

beforeEach(() => {
  place = new Place('own-log', { runs: 'warm' }).init()
  place.write('flow.json', JSON.stringify(chain(3)))
})

afterEach(() => place?.remove())

const run = () => place.writ(['flow', 'run', 'flow.json'])

it('a file that no run wrote stays, and the refusal names it and the way on', () => {
  place.write(LOG, 'my own notes\n')
  const { status, err } = run()
  expect(status).toBe(1)
  expect(err).toContain('flow.log_foreign')
  expect(err).toContain(join(place.project, LOG))
  expect(err).toContain(`mv ${join(place.project, LOG)}`)
  expect(place.text(LOG)).toBe('my own notes\n')
  expect(place.has('artifacts')).toBe(false)
  expect(place.writ(['flow', 'status', '--json']).json.runs).toEqual([])
})

it('a link in its place is no log, no matter what it leads to', () => {
  expect(run().status).toBe(0)
  place.write('copy.md', place.text(LOG))
  rmSync(join(place.project, LOG))
  symlinkSync('copy.md', join(place.project, LOG))
  expect(run().err).toContain('flow.log_foreign')
  expect(lstatSync(join(place.project, LOG)).isSymbolicLink()).toBe(true)
})

it('the log of an earlier run is replaced, one that a person has edited is not', () => {
  expect(run().status).toBe(0)
  const first = place.text(LOG)
  expect(run().status).toBe(0)
  expect(place.text(LOG)).not.toBe(first)
  place.write(LOG, `${place.text(LOG)}my remark\n`)
  expect(run().status).toBe(1)
  expect(place.text(LOG)).toContain('my remark')
})

it('the log of a run that noted no digests is known by its copy', () => {
  expect(run().status).toBe(0)
  const [{ run_id }] = place.writ(['flow', 'status', '--json']).json.runs
  const found = execFileSync('find', [join(place.folder, 'state'), '-path', `*${run_id}/logs`], {
    encoding: 'utf8',
  }).trim()
  expect(existsSync(found)).toBe(true)
  rmSync(found)
  expect(run().status).toBe(0)
})

it('a file that comes while the run is walked stays too, and a resume says why', () => {
  place.write(
    'worker.mjs',
    script(`${TOOL}
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'x' } })`),
  )
  const reviewer = { human: true } as const
  const flow = smallFlow()
  const nodes = flow.nodes.map((node) => (node.kind === 'CHECK' ? { ...node, reviewer } : node))
  place.write('flow.json', JSON.stringify({ ...flow, nodes }))
  expect(run().status).toBe(3)
  place.write(LOG, 'my own notes\n')
  const { status, err } = place.writ(['flow', 'resume'])
  expect(status).toBe(1)
  expect(err).toContain('flow.log_foreign')
  expect(place.text(LOG)).toBe('my own notes\n')
})
