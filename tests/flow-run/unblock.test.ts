/** `writ flow answer … unblock`: a human lets a blocked node continue, after several causes of a block. */
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
  place = new Place('unblock', { runs: 'warm' }).init()
})

afterEach(() => place.remove())

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

it('a phase that took too little time: the node runs again, and is stopped again', () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'n' + input.attempt")}`))
  const slow = worker('a', { minimum_duration: 3600, max_attempts: 1 })
  const flow = flowOf([slow, goal('b', 'P2')], [edge('a', 'b')])
  place.write('flow.json', JSON.stringify(flow))
  const { run_id, status } = walk('run', 'flow.json')
  expect(status).toBe('BLOCKED')
  expect(walk('answer', run_id, 'b', 'unblock').error.code).toBe('flow.not_waiting')
  expect(walk('answer', run_id, 'a', 'unblock').ok).toBe(true)
  const again = walk('resume', run_id)
  expect([again.status, again.state.attempt_count]).toEqual(['BLOCKED', 2])
})

it('a way that a file of evidence closes: the file is read again', () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'done'")}`))
  const guarded = edge('a', 'b', {
    guard_expr: 'state.ready',
    guard_evidence_source: 'out/ready.json:ready',
  })
  const flow = flowOf([worker('a'), goal('b', 'P2')], [guarded], {
    state: { fields: { ready: { type: 'bool', initial: false } } },
  })
  place.write('flow.json', JSON.stringify(flow))
  const blocked = walk('run', 'flow.json')
  expect(blocked.status).toBe('BLOCKED')
  place.write('out/ready.json', '{"ready": false}')
  expect(walk('answer', blocked.run_id, 'a', 'unblock').ok).toBe(true)
  expect(walk('resume', blocked.run_id).status).toBe('BLOCKED')
  place.write('out/ready.json', '{"ready": true}')
  expect(walk('answer', blocked.run_id, 'a', 'unblock').ok).toBe(true)
  const done = walk('resume', blocked.run_id)
  expect([done.status, done.state.attempt_count]).toEqual(['DONE', 1])
  const replay = place.writ(['replay', '--json']).json
  expect([replay.ok, replay.differences]).toEqual([true, []])
})
