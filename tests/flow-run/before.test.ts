/**
 * Before a run begins: what participants need is looked for, plans are repaired and say so, and nothing
 * is left behind where something is missing. While it runs, a halt is no failure of a participant.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 180_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('before', { runs: 'warm' }).init()
})

afterEach(() => place.remove())

function walk(...words: readonly string[]): Json {
  const { json, status } = place.writ(['flow', ...words, '--json'])
  return { ...json, exit: status }
}

it('names missing secrets, programs and files at once, and leaves no run', () => {
  const missing = [
    [{ command: ['no-such-program-here'] }, 'flow.program_missing', 'no-such-program-here'],
    [{ command: ['node', 'not-there.mjs'] }, 'flow.program_missing', 'not-there.mjs'],
    [{ command: ['sh', 'bin/next'] }, 'flow.program_missing', 'bin/next'],
    [{ command: ['env', 'X=1', 'bash', '-e', 'b.sh'] }, 'flow.program_missing', 'b.sh'],
    [{ command: ['./tools/run'] }, 'flow.program_missing', 'tools/run'],
    [{ command: ['true'], secrets: ['NOT_SET_HERE'] }, 'flow.secret_missing', 'NOT_SET_HERE'],
  ] as const
  for (const [executor, code, word] of missing) {
    const a = worker('a', { title: 'Make it', executor: structuredClone(executor) as never })
    place.write('flow.json', JSON.stringify(flowOf([a, goal('z', 'P2')], [edge('a', 'z')])))
    const { exit, error } = walk('run', 'flow.json')
    expect([exit, error.code]).toEqual([2, code])
    expect(error.message).toContain(word)
    expect(error.message).toContain('Make it (a)')
  }
  expect(walk('status').runs).toEqual([])
})

it('a program that a node of the flow makes need not be there', () => {
  place.write(
    'a.mjs',
    script(`${TOOL}mkdirSync('out', { recursive: true })
writeFileSync('out/b.mjs', ${JSON.stringify(script(`${TOOL}${artifact("'by b'")}`))})
${artifact("'x'")}`),
  )
  const b = worker('b', { executor: { command: ['node', 'out/b.mjs'] } })
  const nodes = [worker('a', { writes: ['out/**'] }), b, goal('z', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b'), edge('b', 'z')])))
  expect(walk('run', 'flow.json').error).toBeUndefined()
})

it('a plan without DECOMPOSE is repaired, says so, and its root waits for the work', () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'made'")}`))
  place.write(
    'r.mjs',
    script(`answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: 95,
  action_required: 'APPROVE', summary: 'good', breakdown: [], suggestions: [] })`),
  )
  place.write(
    'participants.yaml',
    'xiaobo: { command: [node, a.mjs] }\nreviewer: { command: [node, r.mjs] }\n',
  )
  const [plan, root, task] = ['1', '2', '3'].map(
    (one) => `00000000-0000-4000-8000-00000000000${one}`,
  )
  const node = { plan_id: plan, owner_agent_id: 'xiaobo', priority: 0, tags: [] }
  const document = {
    plan: {
      plan_id: plan,
      title: 'P',
      root_task_id: root,
      owner_agent_id: 'xiaobo',
      constraints: {},
    },
    nodes: [
      { ...node, task_id: root, node_type: 'GOAL', title: 'All of it' },
      { ...node, task_id: task, node_type: 'ACTION', title: 'The work' },
    ],
    edges: [],
  }
  place.write('plan.json', JSON.stringify(document))
  const { json, err } = place.writ([
    ...['flow', 'run', 'plan.json', '--participants', 'participants.yaml', '--json'],
  ])
  expect(err).toContain('a task that is a part of nothing becomes a part of the goal')
  expect([json.status, json.findings]).toEqual(['DONE', []])
  const { nodes } = walk('status', json.run_id)
  expect(nodes.every(({ status }: Json) => status === 'done')).toBe(true)
  expect(nodes.find((one: Json) => one.node_id === task).attempts).toBe(1)
})

it('an attempt that a halt ended is not counted: it runs again as the same attempt', async () => {
  place.write(
    'a.mjs',
    script(`${TOOL}
if (!existsSync('go.txt')) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000) }
${artifact("'attempt ' + input.attempt")}`),
  )
  const nodes = [worker('a', { max_attempts: 1 }), goal('z', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'z')])))
  const child = place.start(['flow', 'run', 'flow.json', '--json'])
  const folder = join(place.project, 'artifacts')
  for (let tries = 0; !existsSync(folder) && tries < 200; tries++) await pause(100)
  await pause(3_000)
  expect(place.writ(['halt']).status).toBe(0)
  await once(child, 'close')
  expect(place.writ(['resume']).status).toBe(0)
  place.write('go.txt', 'go')
  const done = walk('resume')
  expect([done.status, done.findings, done.state.attempt_count]).toEqual(['DONE', [], 1])
})
