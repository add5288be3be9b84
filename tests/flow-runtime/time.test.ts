/** Time and signals: waits before and between attempts, deadlines, signals from outside. */
import { describe, expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { type FlowCommand, stopsOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const FAILS: Script = (id) => (id === 'a' ? { outcome: 'failed' } : {})
const waitsIn = (host: Host) =>
  host.facts.flatMap((fact) =>
    fact.type === 'flow_finding_v1' && fact.payload.code === 'flow.waiting'
      ? [fact.payload.values]
      : [],
  )

describe('after', () => {
  it('at a node: it is entered and runs when the time has come, not before', () => {
    const host = new Host({ nodes: [node('a'), work('b', { after: 60 })], edges: [edge('a', 'b')] })
    host.start().run()
    expect([host.status, host.node('b').status]).toEqual(['WAITING', 'waiting'])
    expect(waitsIn(host)).toEqual([{ why: 'entry', until: expect.stringContaining('2026-01-01T') }])
    host.verify()
    expect(host.pass(30).run().status).toBe('WAITING')
    expect(host.pass(30).run().status).toBe('DONE')
    host.verify()
  })

  it('at an edge: what the edge enters waits, and a rerun does not wait again', () => {
    let tries = 0
    const once: Script = (id) => (id === 'b' && tries++ === 0 ? { outcome: 'failed' } : {})
    const nodes = [node('a'), work('b')]
    const host = new Host({ nodes, edges: [edge('a', 'b', { after: 60 })] }, once).start().run()
    expect(host.status).toBe('WAITING')
    host.pass(60).run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'b', 'b']])
    host.verify()
  })

  describe('is cut short by another way that fires', () => {
    const ways = (second: object, own: object = {}) => {
      const nodes = [node('a'), work('c'), work('b', own)]
      const edges = [edge('a', 'b', { after: 600 }), edge('a', 'c'), edge('c', 'b', second)]
      return new Host({ nodes, edges }).start().run()
    }

    it('at once if that way waits for nothing', () => {
      const host = ways({})
      expect([host.status, host.entered]).toEqual(['DONE', ['a', 'b', 'c']])
      host.verify()
    })

    it('to the shorter wait of that way, and not to a longer one', () => {
      const host = ways({ after: 60 })
      expect(host.status).toBe('WAITING')
      expect(host.pass(60).run().status).toBe('DONE')
      host.verify()
      const late = ways({ after: 6000 })
      expect(late.pass(600).run().status).toBe('DONE')
    })

    it('but not below the time and the signal of the node itself', () => {
      const host = ways({}, { after: 120 })
      expect(host.pass(60).run().status).toBe('WAITING')
      expect(host.pass(60).run().status).toBe('DONE')
      host.verify()
      const signal = ways({}, { signal: 'go' })
      expect(signal.run().status).toBe('WAITING')
      signal.signal('go')
      expect(signal.run().status).toBe('DONE')
      signal.verify()
    })
  })

  it('survives: what is waited for is in the facts', () => {
    const host = new Host({ nodes: [work('a', { after: 60 })], edges: [] }).start().run()
    host.send({ type: 'resumed', manifests: {} })
    expect(host.open.map(({ type }) => type)).toEqual(['wait'])
    expect(host.pass(60).run().status).toBe('DONE')
    host.verify()
  })
})

