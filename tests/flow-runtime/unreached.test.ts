/** Ways out that lead back, and runs that have nothing left to do and missed a goal. */
import { describe, expect, it } from 'vitest'
import { check, edge, Host, node, type Script, work } from './host.ts'

const GOAL = node('end', { kind: 'GOAL' })
const ANN = 'human:ann@local'
const NO = { class: 'Exception', on: 'reject' } as const
const OUT = { class: 'Exception' } as const
const failsAt =
  (...ids: string[]): Script =>
  (id) =>
    ids.includes(id) ? { outcome: 'failed' } : {}

const stalls = (host: Host) =>
  host.facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' && payload.code === 'flow.stalled'
      ? [[payload.node_id, payload.values]]
      : [],
  )

describe('a way out that leads back', () => {
  const parts = {
    nodes: [work('draft'), check('review', 'draft'), GOAL],
    edges: [edge('draft', 'review'), edge('review', 'draft', NO), edge('review', 'end')],
  }

  it('of a REJECT runs the work again, and the run goes on', () => {
    const once: Script = (id, attempt) => (id === 'review' && attempt === 1 ? { score: 20 } : {})
    const host = new Host(parts, once).start().run()
    expect([host.status, host.entered]).toEqual([
      'DONE',
      ['draft', 'review', 'draft', 'review', 'end'],
    ])
    host.verify()
  })

  it('goes at most max_attempts times; then a person decides', () => {
    const host = new Host(parts, (id) => (id === 'review' ? { score: 20 } : {})).start().run()
    expect([host.status, host.node('draft').attempts]).toEqual(['WAITING', 3])
    expect(host.findings.at(-1)).toBe('flow.escalated escalate')
    host.verify()
    const [asked] = host.open.splice(0)
    if (asked?.type !== 'ask_human') throw new Error('no person is asked')
    const { node_id, command } = asked
    host.send({ type: 'human_answer', node_id, command, answer: 'abandon', principal: ANN })
    expect([node_id, host.run().status]).toEqual(['draft', 'FAILED'])
  })

  it('of a failure goes back further, and everything between runs again', () => {
    const nodes = [work('a'), work('b'), work('c', { max_attempts: 1 }), GOAL]
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'a', OUT), edge('c', 'end')]
    const once: Script = (id, attempt) => (id === 'c' && attempt === 1 ? { outcome: 'failed' } : {})
    const host = new Host({ nodes, edges }, once).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'b', 'c', 'a', 'b', 'c', 'end']])
    host.verify()
    const never = new Host({ nodes, edges }, failsAt('c')).start().run()
    expect([never.status, never.node('a').attempts]).toEqual(['WAITING', 3])
    never.verify()
  })

  it('is none where two nodes share a handler: it runs once', () => {
    const one = { max_attempts: 1 }
    const nodes = [node('s'), work('a', one), work('b', one), node('help')]
    const edges = [edge('s', 'a'), edge('s', 'b'), edge('a', 'help', OUT), edge('b', 'help', OUT)]
    const host = new Host({ nodes, edges }, failsAt('a', 'b')).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['s', 'a', 'b', 'help']])
    host.verify()
  })

  it('is none by the rules of version 2', () => {
    const evaluator = { name: 'flow', version: '2' }
    const host = new Host(parts, (id) => (id === 'review' ? { score: 20 } : {}))
    host.startWith({ evaluator }).run()
    expect([host.status, host.entered]).toEqual(['DONE', ['draft', 'review']])
  })
})

