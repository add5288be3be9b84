/** A Rollback edge undoes what was promoted on every way that led on, ways out of failures included. */
import { expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { edge, Host, node, type Script, work } from './host.ts'

function undoneIn(host: Host): readonly string[] {
  return host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'rolled_back'
      ? [payload.event.node_id]
      : [],
  )
}

function actsIn(host: Host, kind: 'promoted' | 'undone'): readonly string[] {
  return host.facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1') return []
    if (kind === 'promoted')
      return payload.kind === 'event' && payload.event.type === 'promoted'
        ? [payload.event.action_id ?? '']
        : []
    return payload.kind === 'commanded' && payload.command.type === 'roll_back'
      ? [payload.command.action_id]
      : []
  })
}

const STAGED: Script = (id, attempt) => ({ stage: `${id}${attempt}` })
const phase = (id: string) => work(id, { phase_id: id })
const GATE = work('gate', { phase_id: 'gate', call: true })

/** Goes back once: the guard counts the entries of the whole run. */
function backOnce(source: string, target: string, entries: number): FlowEdge {
  const guard_expr = `state.attempt_count < ${entries}`
  return edge(source, target, { class: 'Rollback', guard_expr, guard_scope: 'global' })
}

it('rolls back every call of the nodes left behind, the last first', () => {
  const nodes = [phase('a'), phase('b'), node('c', { phase_id: 'c' }), GATE]
  const edges = [
    edge('a', 'b'),
    edge('b', 'c'),
    edge('a', 'gate', { class: 'Gate' }),
    edge('b', 'gate', { class: 'Gate' }),
    backOnce('c', 'a', 6),
  ]
  const host = new Host({ nodes, edges }, STAGED).start().run()
  expect([host.status, undoneIn(host)]).toEqual(['DONE', ['gate', 'b', 'gate', 'a']])
  expect(actsIn(host, 'undone')).toEqual(actsIn(host, 'promoted').slice(0, 4).toReversed())
  host.verify()
})

it('leaves the calls of nodes before the target as they are', () => {
  const nodes = [phase('a'), phase('b'), node('c', { phase_id: 'c' }), GATE]
  const edges = [
    edge('a', 'b'),
    edge('b', 'c'),
    edge('a', 'gate', { class: 'Gate' }),
    edge('b', 'gate', { class: 'Gate' }),
    backOnce('c', 'b', 6),
  ]
  const host = new Host({ nodes, edges }, STAGED).start().run()
  expect([host.status, undoneIn(host)]).toEqual(['DONE', ['gate', 'b']])
  host.verify()
})

it('rolls back what earlier rounds of a Loop promoted', () => {
  const again = edge('b', 'a', {
    class: 'Loop',
    guard_expr: 'state.attempt_count < 3',
    guard_scope: 'global',
  })
  const nodes = [work('a'), work('b'), node('c')]
  const edges = [edge('a', 'b'), again, edge('b', 'c'), backOnce('c', 'a', 6)]
  const host = new Host({ nodes, edges }, STAGED).start().run()
  expect([host.status, undoneIn(host)]).toEqual(['DONE', ['b', 'a', 'b', 'a']])
  expect(actsIn(host, 'undone')).toEqual(actsIn(host, 'promoted').slice(0, 4).toReversed())
  host.verify()
})

it('one that fails leaves what comes after it as it is', () => {
  const nodes = [work('a'), work('b'), node('c')]
  const edges = [edge('a', 'b'), edge('b', 'c'), backOnce('c', 'a', 4)]
  const host = new Host({ nodes, edges }, STAGED).start()
  host.run(({ type }) => type === 'roll_back')
  const [command] = host.open.splice(0, 1)
  host.send({
    type: 'rolled_back',
    node_id: 'b',
    command: command?.command ?? -1,
    is_restored: false,
  })
  host.run()
  expect([host.status, host.node('a').status, host.node('b').status]).toEqual([
    'BLOCKED',
    'done',
    'blocked',
  ])
  host.verify()
})

it('rolls back what was promoted behind an Exception edge', () => {
  const host = new Host(
    {
      nodes: [work('a'), work('b', { max_attempts: 1 }), work('c'), node('d')],
      edges: [
        edge('a', 'b'),
        edge('b', 'c', { class: 'Exception' }),
        edge('c', 'a', {
          class: 'Rollback',
          guard_expr: 'state.attempt_count <= 3',
          guard_scope: 'global',
        }),
        edge('c', 'd'),
      ],
    },
    (id, attempt) => (id === 'b' ? { result: 'ERROR' } : { stage: `${id}${attempt}` }),
  )
    .start()
    .run()
  expect([host.status, undoneIn(host)]).toEqual(['DONE', ['c', 'a']])
  host.verify()
})