describe('a deadline', () => {
  const begin = (host: Host): Host => {
    const [first] = host.open
    if (first?.type !== 'run_participant') throw new Error('nothing is to be run')
    host.send({ type: 'attempt_started', node_id: first.node_id, command: first.command })
    return host
  }

  it('that ends an attempt counts what it took, in the budget, the phase and the node', () => {
    const parts = { nodes: [work('a', { deadline: 100 })], edges: [], budgets: { seconds: 50 } }
    const host = begin(new Host(parts).start()).pass(120)
    expect(host.state.totals.seconds).toBe(121)
    expect(host.node('a').work).toMatchObject({ seconds: 121, totalSeconds: 121, startedAt: null })
    host.verify()
    const [asked] = host.open.splice(0)
    if (asked?.type !== 'ask_human') throw new Error('no person is asked')
    const { node_id, command } = asked
    const principal = 'human:ann@local'
    host.send({ type: 'human_answer', node_id, command, answer: 'retry', principal })
    expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.budget block'])
    host.verify()
  })

  it('costs nothing while a person is waited for, or the attempt has not begun', () => {
    const waiting = new Host({ nodes: [work('a', { deadline: 100 })], edges: [] }).start().pass(120)
    expect(waiting.state.totals.seconds).toBe(0)
    const person = [work('a', { deadline: 100, executor: { human: true } })]
    const host = begin(new Host({ nodes: person, edges: [] }).start()).pass(120)
    expect([host.status, host.state.totals.seconds]).toEqual(['WAITING', 0])
    host.verify()
  })

  it('that passes takes the Exception edge, and what runs is stopped', () => {
    const nodes = [work('a', { deadline: 100 }), node('late'), node('b')]
    const edges = [edge('a', 'b'), edge('a', 'late', { class: 'Exception' })]
    const host = new Host({ nodes, edges }).start()
    host.pass(100)
    expect(host.open.map((one) => ('node_id' in one ? one.node_id : ''))).toEqual(['late'])
    host.run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'late']])
    expect(host.findings).toContain('flow.deadline escalate')
    host.verify()
  })

  it('without one asks a person, also where the node waits for a person already', () => {
    const nodes = [work('a', { deadline: 100, max_attempts: 1 })]
    const running = new Host({ nodes, edges: [] }).start().pass(100)
    expect([running.status, running.findings.at(-1)]).toEqual([
      'WAITING',
      'flow.escalated escalate',
    ])
    running.verify()
    const asked = new Host({ nodes, edges: [] }, FAILS).start().run().pass(100)
    expect(asked.findings.filter((one) => one === 'flow.escalated escalate')).toHaveLength(2)
    asked.verify()
  })

  it('counts through all attempts, and not when the node is done', () => {
    const retry = { initial: 40 }
    const nodes = [work('a', { deadline: 100, max_attempts: 9, retry })]
    const host = new Host({ nodes, edges: [] }, FAILS).start().run().pass(40).run()
    expect(host.findings).not.toContain('flow.deadline escalate')
    host.pass(60)
    expect(host.findings).toContain('flow.deadline escalate')
    host.verify()
    const quick = new Host({
      nodes: [...nodes, work('b', { after: 900 })],
      edges: [edge('a', 'b')],
    })
    quick.start().run().pass(200).run()
    expect(quick.findings).not.toContain('flow.deadline escalate')
    quick.verify()
  })
})

describe('a deadline and an approval', () => {
  const judged = (...more: FlowEdge[]) => {
    const late = more.length === 0 ? [] : [node('late')]
    const nodes = [work('a', { deadline: 100 }), check('ok', 'a'), ...late, node('b')]
    const stages: Script = (id) => (id === 'a' ? { stage: 'made' } : {})
    const host = new Host({ nodes, edges: [edge('a', 'ok'), edge('ok', 'b'), ...more] }, stages)
    return host.start()
  }
  const out = edge('a', 'late', { class: 'Exception' })
  const reviews = (one: FlowCommand) => one.type === 'run_participant' && one.review !== null
  const promotes = ({ type }: FlowCommand) => type === 'promote'
  const actsAt = (host: Host) => host.node('a').work.acts.map(({ actionId }) => actionId)

  it.each([[[out]], [[]]])('in time: the promotion ends, and the node is done', (ways) => {
    const host = judged(...ways).run(promotes)
    expect(host.open.map(({ type }) => type)).toEqual(['promote'])
    host.pass(200).run()
    expect([host.status, host.node('a').status]).toEqual(['DONE', 'done'])
    expect([actsAt(host).length, host.entered]).toEqual([1, ['a', 'ok', 'b']])
    expect(host.findings).not.toContain('flow.deadline escalate')
    host.verify()
  })

  it('that comes late promotes nothing: no CHECK judges late work', () => {
    const host = judged(out).run(reviews)
    const [review] = host.open
    host.pass(200).run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'ok', 'late']])
    expect([host.node('ok').status, host.node('a').work.stage]).toEqual(['rejected', null])
    if (review !== undefined) host.answer(review)
    expect([actsAt(host), host.open]).toEqual([[], []])
    host.verify()
    const asked = judged().run(reviews)
    asked.pass(200)
    expect(asked.open.map(({ type }) => type)).toEqual(['ask_human'])
    asked.verify()
  })

  it('of an item of a map counts like that of any node', () => {
    const map = { items: [{ name: 'x' }] }
    const nodes = [work('a', { deadline: 100, map }), check('ok', 'a')]
    const stages: Script = (id) => (id.startsWith('a') ? { stage: `made ${id}` } : {})
    const host = new Host({ nodes, edges: [edge('a', 'ok')] }, stages).start().run(promotes)
    host.pass(200)
    expect(host.open.map(({ type }) => type)).toEqual(['promote'])
    host.run()
    expect([host.status, host.findings]).toEqual(['DONE', []])
    host.verify()
  })

  it('whose promotion ends after a cancel: the act is on the record, once', () => {
    const host = judged().run(promotes)
    const [promote] = host.open.splice(0)
    host.send({ type: 'cancelled', principal: 'human:ann@local', comment: null })
    if (promote?.type !== 'promote') throw new Error('nothing is promoted')
    const { node_id, command, manifest } = promote
    const act = { type: 'promoted' as const, node_id, command, manifest, action_id: 'act-1' }
    expect([host.send(act), host.send(act)]).toEqual([true, false])
    expect(host.send({ ...act, action_id: null })).toBe(false)
    expect([host.status, actsAt(host), host.entered]).toEqual(['CANCELLED', ['act-1'], ['a', 'ok']])
    expect(host.open).toEqual([])
    host.verify()
  })
})

