/** Runs through the real gate: a sandbox, descriptor 3, stages, promotion, rollback. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { findingsIn, GatePlace } from './gate-place.ts'
import { REVIEWER, script } from './place.ts'

let place: GatePlace

beforeEach(async () => {
  place = await new GatePlace('walls').make()
})

afterEach(() => place.remove())

const WORKER = `
const cwd = process.cwd()
ask({ type: 'COMMAND_EXECUTION', argv: ['ls'], cwd })
mkdirSync('src', { recursive: true })
writeFileSync('src/made.txt', 'attempt ' + input.attempt)
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'attempt ' + input.attempt } })
`

function flow(more: Partial<Flow> = {}): Flow {
  const executor = { command: ['node', 'worker.mjs'] }
  const reviewer = { command: ['node', 'reviewer.mjs'] }
  return {
    type: 'flow_v1',
    flow_id: 'small',
    title: 'Small',
    nodes: [
      {
        node_id: 'draft',
        kind: 'WORK',
        title: 'Draft',
        phase_id: 'P1',
        actor: 'writer',
        executor,
        max_attempts: 3,
        required_files: ['src/made.txt'],
      },
      {
        node_id: 'review',
        kind: 'CHECK',
        title: 'Review',
        phase_id: 'P1',
        actor: 'validator',
        reviewer,
        target: 'draft',
        max_attempts: 4,
      },
      {
        node_id: 'done',
        kind: 'GOAL',
        title: 'Done',
        phase_id: 'P2',
        actor: 'director',
        max_attempts: 1,
      },
    ],
    edges: [
      { edge_id: 'E1', source: 'draft', target: 'review', class: 'Progress' },
      { edge_id: 'E2', source: 'review', target: 'done', class: 'Gate' },
    ],
    ...more,
  }
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
  expect(existsSync(join(place.workspace, 'artifacts/draft/1'))).toBe(false)
  expect(await place.gate.attempts.held()).toEqual([])
}, 60_000)
