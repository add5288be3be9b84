/**
 * Calls that waited for what waited for them (version 8 of the rules): a CHECK of another phase inside a call,
 * a caller that has left, a call that is made again, and a list on work that is judged later.
 */
import { expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { nodesOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const GATE = { class: 'Gate' as const }
const NO = { class: 'Exception' as const, on: 'reject' as const }
const AND = { class: 'Sync' as const, join: 'AND' as const }
const GOAL = node('g', { kind: 'GOAL', phase_id: 'e' })

function gate(node_id: string, phase_id = node_id): FlowNode {
  const reviewer = { command: ['review', node_id] }
  return node(node_id, { kind: 'CHECK', reviewer, phase_id, call: true })
}

/** Each attempt of WORK leaves a stage; `scores` are the words of CHECK nodes, in order. */
function walk(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
  scores: Readonly<Record<string, readonly number[]>> = {},
): Host {
  const left = new Map(Object.entries(scores).map(([id, list]) => [id, [...list]]))
  const script: Script = (id, attempt, command) => {
    const isReview = command.type === 'run_participant' && command.review !== null
    return isReview ? { score: left.get(id)?.shift() ?? 95 } : { stage: `${id}-${attempt}` }
  }
  const host = new Host({ nodes: [...nodes], edges: [...edges] }, script).start().run()
  host.verify()
  return host
}

it('a repair inside a call is judged in another phase, and both come to their end', () => {
  const nodes = [
    ...[work('w'), check('c', 'w'), work('v'), gate('k', 'PK')],
    ...[work('r'), check('cr', 'r', { phase_id: 'PK' }), GOAL],
  ]
  const calls = [edge('w', 'k'), edge('v', 'k', GATE), edge('k', 'r', NO)]
  const ways = [edge('w', 'c'), edge('r', 'cr'), edge('c', 'g', AND), edge('v', 'g', AND)]
  const host = walk(nodes, [...calls, ...ways], { k: [40, 95] })
  // What the gate rejected stays with a finding of its own; the other caller was judged and is in place.
  expect([host.status, host.findings]).toEqual([
    'BLOCKED',
    ['flow.approval_required reroute', 'flow.call_failed block'],
  ])
  expect([host.node('r').status, host.node('cr').status]).toEqual(['done', 'done'])
  expect(host.node('v').status).toBe('done')
  host.send({ type: 'unblocked', node_id: 'w', principal: 'p' })
  host.run().verify()
  expect([host.status, host.node('g').status]).toEqual(['DONE', 'done'])
})

it.each([
  ['leads out of the phase itself', [work('r'), work('x', { phase_id: 'Q' })], [edge('r', 'x')]],
  [
    'is judged in another phase, which leads on',
    [work('r'), check('cr', 'r', { phase_id: 'k' }), work('x', { phase_id: 'Q' })],
    [edge('r', 'cr'), edge('cr', 'x')],
  ],
] as const)('what a call has come to %s', (_, behind, ways) => {
  const nodes = [work('w'), check('c', 'w'), gate('k'), ...behind, GOAL]
  const edges = [edge('w', 'c'), edge('w', 'k'), edge('k', 'r'), ...ways, edge('c', 'g')]
  const host = walk(nodes, edges)
  expect([host.status, host.findings]).toEqual(['DONE', []])
  expect(host.entered.indexOf('x')).toBeLessThan(host.entered.indexOf('g'))
})

it('a caller that left by its way out of a REJECT is given up, and the run ends there', () => {
  const nodes = [work('w'), gate('k'), GOAL, node('h', { kind: 'GOAL', phase_id: 'e' })]
  const edges = [edge('w', 'k', GATE), edge('w', 'g'), edge('w', 'h', NO)]
  const host = walk(nodes, edges, { k: [40] })
  const shown = nodesOf(host.flow, host.state).find(({ node_id }) => node_id === 'w')?.status
  expect([host.status, shown, host.entered]).toEqual(['DONE', 'rejected', ['w', 'k', 'h']])
  expect(host.facts.some(({ payload }) => JSON.stringify(payload).includes('"promote"'))).toBe(
    false,
  )
})

it('a caller that others went on from, and that a called CHECK rejected, is shown as rejected', () => {
  const nodes = [work('w'), gate('k', 'P'), work('n'), check('c', 'w'), GOAL]
  const edges = [edge('w', 'k', GATE), edge('w', 'n'), edge('n', 'c'), edge('c', 'g')]
  const host = walk(nodes, edges, { k: [40] })
  const shown = nodesOf(host.flow, host.state).find(({ node_id }) => node_id === 'w')?.status
  expect([host.status, host.node('w').status, shown]).toEqual([
    'BLOCKED',
    'provisional',
    'rejected',
  ])
})

it('a call is made again after a way back out of it, and its caller is never stalled', () => {
  const back = edge('r', 'k', { class: 'Loop', guard_expr: 'state.attempt_count < 2' })
  const nodes = [work('a'), gate('k'), work('r'), GOAL]
  const edges = [edge('a', 'k', GATE), edge('a', 'g'), edge('k', 'r'), back]
  const host = walk(nodes, edges)
  expect([host.status, host.findings]).toEqual(['DONE', []])
  expect(host.entered).toEqual(['a', 'k', 'r', 'a', 'k', 'r', 'g'])
})

it('a way back of the last check of work with a call begins a round of its own (version 9 of the rules)', () => {
  const c = check('c', 'w', { phase_id: 'Q' })
  const nodes = [work('w'), c, check('d', 'w', { phase_id: 'k' }), gate('k'), GOAL]
  const back = edge('d', 'd', { class: 'Loop', guard_expr: 'state.attempt_count < 2' })
  const edges = [edge('w', 'c'), edge('c', 'd'), edge('d', 'g'), edge('w', 'k', GATE), back]
  const host = walk(nodes, edges)
  expect([host.status, host.findings]).toEqual(['DONE', []])
  expect(host.entered).toEqual(['w', 'c', 'd', 'k', 'w', 'c', 'd', 'k', 'g'])
})

it('what an earlier call has come to, with a way that was closed, keeps no later call', () => {
  const back = { class: 'Loop' as const, guard_expr: 'state.attempt_count < 2' }
  const called = work('k', { call: true, phase_id: 'k' })
  const nodes = [work('a'), called, work('r'), node('n'), GOAL]
  const ways = [edge('a', 'n'), edge('n', 'g'), edge('a', 'a', back)]
  const closed = edge('r', 'k', { class: 'Loop', guard_expr: 'false' })
  const host = walk(nodes, [edge('a', 'k', GATE), edge('k', 'r'), closed, ...ways])
  expect([host.status, host.findings]).toEqual(['DONE', []])
  expect(host.entered.filter((id) => id === 'r')).toHaveLength(2)
})

it('work behind a node that makes nothing is based on what was staged before it', () => {
  const nodes = [work('a'), node('between'), work('b'), check('c', 'a'), GOAL]
  const ways = [edge('a', 'between'), edge('between', 'b'), edge('b', 'c'), edge('c', 'g')]
  const host = walk(nodes, ways)
  const staged = host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'staged' && payload.node_id === 'b'
      ? payload.stands_on
      : [],
  )
  expect(staged).toEqual([{ node_id: 'a', manifest: 'a-1' }])
  const promoted = host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'commanded' && payload.command.type === 'promote'
      ? [payload.command.node_id]
      : [],
  )
  expect([host.status, promoted]).toEqual(['DONE', ['a', 'b']])
})