describe('retry', () => {
  it('waits longer each time, up to its most', () => {
    const retry = { initial: 10, factor: 3, max: 60 }
    const nodes = [work('a', { max_attempts: 4, retry })]
    const host = new Host({ nodes, edges: [] }, FAILS).start().run()
    const pauses = [10, 30, 60].map((seconds) => {
      const [wait] = host.open
      const isEarly = host.pass(seconds - 2).open.includes(wait as (typeof host.open)[number])
      host.pass(2).run()
      return isEarly
    })
    expect(pauses).toEqual([true, true, true])
    expect([host.entered, host.status]).toEqual([['a', 'a', 'a', 'a'], 'WAITING'])
    host.verify()
  })

  it('goes by the kind of failure: one that says false is not tried again', () => {
    const retry = { initial: 10, invalid: false as const, timeout: { initial: 100 } }
    const nodes = [work('a', { max_attempts: 3, retry })]
    const invalid = new Host({ nodes, edges: [] }, () => ({ invalid: 9 })).start().run()
    expect([invalid.entered, invalid.findings.at(-1)]).toEqual([['a'], 'flow.escalated escalate'])
    const late = new Host({ nodes, edges: [] }, () => ({ outcome: 'failed', cause: 'timeout' }))
    late.start().run()
    expect(late.pass(50).run().entered).toEqual(['a'])
    expect(late.pass(50).run().entered).toEqual(['a', 'a'])
    late.verify()
  })

  it('of a failed line sets how long the host waits', () => {
    const retry = { unreachable: { initial: 5, factor: 1 } }
    const delays: number[] = []
    const nodes = [work('a', { max_attempts: 1, retry })]
    const host = new Host({ nodes, edges: [] }, (_, __, command) => {
      if (command.type === 'run_participant') delays.push(command.delay_seconds)
      return { outcome: 'unreachable' }
    })
    host.start().run()
    expect(delays).toEqual([0, 5, 5, 5, 5])
  })
})

describe('a signal', () => {
  const nodes = [node('a'), work('b', { signal: 'go' })]

  it('lets a node run that waits for it, with what came with it', () => {
    const inputs: unknown[] = []
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, (_, __, command) => {
      if (command.type === 'run_participant') inputs.push(command.signals)
      return {}
    })
    host.start().run()
    expect([host.status, waitsIn(host)]).toEqual(['WAITING', [{ why: 'entry', signals: ['go'] }]])
    host.verify()
    expect(host.signal('go', { version: 3 })).toBe(true)
    host.run()
    expect([host.status, inputs]).toEqual(['DONE', [{ go: { version: 3 } }]])
    host.verify()
  })

  it('that came before counts, once for each node', () => {
    const again = edge('b', 'a', {
      class: 'Loop',
      guard_expr: 'state.attempt_count < 4',
      guard_scope: 'global',
    })
    const host = new Host({ nodes, edges: [edge('a', 'b'), again] }).start()
    host.signal('go')
    host.run()
    // The second time round another signal is needed.
    expect([host.entered, host.status]).toEqual([['a', 'b', 'a', 'b'], 'WAITING'])
    host.signal('go')
    expect(host.run().status).toBe('DONE')
    host.verify()
  })

  it('of no such name is none', () => {
    const host = new Host({ nodes, edges: [edge('a', 'b')] }).start()
    expect(host.signal('gone')).toBe(false)
  })

  it('and a time are waited for together, at an edge', () => {
    const both = edge('a', 'c', { after: 60, signal: 'go' })
    const host = new Host({ nodes: [node('a'), node('c')], edges: [both] }).start().run()
    const asked = () => stopsOf({ ...host, flow: host.flow, waiting: [] }).at(0)
    expect(asked()?.says).toContain('for the signal go')
    host.signal('go')
    expect(host.run().status).toBe('WAITING')
    // The signal that has come is not asked for again.
    expect(asked()?.says).not.toContain('signal')
    expect(asked()?.next).toEqual(['writ flow resume r --wait'])
    expect(host.pass(60).run().status).toBe('DONE')
    const late = new Host({ nodes: [node('a'), node('c')], edges: [both] }).start().run().pass(60)
    expect(late.run().status).toBe('WAITING')
    late.signal('go')
    expect(late.run().status).toBe('DONE')
  })

  it('that does not come in time: the deadline goes on', () => {
    const waits = work('b', { signal: 'go', deadline: 100 })
    const edges = [edge('a', 'b'), edge('b', 'late', { class: 'Exception' })]
    const host = new Host({ nodes: [node('a'), waits, node('late')], edges }).start().run()
    host.pass(100).run()
    expect([host.entered, host.status]).toEqual([['a', 'b', 'late'], 'DONE'])
    host.verify()
  })
})
