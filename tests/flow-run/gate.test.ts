/** Runs through the real gate: a sandbox, descriptor 3, stages, promotion, rollback. */
import { expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { REVIEWER, script, smallFlow } from './scripts.ts'

let place: RunPlace

placeEach('walls', (made) => {
  place = made
})

const WORKER = `
const cwd = process.cwd()
ask({ type: 'COMMAND_EXECUTION', argv: ['ls'], cwd })
mkdirSync('src', { recursive: true })
writeFileSync('src/made.txt', 'attempt ' + input.attempt)
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'attempt ' + input.attempt } })
`

function flow(more: Partial<Flow> = {}): Flow {
  return smallFlow(more, { required_files: ['src/made.txt'] })
}

it('works, is rejected, improves, is approved, and only then the tree changes', async () => {
  place.write('worker.mjs', script(WORKER))
  place.write('reviewer.mjs', REVIEWER)
  const run = await place.run(flow())
  expect([run.status, findingsIn(run), run.waiting]).toEqual([
    'DONE',
    ['flow.approval_required rerun'],
    [],
  ])
  expect(place.read('src/made.txt')).toBe('attempt 2')
  expect(place.read('artifacts/draft/2/out.md')).toBe('attempt 2')
  expect(place.has('artifacts/draft/1/out.md')).toBe(false)
  expect(await place.gate.attempts.held()).toEqual([])
}, 60_000)

const APPROVES = `answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: 95, action_required: 'APPROVE', summary: 's', breakdown: [], suggestions: [] })`
const frame = { title: '', phase_id: 'P1', actor: 'w', max_attempts: 3 }

function made(file: string, text: string): string {
  return script(`ask({ type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() })
writeFileSync('${file}', ${text})
answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'attempt ' + input.attempt } })`)
}

it('a stage on a stage: the second sees the first before it is real, and both become real in order', async () => {
  place.write('a.mjs', made('a.txt', `'by a'`))
  place.write('b.mjs', made('b.txt', `readFileSync('a.txt', 'utf8') + ', seen by b'`))
  // The reviewer of a comes after b: it finds what both have staged, and nothing of it in the tree.
  place.write('c.mjs', script(`if (readFileSync('a.txt', 'utf8') === 'by a') ${APPROVES}`))
  const node = (node_id: string) => ({
    ...frame,
    node_id,
    kind: 'WORK' as const,
    executor: { command: ['node', `${node_id}.mjs`] },
  })
  const check = { ...frame, node_id: 'c', kind: 'CHECK' as const, target: 'a' }
  const run = await place.run(
    flow({
      nodes: [node('a'), node('b'), { ...check, reviewer: { command: ['node', 'c.mjs'] } }],
      edges: [
        { edge_id: 'e1', source: 'a', target: 'b', class: 'Progress' },
        { edge_id: 'e2', source: 'b', target: 'c', class: 'Progress' },
      ],
    }),
  )
  expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
  expect([place.read('a.txt'), place.read('b.txt')]).toEqual(['by a', 'by a, seen by b'])
  const promoted = run.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'promoted'
      ? [payload.event.node_id]
      : [],
  )
  expect(promoted).toEqual(['a', 'b'])
}, 60_000)

it('a Rollback edge undoes through the gate what was promoted, and the run goes back', async () => {
  place.write('a.txt', 'as it was')
  place.write('a.mjs', made('a.txt', `readFileSync('a.txt', 'utf8') + ' + ' + input.attempt`))
  const run = await place.run(
    flow({
      nodes: [
        { ...frame, node_id: 'a', kind: 'WORK', executor: { command: ['node', 'a.mjs'] } },
        { ...frame, node_id: 'z', kind: 'GOAL' },
      ],
      edges: [
        {
          edge_id: 'back',
          source: 'a',
          target: 'a',
          class: 'Rollback',
          guard_expr: 'state.attempt_count == 1',
          guard_scope: 'global',
        },
        { edge_id: 'on', source: 'a', target: 'z', class: 'Progress' },
      ],
    }),
  )
  expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
  // The first was undone before the second was made.
  expect(place.read('a.txt')).toBe('as it was + 2')
}, 60_000)

it('two who begin at once both become real, and each can be undone without the other', async () => {
  const nodes = ['a', 'b'].map((node_id) => {
    place.write(`${node_id}.mjs`, made(`${node_id}.txt`, `'by ${node_id}'`))
    const executor = { command: ['node', `${node_id}.mjs`] }
    return { ...frame, node_id, kind: 'WORK' as const, executor }
  })
  const run = await place.run(flow({ nodes, edges: [] }))
  expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
  expect([place.read('a.txt'), place.read('b.txt')]).toEqual(['by a', 'by b'])
  const [first = ''] = run.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'promoted'
      ? [payload.event.action_id ?? '']
      : [],
  )
  expect((await place.gate.rollback({ actionId: first }, { dryRun: false })).verified).toBe(true)
  const left = ['a', 'b'].filter((id) => place.has(`artifacts/${id}/1`))
  expect(left.length).toBe(1)
}, 60_000)
