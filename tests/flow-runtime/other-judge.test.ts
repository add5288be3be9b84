/** Version 10 of the rules: what a person does about a verdict, and alternatives that were not chosen. */
import { expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { planMigration } from '../../src/flow/index.ts'
import { check, compiled, edge, Host, node, type Script, work } from './host.ts'

const ANN = 'human:ann@local'
const GOAL = node('g', { kind: 'GOAL' })
const REVIEWED: Partial<Flow> = {
  nodes: [work('a', { max_attempts: 2 }), check('c', 'a'), GOAL],
  edges: [edge('a', 'c'), edge('c', 'g')],
}

/** The work gives the same each time; `scores` are the words of the CHECK. */
function sameWork(parts: Partial<Flow>, scores: number[]): Host {
  const script: Script = (_, __, command) =>
    command.type === 'run_participant' && command.review !== null
      ? { score: scores.shift() ?? 95 }
      : { content: 'the same', stage: 's' }
  return new Host(parts, script).start().run()
}

function migrate(host: Host, parts: Partial<Flow>, paths: readonly string[] = []): void {
  const flow = compiled(parts).base
  const { from, to } = planMigration(host.state, flow)
  const changed_programs = paths.map((path) => ({ path, before: null, after: null }))
  const moved = { type: 'migrated' as const, from, to, flow, principal: ANN, comment: null }
  expect(host.send({ ...moved, changed_programs })).toBe(true)
}

function answer(host: Host, word: 'retry' | 'abandon'): void {
  const asked = host.open.find(({ type }) => type === 'ask_human')
  if (asked?.type !== 'ask_human') throw new Error('no person is asked')
  host.open.splice(host.open.indexOf(asked), 1)
  const { node_id, command } = asked
  host.send({ type: 'human_answer', node_id, command, answer: word, principal: ANN })
  host.run().verify()
}

function withOther(reviewer: string | null, instructions = 'write'): Partial<Flow> {
  const [a, c, g] = REVIEWED.nodes ?? []
  if (a === undefined || c === undefined || g === undefined) throw new Error('there are three')
  const judge = reviewer === null ? c : { ...c, reviewer: { command: [reviewer] } }
  return { ...REVIEWED, nodes: [{ ...a, instructions }, judge, g] }
}

it.each([
  ['another reviewer', withOther('other'), []],
  ['another file of its reviewer', REVIEWED, ['judges/rules.json']],
])('work that was rejected is judged once more after a migration to %s', (_, parts, paths) => {
  const host = sameWork(REVIEWED, [50, 95])
  expect(host.status).toBe('WAITING')
  migrate(host, parts, paths)
  answer(host, 'retry')
  expect([host.status, host.node('a').status]).toEqual(['DONE', 'done'])
})

it('and once only: what it rejects stays rejected', () => {
  const host = sameWork(REVIEWED, [50, 40])
  migrate(host, withOther('other'))
  answer(host, 'retry')
  expect([host.status, host.node('a').work.score]).toEqual(['WAITING', 40])
  answer(host, 'retry')
  expect(host.findings.at(-1)).toBe('flow.escalated escalate')
  expect(host.findings.filter((one) => one.startsWith('flow.delta_missing')).length).toBe(2)
})

it('not after a migration of the work alone', () => {
  const host = sameWork(REVIEWED, [50, 95])
  migrate(host, withOther(null, 'write otherwise'))
  answer(host, 'retry')
  expect([host.status, host.node('a').work.verdict]).toEqual(['WAITING', 'REJECT'])
})

it.each([['with a guard', "state.validator_verdict == 'REJECT'"] as const, ['', null] as const])(
  'work that is skipped after a REJECT is not led back to by a Loop %s',
  (_, guard_expr) => {
    const loop = edge('c', 'a', { class: 'Loop', ...(guard_expr === null ? {} : { guard_expr }) })
    const host = sameWork({ ...REVIEWED, edges: [...(REVIEWED.edges ?? []), loop] }, [50, 50])
    expect(host.status).toBe('WAITING')
    expect(
      host.send({ type: 'skipped', node_id: 'a', principal: ANN, comment: 'not needed' }),
    ).toBe(true)
    host.run().verify()
    expect([host.status, host.node('a').work.stage]).toEqual(['DONE', null])
  },
)

it('the closed ways of a CHECK that was passed with skipped work are tried again', () => {
  const nodes = [work('a', { max_attempts: 1 }), check('c', 'a'), work('v'), GOAL]
  const decision = { class: 'Decision' as const }
  const edges = [
    ...[edge('a', 'c'), edge('v', 'g')],
    edge('c', 'v', { ...decision, guard_expr: 'state.score > 90' }),
    edge('c', 'g', { ...decision, guard_expr: 'state.score <= 90' }),
  ]
  const host = new Host({ nodes, edges }, () => ({ outcome: 'failed' })).start().run()
  host.send({ type: 'skipped', node_id: 'a', principal: ANN, comment: 'not needed' })
  const before = host.run().findings.length
  host.send({ type: 'unblocked', node_id: 'c', principal: ANN })
  host.run().verify()
  const found = host.findings.slice(before)
  expect([host.status, found.includes('flow.stalled block'), found.length > 0]).toEqual([
    'BLOCKED',
    false,
    true,
  ])
})

it('a decision with two open ways next to a way that goes is an alert', () => {
  const nodes = [work('a'), work('b'), work('c'), work('d'), GOAL]
  const edges = [
    edge('a', 'b', { class: 'Decision', guard_expr: 'state.attempt_count >= 1' }),
    edge('a', 'c', { class: 'Decision', guard_expr: 'state.attempt_count <= 1' }),
    ...[edge('a', 'd'), edge('d', 'g'), edge('b', 'g'), edge('c', 'g')],
  ]
  const host = new Host({ nodes, edges }).start().run()
  host.verify()
  expect([host.status, host.findings]).toEqual(['DONE', ['flow.decision_ambiguous alert']])
})

it('an alternative that was entered otherwise and fails has no other one tried', () => {
  const nodes = [work('a'), work('b'), work('d', { max_attempts: 1 }), GOAL]
  const choice = { class: 'Decision' as const, group_id: 'A' }
  const ways = [edge('b', 'd', choice), edge('b', 'g', choice), edge('d', 'g')]
  const edges = [edge('a', 'd'), edge('a', 'b', { guard_expr: 'false' }), ...ways]
  const script: Script = (id) => (id === 'd' ? { outcome: 'failed' } : {})
  const host = new Host({ nodes, edges }, script).start().run()
  host.verify()
  expect([host.status, host.entered]).toEqual(['WAITING', ['a', 'd']])
})
