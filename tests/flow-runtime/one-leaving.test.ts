/**
 * A node is left once: by its ways on, by a way back, or out of a failure. What closes a way says so, and a
 * run is done only where no way that is left leads to a goal (F-1, F-2, H4).
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { stopsOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const goal = (id = 'g', phase_id = 'PG'): FlowNode => node(id, { kind: 'GOAL', phase_id })
const at = (id: string, phase_id: string): FlowNode => work(id, { phase_id })
const state = { fields: { u: { type: 'int' as const, initial: 0 } } }
const decided = (source: string, target: string, guard_expr: string): FlowEdge =>
  edge(source, target, { class: 'Decision', guard_expr })
const OUT = { class: 'Exception' } as const

function stops(host: Host) {
  const { flow, facts, state: now } = host
  return stopsOf({ flow, facts, state: now, waiting: host.open })
}

describe('a closed way within a phase, next to a way back out of it', () => {
  const nodes = [at('s', 'P1'), at('t', 'P1'), at('a', 'P2'), at('b', 'P2'), goal()]
  const before = [
    decided('s', 'a', 'state.u == 0'),
    decided('s', 't', 'state.u > 0'),
    edge('t', 'a'),
  ]
  const back = edge('a', 's', { class: 'Loop', guard_expr: 'state.u == 2' })
  const flow = (
    on_guard_fail: 'block' | 'escalate' | 'rerun' | 'reroute',
    more: FlowEdge[] = [],
  ) => ({
    nodes: more.length === 0 ? nodes : [...nodes, at('fix', 'P2')],
    edges: [
      ...[...before, edge('a', 'b', { guard_expr: 'state.u > 0', on_guard_fail })],
      ...[edge('b', 'g'), back, ...more],
    ],
    state,
  })

  it.each([
    ['block', 'BLOCKED', 'flow.guard_false block'],
    ['escalate', 'WAITING', 'flow.escalated escalate'],
    ['rerun', 'WAITING', 'flow.guard_false rerun'],
    ['reroute', 'BLOCKED', 'flow.guard_false reroute'],
  ] as const)('does what it says: %s', (action, status, finding) => {
    const host = new Host(flow(action)).start().run()
    expect([host.status, host.findings.includes(finding)]).toEqual([status, true])
    expect(stops(host).every(({ next }) => next.length > 0)).toBe(true)
    expect(host.node('g').status).toBe('idle')
    host.verify()
  })

  it('takes the way out of the node', () => {
    const host = new Host(flow('block', [edge('a', 'fix', OUT), edge('fix', 'g')])).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['s', 'a', 'fix', 'g']])
    host.verify()
  })
})

it('a goal that one branch reached does not excuse a join that another one waits at', () => {
  const nodes = [node('s'), work('b'), work('c'), work('j'), goal(), goal('g2', 'PG2')]
  const sync = { class: 'Sync' } as const
  const edges = [
    ...[edge('s', 'b'), edge('s', 'c', { guard_expr: 'state.attempt_count > 1' }), edge('s', 'g')],
    ...[edge('b', 'j', sync), edge('c', 'j', sync), edge('j', 'g2')],
  ]
  const host = new Host({ nodes, edges }).start().run()
  expect([host.status, host.node('g').status, host.findings]).toEqual([
    'BLOCKED',
    'done',
    ['flow.stalled block'],
  ])
  host.verify()
})

describe('a way back without a guard', () => {
  it.each(['PG', 'P'])('does not go where the next CHECK was open: goal in %s', (phase) => {
    const nodes = [work('w'), check('c1', 'w'), check('c2', 'w'), goal('g', phase)]
    const back = edge('c1', 'w', { class: 'Rollback' })
    const edges = [edge('w', 'c1'), edge('c1', 'c2'), back, edge('c2', 'g')]
    const host = new Host({ nodes, edges }, (id) => ({ stage: id })).start().run()
    expect([host.status, host.fired]).toEqual(['DONE', ['w>c1', 'c1>c2', 'c2>g']])
    host.verify()
  })
})

describe('a node that was left out of a failure', () => {
  const nodes = [at('a', 'P1'), at('fix', 'P1'), at('n', 'P2'), goal('g1'), goal('g2', 'PG2')]
  const edges = [
    ...[edge('a', 'n', { guard_expr: 'state.cumulative_duration >= 3.0' }), edge('n', 'g1')],
    ...[edge('a', 'fix', OUT), edge('fix', 'g2')],
  ]

  it('does not take its closed way as well when the way opens later', () => {
    const slow: Script = (id) => (id === 'fix' ? { seconds: 4 } : {})
    const host = new Host({ nodes, edges }, slow).start().run()
    expect([host.status, host.fired]).toEqual(['DONE', ['a>fix', 'fix>g2']])
    host.verify()
  })

  it('takes its ways on when a person skips it', () => {
    const fails: Script = (id) => (id === 'a' ? { outcome: 'failed' } : {})
    const one = [work('a', { max_attempts: 1 }), node('help'), goal()]
    const ways = [edge('a', 'g'), edge('a', 'help', OUT)]
    const host = new Host({ nodes: one, edges: ways }, fails).start().run()
    expect(host.status).toBe('BLOCKED')
    host.send({ type: 'skipped', node_id: 'a', principal: 'h', comment: 'not needed' })
    expect([host.run().status, host.fired]).toEqual(['DONE', ['a>help', 'a>g']])
    host.verify()
  })
})

it('a CHECK that approved in a phase that may not end yet has a stop, and goes on from there', () => {
  const nodes = [
    ...[at('w', 'P1'), check('c', 'w', { phase_id: 'P2' }), check('d', 'w', { phase_id: 'P1' })],
    ...[work('y', { phase_id: 'P2', minimum_duration: 2 }), goal()],
  ]
  const edges = [edge('w', 'c'), edge('c', 'd'), edge('d', 'y'), edge('y', 'g')]
  const host = new Host({ nodes, edges }).start().run()
  expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.time_floor block']])
  const [stop] = stops(host)
  expect([stop?.node_id, stop?.next[0]]).toEqual(['c', 'writ flow answer r c unblock'])
  expect(host.send({ type: 'unblocked', node_id: 'c', principal: 'h' })).toBe(true)
  expect(host.run().status).toBe('DONE')
  host.verify()
})

it('a CHECK that leaves by its way out at its deadline takes its work along', () => {
  const nodes = [work('w'), check('c', 'w', { deadline: 3 }), work('f'), goal()]
  const edges = [edge('w', 'c'), edge('c', 'g'), edge('c', 'f', OUT), edge('f', 'g')]
  const host = new Host({ nodes, edges }).start()
  host.run(
    ({ type, ...command }) =>
      type === 'run_participant' && 'node_id' in command && command.node_id === 'c',
  )
  host.pass(10).run()
  expect([host.status, host.entered]).toEqual(['DONE', ['w', 'c', 'f', 'g']])
  host.verify()
})

it('a way out that leads to a join which does not fill is stopped at the join', () => {
  const nodes = [work('a'), work('b'), work('c', { max_attempts: 1 }), work('x'), work('j'), goal()]
  const sync = { class: 'Sync' } as const
  const edges = [
    ...[edge('a', 'b'), edge('a', 'c'), edge('b', 'j', sync), edge('c', 'j', sync)],
    ...[edge('c', 'x', OUT), edge('x', 'j'), edge('j', 'g')],
  ]
  const fails: Script = (id) => (id === 'c' ? { outcome: 'failed' } : {})
  const host = new Host({ nodes, edges }, fails).start().run()
  const [stop] = stops(host)
  expect([host.status, stop?.node_id]).toEqual(['BLOCKED', 'j'])
  expect(stop?.says).toContain('waits for c')
  host.verify()
})

it('a reviewer that needs input is found, with its words', () => {
  const nodes = [work('w'), check('c', 'w'), goal()]
  const asks: Script = (id) => (id === 'c' ? { score: 50, action: 'REQUEST_EXTERNAL_INPUT' } : {})
  const host = new Host({ nodes, edges: [edge('w', 'c'), edge('c', 'g')] }, asks).start().run()
  expect([host.status, host.findings]).toEqual(['WAITING', ['flow.approval_required escalate']])
  expect(stops(host).map(({ kind }) => kind)).toEqual(['input'])
  host.verify()
})
