/** What is under way when its caller, or a node before it, is left behind, and what several called CHECK nodes say. */
import { expect, it } from 'vitest'
import type { FlowCommand } from '../../src/flow/index.ts'
import { nodesOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const STAGED: Script = (id, attempt) => ({ stage: `${id}${attempt}` })
const GOAL = node('g', { kind: 'GOAL', phase_id: 'PG' })
const gate = (id: string, phase_id = id) =>
  node(id, { kind: 'CHECK', call: true, phase_id, reviewer: { command: [id] } })

/** Answers everything but the commands that `isHeld` names. */
function runBut(host: Host, isHeld: (command: FlowCommand) => boolean): void {
  for (let count = 0; count < 200; count++) {
    const at = host.open.findIndex((one) => one.type !== 'ask_human' && !isHeld(one))
    const [command] = at === -1 ? [] : host.open.splice(at, 1)
    if (command === undefined) return
    host.answer(command)
  }
  throw new Error('the run does not come to an end')
}

function eventsIn(host: Host, ...types: readonly string[]): readonly string[] {
  return host.facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
    const { event } = payload
    return types.includes(event.type) && 'node_id' in event
      ? [`${event.type} ${event.node_id}`]
      : []
  })
}

const backOnce = (source: string, target: string, kind: 'Loop' | 'Rollback') =>
  edge(source, target, { class: kind, guard_expr: 'state.attempt_count < 2' })

it('promotes nothing that one of two called CHECK nodes rejected, in either order', () => {
  for (const low of ['k', 'l']) {
    const nodes = [work('a'), gate('k'), gate('l'), GOAL]
    const edges = [
      edge('a', 'k', { class: 'Gate' }),
      edge('a', 'l', { class: 'Gate' }),
      edge('a', 'g'),
    ]
    const host = new Host({ nodes, edges }, (id, attempt) => ({
      stage: `${id}${attempt}`,
      score: id === low && attempt === 1 ? 40 : 95,
    }))
    host.start().run()
    const shown = nodesOf(host.flow, host.state).find(({ node_id }) => node_id === 'a')?.status
    expect([host.status, shown, eventsIn(host, 'promoted')]).toEqual(['BLOCKED', 'rejected', []])
    host.send({ type: 'unblocked', node_id: 'a', principal: 'p' })
    host.run()
    expect([host.status, host.entered.filter((id) => id === 'a')]).toEqual(['DONE', ['a', 'a']])
    host.verify()
  }
})

it('a Rollback waits for a promotion under way, and undoes it', () => {
  const nodes = [work('a'), work('b'), node('s'), GOAL]
  const edges = [edge('a', 'b'), edge('a', 's'), backOnce('s', 'a', 'Rollback'), edge('b', 'g')]
  const host = new Host({ nodes, edges }, STAGED).start()
  runBut(
    host,
    ({ type, ...more }) => type === 'promote' && 'node_id' in more && more.node_id === 'b',
  )
  expect(eventsIn(host, 'promoted', 'rolled_back')).toEqual(['promoted a'])
  expect(host.entered).toEqual(['a', 'b', 's'])
  host.verify()
  host.run()
  const acts = eventsIn(host, 'promoted', 'rolled_back').slice(0, 4)
  expect(acts).toEqual(['promoted a', 'promoted b', 'rolled_back b', 'rolled_back a'])
  expect(host.status).toBe('DONE')
  host.verify()
})

it('two Rollback edges at the end of a phase undo what they share once, one after the other', () => {
  const early = { phase_id: 'Q' }
  const nodes = [work('a', early), work('b', early), work('c'), node('s'), node('t'), GOAL]
  const edges = [
    edge('a', 'c', { join: 'AND' }),
    edge('b', 'c', { join: 'AND' }),
    edge('c', 's'),
    edge('c', 't'),
    backOnce('s', 'a', 'Rollback'),
    backOnce('t', 'b', 'Rollback'),
    edge('s', 'g'),
  ]
  const host = new Host({ nodes, edges }, STAGED).start().run()
  const undone = eventsIn(host, 'rolled_back')
  expect(undone).toEqual(expect.arrayContaining(['rolled_back a', 'rolled_back b']))
  expect(host.status).toBe('DONE')
  host.verify()
})