describe('a run that has nothing left to do', () => {
  const one = { max_attempts: 1 }
  const failing = {
    nodes: [work('a', one), node('help'), GOAL],
    edges: [edge('a', 'end'), edge('a', 'help', OUT)],
  }

  it('is blocked where a failure led away from the goal, and goes on when a person lets it', () => {
    let isBroken = true
    const host = new Host(failing, (id) => (id === 'a' && isBroken ? { outcome: 'failed' } : {}))
    host.start().run()
    expect([host.status, host.entered]).toEqual(['BLOCKED', ['a', 'help']])
    const values = { status: 'rejected', missed: ['end'], left_by: 'a>help', led_to: 'help' }
    expect(stalls(host)).toEqual([['a', values]])
    host.verify()
    isBroken = false
    expect(host.send({ type: 'unblocked', node_id: 'a', principal: ANN })).toBe(true)
    expect(host.run().status).toBe('DONE')
    host.verify()
  })

  it('goes on past the node when a person skips it', () => {
    const host = new Host(failing, failsAt('a')).start().run()
    host.send({ type: 'skipped', node_id: 'a', principal: ANN, comment: 'not needed' })
    expect([host.run().status, host.entered.at(-1)]).toEqual(['DONE', 'end'])
    host.verify()
  })

  it('names the work where a REJECT led away from the goal', () => {
    const nodes = [work('draft'), check('review', 'draft'), node('help'), GOAL]
    const edges = [edge('draft', 'review'), edge('review', 'help', NO), edge('review', 'end')]
    const once: Script = (id, attempt) => (id === 'review' && attempt === 1 ? { score: 20 } : {})
    const host = new Host({ nodes, edges }, once).start().run()
    expect([host.status, stalls(host).map(([id]) => id)]).toEqual(['BLOCKED', ['draft']])
    host.verify()
    host.send({ type: 'unblocked', node_id: 'draft', principal: ANN })
    expect(host.run().status).toBe('DONE')
    host.verify()
  })

  it('is done where the way out leads to a goal of its own, or the goal was reached otherwise', () => {
    const apology = node('sorry', { kind: 'GOAL' })
    const own = new Host(
      { nodes: [...failing.nodes, apology], edges: [...failing.edges, edge('help', 'sorry')] },
      failsAt('a'),
    )
    expect(own.start().run().status).toBe('DONE')
    const back = { ...failing, edges: [...failing.edges, edge('help', 'end')] }
    expect(new Host(back, failsAt('a')).start().run().status).toBe('DONE')
    const either = {
      nodes: [node('s'), work('a', one), work('b'), node('help'), GOAL],
      edges: [
        ...[edge('s', 'a'), edge('s', 'b'), edge('a', 'help', OUT)],
        ...['a', 'b'].map((id) => edge(id, 'end', { class: 'Sync', join: 'OR' })),
      ],
    }
    expect(new Host(either, failsAt('a')).start().run().status).toBe('DONE')
  })

  it('is blocked where one of two branches missed its goal', () => {
    const nodes = [node('s'), ...failing.nodes, work('b'), node('z', { kind: 'GOAL' })]
    const edges = [edge('s', 'a'), edge('s', 'b'), edge('b', 'z'), ...failing.edges]
    const host = new Host({ nodes, edges }, failsAt('a')).start().run()
    expect([host.status, host.node('z').status]).toEqual(['BLOCKED', 'done'])
    host.verify()
  })

  it('is done where a decision went past a goal, and where the flow has none', () => {
    const to = (id: string, guard_expr: string) => edge('a', id, { class: 'Decision', guard_expr })
    const edges = [to('end', 'state.attempt_count > 1'), to('b', 'state.attempt_count == 1')]
    const host = new Host({ nodes: [work('a'), work('b'), GOAL], edges }).start().run()
    expect([host.status, host.node('end').status]).toEqual(['DONE', 'idle'])
    const plain = { ...failing, nodes: [work('a', one), node('help'), node('end')] }
    expect(new Host(plain, failsAt('a')).start().run().status).toBe('DONE')
  })

  it('is blocked where the goal waits for a way that a decision went past', () => {
    const nodes = [work('a'), node('b'), node('c'), GOAL]
    const to = (id: string, guard_expr: string) => edge('a', id, { class: 'Decision', guard_expr })
    const edges = [
      ...[to('b', 'state.attempt_count == 1'), to('c', 'state.attempt_count > 1')],
      ...['b', 'c'].map((id) => edge(id, 'end', { class: 'Sync' })),
    ]
    const host = new Host({ nodes, edges }).start().run()
    const values = { status: 'idle', missed: ['end'], waits_for: ['c'] }
    expect([host.status, stalls(host)]).toEqual(['BLOCKED', [['end', values]]])
    host.verify()
    host.send({ type: 'unblocked', node_id: 'end', principal: ANN })
    expect(host.run().status).toBe('BLOCKED')
    host.send({ type: 'skipped', node_id: 'end', principal: ANN, comment: 'c is not needed' })
    expect(host.run().status).toBe('DONE')
    host.verify()
  })

  it('goes by a way out into a node with a Sync that does not fill, since version 4', () => {
    const nodes = [node('s'), work('a', one), work('b'), node('help'), node('c')]
    const late = edge('b', 'help', { class: 'Sync', guard_expr: 'state.attempt_count > 1' })
    const ways = [edge('s', 'a'), edge('s', 'b'), edge('b', 'c')]
    const edges = [...ways, edge('a', 'help', OUT), late]
    const present = new Host({ nodes, edges }, failsAt('a')).start().run()
    expect([present.status, present.node('help').status]).toEqual(['DONE', 'done'])
    present.verify()
    const host = new Host({ nodes, edges }, failsAt('a'))
    host.startWith({ evaluator: { name: 'flow', version: '3' } }).run()
    expect([host.status, stalls(host).map(([id]) => id)]).toEqual(['BLOCKED', ['a']])
  })

  it('is blocked where the goal was led to by one way and waits for a Sync that a guard closed', () => {
    const closed = edge('a', 'b', { guard_expr: 'state.tool_calls < 0' })
    const edges = [closed, edge('a', 'end'), edge('b', 'end', { class: 'Sync' })]
    const host = new Host({ nodes: [work('a'), work('b'), GOAL], edges }).start().run()
    const values = { status: 'idle', missed: ['end'], waits_for: ['b'] }
    expect([host.status, stalls(host)]).toEqual(['BLOCKED', [['end', values]]])
    host.verify()
  })

  it('is blocked at an abandoned alternative that the winner leads on to, and goes on from there', () => {
    const choice = { class: 'Decision', group_id: 'x' } as const
    const ways = [edge('a', 'b', choice), edge('a', 'c', choice)]
    const edges = [...ways, edge('b', 'c'), edge('c', 'end')]
    const host = new Host({ nodes: [work('a'), work('b'), work('c'), GOAL], edges }).start().run()
    expect([host.status, stalls(host).map(([id]) => id)]).toEqual(['BLOCKED', ['c']])
    host.send({ type: 'unblocked', node_id: 'c', principal: ANN })
    expect([host.run().status, host.node('end').status]).toEqual(['DONE', 'done'])
    host.verify()
  })

  it('is blocked at the goal where only a REJECT leads to it', () => {
    const nodes = [work('draft'), check('review', 'draft'), GOAL]
    const edges = [edge('draft', 'review'), edge('review', 'end', NO)]
    const host = new Host({ nodes, edges }).start().run()
    expect([host.status, stalls(host).map(([id]) => id)]).toEqual(['BLOCKED', ['end']])
    host.verify()
  })
})

it('a decision without an open way stops nothing where another way goes on', () => {
  const no = { class: 'Decision', guard_expr: 'state.tool_calls < 0' } as const
  const nodes = [work('a'), node('b'), GOAL]
  const host = new Host({ nodes, edges: [edge('a', 'b', no), edge('a', 'end')] }).start().run()
  expect([host.status, host.findings]).toEqual(['DONE', ['flow.decision_none alert']])
  host.verify()
})

describe('a Sync and an Exception into one node', () => {
  const nodes = [work('a', { max_attempts: 1 }), work('b'), GOAL]

  it.each(['AND', 'OR'] as const)('wait for one another in no way: join %s', (join) => {
    const edges = [edge('a', 'b'), edge('b', 'end', { class: 'Sync', join }), edge('a', 'end', OUT)]
    const well = new Host({ nodes, edges }).start().run()
    expect([well.status, well.entered]).toEqual(['DONE', ['a', 'b', 'end']])
    well.verify()
    const failing = new Host({ nodes, edges }, failsAt('a')).start().run()
    expect([failing.status, failing.entered]).toEqual(['DONE', ['a', 'end']])
    failing.verify()
  })
})
