/**
 * A way back to a node without an attempt left (version 9 of the rules): a person is asked, and until the
 * answer the other branches go on and nothing is undone.
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const REJECTED = "state.validator_verdict == 'REJECT'"
const nodes = [
  work('a', { max_attempts: 1 }),
  work('b'),
  check('cb', 'b'),
  work('x'),
  work('y'),
  work('j'),
  node('g', { kind: 'GOAL' }),
]

function edgesWith(back: FlowEdge): FlowEdge[] {
  return [
    edge('a', 'b'),
    edge('a', 'x'),
    edge('b', 'cb'),
    back,
    edge('x', 'y'),
    edge('y', 'j', { class: 'Sync' }),
    edge('cb', 'j', { class: 'Sync' }),
    edge('j', 'g'),
  ]
}

const LOOP = edge('cb', 'a', { class: 'Loop', guard_expr: REJECTED })
const ROLLBACK = edge('cb', 'a', { class: 'Rollback', guard_expr: REJECTED })

function script(): Script {
  const scores = [40]
  return (id, attempt) =>
    id === 'cb' ? { score: scores.pop() ?? 95 } : { stage: `${id}-${attempt}` }
}

/** Has the CHECK reject while x is under way, and then goes on until only a person is waited for. */
function asked(back: FlowEdge, version = '9'): Host {
  const host = new Host({ nodes, edges: edgesWith(back) }, script())
  host.startWith({ evaluator: { name: 'flow', version } })
  const isOf = (id: string) => (one: Host['open'][number]) => 'node_id' in one && one.node_id === id
  for (let count = 0; count < 50 && !host.open.some(({ type }) => type === 'ask_human'); count++) {
    const next = host.open.find((one) => !isOf('x')(one))
    if (next === undefined) break
    host.open.splice(host.open.indexOf(next), 1)
    host.answer(next)
  }
  expect(host.open.filter(isOf('x'))).toHaveLength(version === '8' && back === ROLLBACK ? 0 : 1)
  return host.run()
}

function answer(host: Host, word: 'retry' | 'abandon'): Host {
  const index = host.open.findIndex(({ type }) => type === 'ask_human')
  const [question] = host.open.splice(index, 1)
  if (question?.type !== 'ask_human') throw new Error('no person is asked')
  const { node_id, command } = question
  host.send({ type: 'human_answer', node_id, command, answer: word, principal: 'human:ann@local' })
  return host
}

function actsIn(host: Host, type: 'promoted' | 'rolled_back'): readonly string[] {
  return host.facts.flatMap((fact) =>
    fact.type === 'flow_event_v1' &&
    fact.payload.kind === 'event' &&
    fact.payload.event.type === type
      ? [fact.payload.event.node_id]
      : [],
  )
}

describe.each([
  ['Loop', LOOP],
  ['Rollback', ROLLBACK],
] as const)('a %s to a node without an attempt left', (name, back) => {
  it('lets the other branch go on, and undoes nothing before the answer', () => {
    const host = asked(back)
    expect(host.status).toBe('WAITING')
    expect(host.fired).toContain('x>y')
    expect(actsIn(host, 'rolled_back')).toEqual([])
    expect(['a', 'x', 'y'].map((id) => host.node(id).status)).toEqual(['waiting', 'done', 'done'])
    host.verify()
  })

  it('is gone when the person lets the node run', () => {
    const host = asked(back)
    answer(host, 'retry').run()
    expect(host.status).toBe('DONE')
    expect(actsIn(host, 'rolled_back')).toEqual(name === 'Loop' ? [] : ['y', 'x', 'a'])
    expect(host.entered.filter((id) => id === 'y' || id === 'j')).toEqual(['y', 'y', 'j'])
    host.verify()
  })

  it('keeps what the other branch made when the person skips the node', () => {
    const host = asked(back)
    const index = host.open.findIndex(({ type }) => type === 'ask_human')
    const principal = 'human:ann@local'
    host.open.splice(index, 1)
    host.send({ type: 'skipped', node_id: 'a', principal, comment: 'fine' })
    host.run()
    expect(actsIn(host, 'promoted').filter((id) => id === 'x')).toEqual(['x'])
    expect(host.node('x').status).toBe('done')
    host.verify()
    expect(host.status).toBe('BLOCKED')
    host.send({ type: 'unblocked', node_id: 'b', principal })
    host.run()
    expect([host.status, actsIn(host, 'rolled_back')]).toEqual(['DONE', []])
    expect(actsIn(host, 'promoted')).toEqual(['a', 'x', 'y', 'b', 'j'])
    host.verify()
  })

  it('took the other branch along by the rules of before', () => {
    const host = asked(back, '8')
    expect(host.fired).not.toContain('x>y')
    host.verify()
  })
})
