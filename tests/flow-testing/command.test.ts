/** `writ flow test`: the examples pass, a difference is shown with its cause, and results are XML too. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'

let place: Place
beforeAll(() => {
  place = new Place('flow-test', { runs: 'warm' })
  cpSync('examples/flows', join(place.project, 'flows'), { recursive: true })
}, 180_000)
afterAll(() => place?.remove())

const EXAMPLES = ['phased/flow', 'tables/edges', 'two-agents/plan'].map(
  (name) => `flows/${name}.test.yaml`,
)

it('walks every case of the examples as expected', () => {
  const { status, json, out } = place.writ(['flow', 'test', ...EXAMPLES, '--json'])
  expect(status, out).toBe(0)
  expect(json.passed).toBe(true)
  const names: string[] = json.files.flatMap(({ cases }: { cases: { name: string }[] }) =>
    cases.map(({ name }) => name),
  )
  const rows = new Set(
    names
      .join(' ')
      .match(/\brows? \d+(?:,? and \d+)?/g)
      ?.flatMap(numbersIn),
  )
  expect([...rows].sort((one, other) => one - other)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ])
  expect(json.coverage[0]).toMatchObject({
    flow_id: 'phased',
    untaken_nodes: [],
    untaken_edges: [],
  })
})

function numbersIn(text: string): number[] {
  return [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits))
}

it('refuses with --strict what no case came to', () => {
  const [phased = '', tables = ''] = EXAMPLES
  expect(place.writ(['flow', 'test', phased, '--strict']).status).toBe(0)
  const { status, out } = place.writ(['flow', 'test', tables, '--strict'])
  expect(status).toBe(1)
  expect(out).toContain('no case came to the edge E11')
})

const BROKEN = `type: flow_test_v1
flow: flow.yaml
cases:
  - name: too few
    nodes:
      collect:
        - { files: { output/phase_1/sources.json: { sources: 1 } } }
    expect: { status: DONE, edges: [E1, E2] }
`

it('shows what differs, why, and what to type', () => {
  place.write('flows/phased/broken.yaml', BROKEN)
  const words = ['flow', 'test', 'flows/phased/broken.yaml']
  const { status, out } = place.writ(words)
  expect(status).toBe(1)
  expect(out).toContain('FAIL  too few  BLOCKED')
  expect(out).toContain('status  expected DONE, was BLOCKED')
  expect(out).toContain('edges[1]  after E1: expected E2, nothing followed')
  expect(out).toContain('was false with state.sources = 1')
  expect(out).toContain("next: writ flow test flows/phased/broken.yaml --case 'too few' --trace")
  expect(place.writ([...words, '--case', 'too few', '--trace']).out).toContain(
    'guard   E2 is false',
  )
  const junit = join(place.project, 'results.xml')
  expect(place.writ([...words, '--junit', junit]).status).toBe(1)
  expect(readFileSync(junit, 'utf8')).toContain('<failure message="status: expected DONE')
})

it('refuses a test that does not fit its flow, at its place', () => {
  place.write(
    'flows/phased/wrong.yaml',
    BROKEN.replace('E2]', 'E22]').replace('collect:', 'colect:'),
  )
  const { status, out } = place.writ(['flow', 'test', 'flows/phased/wrong.yaml'])
  expect(status).toBe(1)
  expect(out).toContain('flows/phased/wrong.yaml:7:9')
  expect(out).toContain('the flow has no node `colect`')
  expect(out).toContain('did you mean `collect`?')
  expect(out).toContain('the flow has no edge `E22`')
  place.write('flows/phased/none.yaml', BROKEN.replace('cases:', 'casse:'))
  expect(place.writ(['flow', 'test', 'flows/phased/none.yaml']).out).toContain('flow.unknown_key')
  const unknown = place.writ(['flow', 'test', EXAMPLES[0] ?? '', '--case', 'nothing'])
  expect(unknown.status).toBe(2)
})

it('says what is wrong with the flow itself', () => {
  place.write('flows/phased/no-flow.yaml', BROKEN.replace('flow.yaml', 'gone.yaml'))
  expect(place.writ(['flow', 'test', 'flows/phased/no-flow.yaml']).status).not.toBe(0)
  place.write(
    'flows/phased/odd.yaml',
    'type: flow_v1\nflow_id: x\ntitle: x\nnodes: []\nedges: [1]\n',
  )
  place.write('flows/phased/odd.test.yaml', BROKEN.replace('flow.yaml', 'odd.yaml'))
  const { status, out } = place.writ(['flow', 'test', 'flows/phased/odd.test.yaml'])
  expect([status, out.includes('flow.field_type')]).toEqual([1, true])
})
