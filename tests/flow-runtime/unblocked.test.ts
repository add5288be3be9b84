/** What `unblock` runs again: never a node that the run has not come to, and never a judgment of promoted work. */
import { describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { stopsOf } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const ANN = 'human:ann@local'
const GOAL = node('g', { kind: 'GOAL' })
const SYNC = { class: 'Sync', join: 'AND' } as const

function unblock(host: Host, node_id: string): Host {
  expect(host.send({ type: 'unblocked', node_id, principal: ANN })).toBe(true)
  return host.run()
}

const lastFinding = (host: Host) =>
  host.facts.flatMap(({ type, payload }) => (type === 'flow_finding_v1' ? [payload] : [])).at(-1)

describe('a node whose join is not filled', () => {
  const closed = edge('a', 'b', { guard_expr: 'state.attempt_count >= 2' })
  const joined: Partial<Flow> = {
    nodes: [work('a'), work('b'), check('c', 'b'), GOAL],
    edges: [closed, edge('a', 'g', SYNC), edge('b', 'c'), edge('c', 'g', SYNC)],
  }

  it('is not entered: the finding names what it waits for, and a person may skip it', () => {
    const host = new Host(joined).start().run()
    expect([host.status, host.node('g').status]).toEqual(['BLOCKED', 'blocked'])
    const known = host.facts.length
    unblock(host, 'g')
    expect([host.status, host.entered]).toEqual(['BLOCKED', ['a']])
    expect(host.facts.length - known).toBe(2)
    expect(lastFinding(host)).toMatchObject({
      code: 'flow.stalled',
      node_id: 'g',
      action: 'block',
      values: { waits_for: ['c'] },
    })
    host.verify()
    const { flow, facts, state } = host
    const [stop] = stopsOf({ flow, facts, state, waiting: [] })
    expect(stop?.says).toContain('it waits for c')
    expect(stop?.next[0]).toBe('writ flow skip r g --comment TEXT')
    expect(stop?.next.join()).not.toContain('unblock')
    host.send({ type: 'skipped', node_id: 'g', principal: ANN, comment: 'without b' })
    expect(host.run().status).toBe('DONE')
    host.verify()
  })

  it('is entered by earlier rules', () => {
    const host = new Host(joined).startWith({ evaluator: { name: 'flow', version: '5' } }).run()
    expect(unblock(host, 'g').status).toBe('DONE')
  })

  it('is not entered where an earlier round had filled it', () => {
    const again = { class: 'Loop', guard_expr: 'state.attempt_count < 2' } as const
    const first = edge('a', 'b', { guard_expr: 'state.attempt_count < 2' })
    const nodes = [work('a'), work('b'), work('n'), work('e'), GOAL]
    const ways = [first, edge('a', 'n', SYNC), edge('b', 'n', SYNC)]
    const host = new Host({
      nodes,
      edges: [...ways, edge('n', 'e'), edge('e', 'a', again), edge('e', 'g')],
    })
    host.start().run()
    expect([host.status, host.node('n').status]).toEqual(['BLOCKED', 'blocked'])
    expect(lastFinding(host)).toMatchObject({ node_id: 'n', values: { waits_for: ['b'] } })
    const entered = host.entered.length
    unblock(host, 'n')
    expect([host.status, host.entered.length]).toEqual(['BLOCKED', entered])
    host.verify()
  })

  it('is entered where only a budget kept it from that', () => {
    const edges = [edge('a', 'g', SYNC), edge('b', 'g', SYNC)]
    const nodes = [work('a'), work('b'), GOAL]
    const host = new Host({ nodes, edges, budgets: { attempts: 2 } }).start().run()
    expect([host.status, host.node('g').status]).toEqual(['BLOCKED', 'blocked'])
    host.send({ type: 'budget_set', limits: { attempts: 9 }, principal: ANN })
    expect(unblock(host, 'g').status).toBe('DONE')
    host.verify()
  })
})

describe('a CHECK whose work is promoted', () => {
  const inCall = { phase_id: 'K' }
  const parts: Partial<Flow> = {
    nodes: [
      ...[work('w'), check('c', 'w'), work('v')],
      node('k', { kind: 'CHECK', reviewer: { command: ['k'] }, call: true, ...inCall }),
      ...[work('r'), check('cr', 'r', inCall), { ...GOAL, phase_id: 'E' }],
    ],
    edges: [
      ...[edge('w', 'c'), edge('w', 'k'), edge('v', 'k', { class: 'Gate' })],
      ...[edge('k', 'r', { class: 'Exception', on: 'reject' }), edge('r', 'cr')],
      ...[edge('c', 'g', SYNC), edge('v', 'g', SYNC)],
    ],
  }
  const script: Script = (id, attempt) => {
    if (id === 'k') return { score: attempt === 1 ? 50 : 95 }
    return id === 'c' && attempt > 1 ? { score: 50 } : {}
  }
  const stalled = (version: string): Host => {
    const host = new Host(parts, script)
    host.startWith({ evaluator: { name: 'flow', version } }).run()
    const stopped = ['w', 'c'].map((id) => host.node(id).status)
    expect([host.status, stopped]).toEqual(['BLOCKED', ['done', 'blocked']])
    return host
  }

  it('is not put to it again: the work runs again first', () => {
    const host = stalled('6')
    const known = host.entered.length
    host.send({ type: 'unblocked', node_id: 'c', principal: ANN })
    expect([host.entered.slice(known), host.node('w').granted]).toEqual([['w'], 1])
    host.verify()
    host.run().verify()
    expect(host.entered.slice(known, known + 2)).toEqual(['w', 'c'])
  })

  it('was put to it again by earlier rules', () => {
    const host = stalled('5')
    const known = host.entered.length
    host.send({ type: 'unblocked', node_id: 'c', principal: ANN })
    expect(host.entered.slice(known)).toEqual(['c'])
  })
})
