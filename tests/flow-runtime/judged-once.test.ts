/**
 * Version 6 of the rules: a phase ends once, after the CHECK nodes that its work calls; the way back of a CHECK
 * of a map goes once; a CHECK that has approved takes no way back without a guard if its work leads on; and a
 * branch that ends with its CHECK is ended with its goal.
 */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { checkFlow, nodesOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const P1 = { phase_id: 'P1' }
const P2 = { phase_id: 'P2' }
const AGAIN = 'state.attempt_count < 2'

function goal(node_id = 'g'): FlowNode {
  return node(node_id, { kind: 'GOAL', phase_id: `P${node_id}`, max_attempts: 1 })
}

function gate(more: Partial<FlowNode> = {}): FlowNode {
  const reviewer = { command: ['review'] }
  return node('k', { kind: 'CHECK', actor: 'v', phase_id: 'PC', call: true, reviewer, ...more })
}

/** Each attempt of WORK leaves a stage; `scores` are the words of CHECK nodes, in order. */
function staging(scores: Readonly<Record<string, readonly number[]>> = {}): Script {
  const left = new Map(Object.entries(scores).map(([id, list]) => [id, [...list]]))
  return (id, attempt, command) => {
    const isReview = command.type === 'run_participant' && command.review !== null
    return isReview ? { score: left.get(id)?.shift() ?? 95 } : { stage: `${id}-${attempt}` }
  }
}

function walk(parts: Partial<Flow>, script: Script = staging()): Host {
  const host = new Host(parts, script).start().run()
  host.verify()
  return host
}

/** Reviews, promotions, ends of phases and edges that fired, in order. */
function told({ facts }: Host, edges: readonly string[] = []): readonly string[] {
  return facts.flatMap(({ type, payload }) => {
    if (type !== 'flow_event_v1') return []
    if (payload.kind === 'phase_ended') return [`${payload.phase_id} ended`]
    if (payload.kind === 'reviewed') return [`${payload.node_id} ${payload.verdict}`]
    if (payload.kind === 'fired') return edges.includes(payload.edge_id) ? [payload.edge_id] : []
    const isPromoted = payload.kind === 'event' && payload.event.type === 'promoted'
    return isPromoted && 'node_id' in payload.event ? [`+${payload.event.node_id}`] : []
  })
}

describe('the phase of work that calls a CHECK in another phase', () => {
  const nodes = [work('a', P1), gate(), work('n', P2), goal()]
  const edges = [edge('a', 'k', { class: 'Gate' }), edge('a', 'n'), edge('n', 'g')]

  it('ends once, when the CHECK has approved and the work is in place', () => {
    const host = walk({ nodes, edges })
    expect([host.status, told(host).slice(0, 4)]).toEqual([
      'DONE',
      ['a APPROVE', '+a', 'P1 ended', 'PC ended'],
    ])
    expect(told(host).filter((one) => one === 'P1 ended')).toHaveLength(1)
  })

  it('does not end over a REJECT, and the node is shown as rejected', () => {
    const host = walk({ nodes, edges }, staging({ k: [10] }))
    expect([host.status, told(host)]).toEqual(['BLOCKED', ['a REJECT', 'PC ended']])
    const [a] = nodesOf(host.flow, host.state)
    expect([a?.status, a?.verdict]).toEqual(['rejected', 'REJECT'])
    host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    host.run().verify()
    expect([host.status, told(host).filter((one) => one === 'P1 ended')]).toEqual([
      'DONE',
      ['P1 ended'],
    ])
  })

  it('is judged by its invariants after the CHECK', () => {
    const invariant = {
      invariant_id: 'I',
      invariant_expr: "state.phase_id == 'P1' -> state.validator_verdict == 'APPROVE'",
      check_timing: 'post_phase' as const,
      severity: 'high' as const,
      fail_action: 'rerun' as const,
    }
    const host = walk({ nodes, edges, invariants: [invariant] })
    expect([host.status, host.findings, host.node('a').entries]).toEqual(['DONE', [], 1])
  })

  it('ends once if a CHECK of its own judges the work first', () => {
    const own = [...nodes, check('c', 'a', P2)]
    const host = walk({ nodes: own, edges: [edge('a', 'c'), ...edges] })
    expect([host.status, told(host).filter((one) => one === 'P1 ended')]).toEqual([
      'DONE',
      ['P1 ended'],
    ])
  })

  it('ends without the call if the way there is closed', () => {
    const closed = [edge('a', 'k', { guard_expr: 'false' }), ...edges.slice(1)]
    const host = walk({ nodes, edges: closed })
    expect([host.status, told(host).slice(0, 2)]).toEqual(['DONE', ['+a', 'P1 ended']])
  })
})

describe('the way back of a CHECK of a map', () => {
  const nodes = [
    work('s', P1),
    work('d', { ...P1, map: { items: ['x', 'y'] } }),
    check('c', 'd', P1),
    goal(),
  ]
  const back = edge('c', 's', { edge_id: 'L', class: 'Rollback', guard_expr: AGAIN })
  const edges = [edge('s', 'd'), edge('d', 'c'), back, edge('c', 'g')]
  const ways = ['L', 'L/1', 'L/2', 'd/begin>1', 'd/begin>2']

  it('goes once, after all items are approved', () => {
    const host = walk({ nodes, edges })
    expect([host.status, host.findings]).toEqual(['DONE', []])
    const taken = told(host, ways).filter((one) => ways.includes(one))
    const items = ['d/begin>1', 'd/begin>2']
    expect(taken).toEqual([...items, 'L', ...items])
  })

  it('goes at the REJECT of an item', () => {
    const host = walk({ nodes, edges }, staging({ 'c/1': [10] }))
    expect([host.status, told(host, ways).includes('L/1'), host.node('s').entries]).toEqual([
      'DONE',
      true,
      2,
    ])
  })
})

it('a way back without a guard goes on REJECT alone if the work leads on', () => {
  const nodes = [work('w', P1), check('c', 'w', P2), goal()]
  const back = edge('c', 'w', { edge_id: 'L', class: 'Rollback' })
  const parts = { nodes, edges: [edge('w', 'c'), edge('w', 'g'), back] }
  const approved = walk(parts)
  expect([approved.status, told(approved, ['L']).includes('L')]).toEqual(['DONE', false])
  const rejected = walk(parts, staging({ c: [10] }))
  expect([rejected.status, rejected.node('w').entries]).toEqual(['DONE', 2])
})

it('a branch that leads on by its last CHECK is ended when one of several is enough', () => {
  const either = { class: 'Sync' as const, join: 'OR' as const }
  const nodes = ['s', 'w', 'v', 'j'].map((id) => work(id, P1))
  const host = new Host(
    {
      nodes: [...nodes, check('c1', 'w', P1), check('c2', 'w', P1), goal()],
      edges: [
        ...[edge('s', 'w'), edge('s', 'v'), edge('w', 'c1'), edge('c1', 'c2')],
        ...[edge('c2', 'j', either), edge('v', 'j', either), edge('j', 'g')],
      ],
    },
    staging(),
  ).start()
  // The last CHECK has not answered when the other branch is done.
  const late = () => host.open.find((one) => 'node_id' in one && one.node_id === 'c2')
  for (let count = 0; count < 100; count++) {
    const next = host.open.find((one) => one !== late())
    if (next === undefined) break
    host.open.splice(host.open.indexOf(next), 1)
    host.answer(next)
  }
  host.verify()
  expect([host.status, host.node('w').status, told(host).includes('+w')]).toEqual([
    'DONE',
    'abandoned',
    false,
  ])
})

describe('what the check says', () => {
  const problemsOf = (nodes: readonly FlowNode[], edges: readonly FlowEdge[]) => {
    const parts = { nodes: [...nodes], edges: [...edges] }
    const { violations, warnings } = checkFlow({
      type: 'flow_v1',
      flow_id: 'f',
      title: '',
      ...parts,
    })
    const line = ({ code, path }: { code: string; path: string }): string => `${code} ${path}`
    return { refused: violations.map(line), warned: warnings.map(line) }
  }

  it.each([
    ['a Decision', 'a', { class: 'Decision' as const, guard_expr: 'state.score >= 50.0' }],
    ['a CHECK that has judged', 'c', {}],
  ])('refuses a call of a CHECK by %s: the work would be in place', (_, source, more) => {
    const nodes = [work('a'), check('c', 'a'), gate(), goal()]
    const edges = [edge('a', 'c'), edge(source, 'k', more), edge('c', 'g'), edge('k', 'g')]
    expect(problemsOf(nodes, edges).refused).toEqual(['flow.call /edges/1/source'])
    const held = [edge('a', 'c'), edge('a', 'k'), edge('c', 'g')]
    expect(problemsOf(nodes, held).refused).toEqual([])
  })

  it('does not call work unchecked that a called CHECK judges', () => {
    const { warned } = problemsOf([work('a'), gate(), goal()], [edge('a', 'k'), edge('a', 'g')])
    expect(warned.filter((one) => one.startsWith('flow.unchecked_work'))).toEqual([])
  })

  it('warns of a way out that leads around a node to the join that waits for it', () => {
    const nodes = [...['a', 'b', 'c', 'x', 'j'].map((id) => work(id)), goal()]
    const sync = { class: 'Sync' as const }
    const edges = (join: Partial<FlowEdge>) => [
      ...[edge('a', 'b'), edge('a', 'c'), edge('b', 'j', join), edge('c', 'j', join)],
      ...[edge('c', 'x', { class: 'Exception' }), edge('x', 'j'), edge('j', 'g')],
    ]
    const ofJoin = (join: Partial<FlowEdge>) =>
      problemsOf(nodes, edges(join)).warned.filter((one) => one.startsWith('flow.join_unfillable'))
    expect(ofJoin(sync)).toEqual(['flow.join_unfillable /edges/4'])
    expect(ofJoin({ ...sync, join: 'OR' })).toEqual([])
  })
})
