/** Alternatives begin when they are chosen: `flow check` refuses what else leads to them. */
import { expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow } from '../../src/flow/index.ts'
import { check, edge, node, work } from '../flow-runtime/host.ts'

const GOAL = node('g', { kind: 'GOAL' })

function choice(source: string, target: string, group_id = 'A'): FlowEdge {
  return edge(source, target, { class: 'Decision', group_id })
}

function refused(nodes: FlowNode[], edges: FlowEdge[]): readonly string[] {
  const flow = { type: 'flow_v1' as const, flow_id: 'f', title: '', nodes, edges }
  return checkFlow(flow).violations.map(({ code, path }) => `${code} ${path}`)
}

const FOUR = [work('a'), work('b'), work('c'), work('d'), GOAL]

it.each([
  ['waits for a join as well', [edge('c', 'd', { join: 'AND' })]],
  ['waits for a Sync edge as well', [edge('c', 'd', { class: 'Sync' })]],
  ['is entered by a way on', [edge('c', 'd')]],
  [
    'is entered by a way out of a failure',
    [edge('c', 'g'), edge('c', 'd', { class: 'Exception' })],
  ],
])('an alternative that %s', (_, ways) => {
  const edges = [choice('a', 'd'), choice('a', 'b'), ...ways, edge('d', 'g'), edge('b', 'g')]
  const place = edges.findIndex(({ source, target }) => source === 'c' && target === 'd')
  expect(refused(FOUR, edges)).toEqual([`flow.alternative_entered /edges/${place}/target`])
})

it('one alternative that leads on to another', () => {
  const nodes = [work('a'), work('d'), GOAL]
  const edges = [choice('a', 'd'), choice('a', 'g'), edge('d', 'g')]
  expect(refused(nodes, edges)).toEqual(['flow.alternative_entered /edges/2/target'])
})

it('ways back, repairs and CHECK nodes of alternatives are not refused', () => {
  const nodes = [...FOUR, check('k', 'd'), check('l', 'b')]
  const edges = [
    ...[edge('a', 'c'), choice('c', 'd'), choice('c', 'b'), choice('a', 'd', 'B')],
    ...[choice('a', 'b', 'B'), edge('d', 'k'), edge('b', 'l'), edge('k', 'g'), edge('l', 'g')],
    edge('k', 'd', { class: 'Loop', guard_expr: 'state.attempt_count < 2' }),
    edge('l', 'b', { class: 'Exception', on: 'reject' }),
  ]
  expect(refused(nodes, edges)).toEqual([])
})
