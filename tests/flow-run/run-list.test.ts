/** The list of runs, what is shown while one works, and what a person is handed to answer with. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, checker, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeEach(() => {
  place = new Place('run-list').init()
})

afterEach(() => place.remove())

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

function write(flow_id: string, ...parts: Parameters<typeof flowOf>): void {
  const [nodes, edges, more = {}] = parts
  place.write(`${flow_id}.json`, JSON.stringify({ ...flowOf(nodes, edges, more), flow_id }))
}

it('lists runs by state, flow and time, with titles and ages', () => {
  write('quick', [goal('a', 'P1')], [], { title: 'The quick one' })
  write('asks', [worker('a', { executor: { human: 'ann' } })], [], { title: 'Asks a person' })
  const done = walk('run', 'quick.json').run_id
  const waiting = walk('run', 'asks.json').run_id
  const ids = (...words: readonly string[]): readonly string[] =>
    walk('list', ...words).runs.map(({ run_id }: Json) => run_id)
  expect(ids()).toEqual([waiting, done])
  expect(ids('--status', 'waiting,blocked')).toEqual([waiting])
  expect(ids('--status', 'DONE')).toEqual([done])
  expect(ids('--flow', 'asks')).toEqual([waiting])
  expect(ids('--limit', '1')).toEqual([waiting])
  expect(ids('--since', '2999-01-01')).toEqual([])
  expect(walk('list', '--status', 'DON').error.hint).toContain('DONE')
  const { out } = place.writ(['flow', 'list'])
  expect(out).toMatch(/The quick one\s+DONE\s+\d+[sm]\s/)
  expect(out).toMatch(/Asks a person\s+WAITING\s/)
})

it('hands a person a template that is refused while empty and accepted when filled', () => {
  const asked = worker('a', { executor: { human: 'ann' } })
  const judge = checker('k', 'a', { reviewer: { human: 'ann' } })
  write('asks', [asked, judge, goal('b', 'P2')], [edge('a', 'k'), edge('k', 'b')])
  const { run_id } = walk('run', 'asks.json')
  const answer = (node: string, more: (template: Json) => Json): number | null => {
    const file = join(place.project, '.writ', 'runs', run_id, `waiting-${node}.json`)
    const { answer: handed } = JSON.parse(readFileSync(file, 'utf8'))
    expect(handed.say_with.join()).toContain(`writ flow answer ${run_id} ${node} --file`)
    place.write('answer.json', JSON.stringify(more(handed.template)))
    return place.writ(['flow', 'answer', run_id, node, '--file', 'answer.json']).status
  }
  expect(answer('a', (template) => template)).toBe(2)
  const filled = (template: Json): Json => ({
    ...template,
    artifact: { ...template.artifact, content: 'done' },
  })
  expect(answer('a', filled)).toBe(0)
  walk('resume', run_id)
  expect(answer('k', (template) => template)).toBe(2)
  const approved = { total_score: 95, action_required: 'APPROVE', summary: 'good' }
  expect(answer('k', (template) => ({ ...template, ...approved }))).toBe(0)
  expect(walk('resume', run_id).status).toBe('DONE')
})

it('says at the start which secrets are too short to be searched for', () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'x'")}`))
  const executor = { command: ['node', 'a.mjs'], secrets: ['PIN', 'LONG_KEY'] }
  write('secret', [worker('a', { executor }), goal('b', 'P2')], [edge('a', 'b')])
  const env = { PIN: '123', LONG_KEY: 'a-long-key' }
  const { err, status } = place.writ(['flow', 'run', 'secret.json'], { env })
  expect([status, err]).toEqual([0, expect.stringContaining('the secret PIN has fewer than four')])
  expect(err).not.toContain('LONG_KEY')
})

it('shows titles, not ids, while a run works', () => {
  place.write(
    'a.mjs',
    script(`await new Promise((done) => setTimeout(done, 2000))\n${TOOL}${artifact("'x'")}`),
  )
  write(
    'slow',
    [
      worker('n-17', { title: 'Write the chapter', executor: { command: ['node', 'a.mjs'] } }),
      goal('b', 'P2'),
    ],
    [edge('n-17', 'b')],
  )
  const { output } = place.person(['flow', 'run', 'slow.json'], [{ expect: 'DONE' }])
  expect(output).toMatch(/running.* Write the chapter {2}attempt 1/)
  expect(output).toContain('1 attempt\r')
})