it('ends a call whose caller is left behind: its review is stopped and promotes nothing', () => {
  const nodes = [work('a'), work('b'), node('s'), gate('k', 'P'), GOAL]
  const edges = [
    edge('a', 'b'),
    edge('a', 's'),
    edge('b', 'k', { class: 'Gate' }),
    backOnce('s', 'a', 'Loop'),
    edge('b', 'g'),
  ]
  const host = new Host({ nodes, edges }, STAGED).start()
  runBut(host, (one) => 'node_id' in one && (one.node_id === 'k' || one.node_id === 's'))
  expect(host.open.map((one) => ('node_id' in one ? one.node_id : ''))).toEqual(['s', 'k'])
  host.answerAll('pass')
  const outcomes = host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'returned' ? [payload.outcome] : [],
  )
  expect([outcomes, host.node('k').status, host.node('b').status]).toEqual([
    ['left'],
    'rejected',
    'rejected',
  ])
  host.run()
  expect([host.status, eventsIn(host, 'promoted')]).toEqual([
    'DONE',
    ['promoted a', 'promoted a', 'promoted b'],
  ])
  host.verify()
})

it('enters a node that was left behind, although its own reruns have counted further', () => {
  const nodes = [work('a'), work('b'), work('c'), node('s', { phase_id: 'S' }), GOAL]
  const backs = [backOnce('a', 'a', 'Loop'), backOnce('s', 'b', 'Loop')]
  const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'g'), ...backs]
  const host = new Host({ nodes, edges }, (id, attempt) => ({
    stage: `${id}${attempt}`,
    outcome: id === 'c' && attempt === 1 ? 'failed' : 'ended',
  })).start()
  const isAt = (one: FlowCommand, id: string, attempt: number): boolean =>
    one.type === 'run_participant' && one.node_id === id && one.attempt === attempt
  runBut(host, (one) => isAt(one, 'a', 1) || isAt(one, 'b', 1))
  runBut(host, (one) => isAt(one, 'a', 2) || isAt(one, 'b', 1))
  runBut(host, (one) => isAt(one, 'a', 2) || isAt(one, 'c', 2))
  expect([host.node('c').round > host.node('a').round, host.node('c').status]).toEqual([
    true,
    'running',
  ])
  host.run()
  expect([host.status, host.node('g').status]).toEqual(['DONE', 'done'])
  host.verify()
})

it('a way back of a CHECK that rejects runs the work, where it leads to a node after the work', () => {
  const nodes = [work('a'), node('m'), check('c', 'a'), GOAL, node('h', { kind: 'GOAL' })]
  const edges = [edge('a', 'm'), edge('m', 'c'), edge('c', 'g'), edge('c', 'm', { class: 'Loop' })]
  const script: Script = (id, attempt) => ({
    stage: `${id}${attempt}`,
    score: id === 'c' && attempt === 1 ? 40 : 95,
  })
  const host = new Host({ nodes, edges }, script).start().run()
  expect([host.status, host.entered.filter((id) => id === 'a')]).toEqual(['DONE', ['a', 'a']])
  expect(host.node('g').status).toBe('done')
  host.verify()
})

it('begins a phase by an entry alone: evidence that is read again ends it no second time', () => {
  const guard = { guard_expr: 'state.n > 0', guard_evidence_source: 'e.json:n' }
  const nodes = [work('a'), GOAL]
  const edges = [edge('a', 'g', guard)]
  const state = { fields: { n: { type: 'int' as const, initial: 0 } } }
  const host = new Host({ nodes, edges, state }, STAGED).start()
  const read = (value: number) => {
    for (const one of host.open.filter(({ type }) => type === 'read_evidence')) {
      host.open.splice(host.open.indexOf(one), 1)
      if (one.type !== 'read_evidence') continue
      const readings = one.sources.map(({ edge_id }) => ({ edge_id, digest: 'd', value }))
      host.send({ type: 'evidence_read', node_id: 'a', command: one.command, readings })
    }
  }
  host.run(({ type }) => type === 'read_evidence')
  read(0)
  host.run()
  expect(host.status).toBe('BLOCKED')
  host.send({ type: 'unblocked', node_id: 'a', principal: 'p' })
  read(1)
  host.run()
  const ends = host.facts.flatMap(({ type, payload }) =>
    type === 'flow_event_v1' && payload.kind === 'phase_ended' ? [payload.phase_id] : [],
  )
  expect([host.status, ends]).toEqual(['DONE', ['P', 'PG']])
  host.verify()
})