it('a list on work that is judged after it is counted by what its items staged', () => {
  const nodes = [work('a'), work('m', { map: { items: ['x', 'y'] } }), check('c', 'a'), GOAL]
  const edges = [edge('a', 'm'), edge('m', 'c'), edge('c', 'g')]
  const host = walk(nodes, edges)
  expect([host.status, host.findings]).toEqual(['DONE', []])
  const rejected = walk(nodes, edges, { c: [40, 95] })
  expect([rejected.status, rejected.node('m/1').entries]).toEqual(['DONE', 2])
})

it('a run is not done if a node was left behind to which another way leads still', () => {
  const isFirst = 'state.attempt_count < 2'
  const nodes = [...['a', 'b', 'c', 'n'].map((id) => work(id)), GOAL]
  const ends = [edge('n', 'g'), edge('g', 'b', { class: 'Loop', guard_expr: isFirst })]
  const ways = [edge('a', 'b'), edge('a', 'n'), edge('c', 'n')]
  const decided = [
    edge('b', 'c', { class: 'Decision', guard_expr: isFirst }),
    edge('b', 'h', { class: 'Decision', guard_expr: `!(${isFirst})` }),
  ]
  const other = node('h', { kind: 'GOAL', phase_id: 'e' })
  const host = walk([...nodes, other], [...ways, ...ends, ...decided])
  expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.stalled block']])
  host.send({ type: 'unblocked', node_id: 'n', principal: 'p' })
  host.run().verify()
  expect([host.status, host.node('g').status, host.node('h').status]).toEqual([
    'DONE',
    'done',
    'done',
  ])
})
