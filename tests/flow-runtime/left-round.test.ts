/**
 * The round that a way back, a rerun or a reject leaves behind: nothing of it takes a way any more, at the
 * end of a phase as within it, and what is under way in it is stopped and runs again (F-1, F-2, F-13).
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const goal = (id = 'g', phase_id = 'PG'): FlowNode => node(id, { kind: 'GOAL', phase_id })
const at = (id: string, phase_id: string): FlowNode => work(id, { phase_id })
const guard_expr = 'state.attempt_count < 2'
const LOOP = { class: 'Loop', guard_expr } as const
const ROLLBACK = { class: 'Rollback', guard_expr } as const
const SYNC = { class: 'Sync' } as const
const staged = (id: string, attempt: number) => ({ stage: `${id} ${attempt}` })

describe('at the end of a phase', () => {
  const nodes = [at('s', 'P1'), at('a', 'P2'), at('b', 'P2'), goal()]
  const walk = ['s', 'a', 'b', 's', 'a', 'b', 'g']

  it.each([LOOP, ROLLBACK])('a way back goes before the ways on: %o', (way) => {
    const edges = [edge('s', 'a'), edge('a', 'b'), edge('a', 's', way), edge('b', 'g')]
    const host = new Host({ nodes, edges }, staged).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', walk])
    host.verify()
  })

  it.each([LOOP, ROLLBACK])('also where the way on is the first in the flow: %o', (way) => {
    const edges = [edge('s', 'a'), edge('a', 'b'), edge('a', 'g'), edge('b', 's', way)]
    const host = new Host({ nodes, edges: [...edges, edge('b', 'g')] }, staged).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', walk])
    expect(host.fired.filter((id) => id === 'a>g')).toHaveLength(1)
    host.verify()
  })

  it('a rerun of the phase goes before the ways on', () => {
    const floor = { guard_expr: 'state.cumulative_duration >= 3.0', guard_scope: 'phase' } as const
    const late = edge('b', 'g', { ...floor, on_guard_fail: 'rerun' })
    const edges = [edge('s', 'a'), edge('a', 'b'), edge('a', 'n'), late, edge('n', 'g')]
    const host = new Host({ nodes: [...nodes, at('n', 'P3')], edges }, staged).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['s', 'a', 'b', 'a', 'b', 'n', 'g']])
    host.verify()
  })

  it.each(['rerun', 'reject'] as const)('so does a policy that says %s', (action) => {
    const policy = { policy_id: 'R', policy_expr: guard_expr, priority: 1 }
    const edges = [
      ...[edge('s', 'a'), edge('a', 'b'), edge('a', 'g', { policy_refs: ['R'] }), edge('b', 'n')],
      edge('n', 'g'),
    ]
    const override_mode = 'hard_override' as const
    const policies = [{ ...policy, override_mode, violation_action: action }]
    const parts = { nodes: [...nodes, at('n', 'P3')], edges, policies }
    const host = new Host(parts, staged).start().run()
    expect([host.status, host.entered.slice(0, 5)]).toEqual(['DONE', ['s', 'a', 'b', 'a', 'b']])
    host.verify()
    // No attempt is left: what was built on the work does not lead on either.
    const tired = parts.nodes.map((one) => ({ ...one, max_attempts: 1 }))
    const stopped = new Host({ ...parts, nodes: tired }, staged).start().run()
    expect([stopped.status, stopped.fired]).toEqual(['WAITING', ['s>a', 'a>b']])
    stopped.verify()
  })
})

describe('within a phase', () => {
  it.each([LOOP, ROLLBACK])('the way back of work goes, and no way of its CHECK: %o', (way) => {
    const nodes = [work('s'), work('w'), check('c', 'w'), work('x'), goal()]
    const edges = [edge('s', 'w'), edge('w', 'c'), edge('w', 's', way), edge('c', 'x')]
    const host = new Host({ nodes, edges: [...edges, edge('x', 'g')] }, staged).start().run()
    expect(host.entered).toEqual(['s', 'w', 'c', 's', 'w', 'c', 'x', 'g'])
    expect(host.status).toBe('DONE')
    host.verify()
  })
})

describe('what is under way', () => {
  const nodes = [work('s'), work('a'), work('b'), work('j'), goal()]
  const edges = (way: Partial<FlowEdge>): FlowEdge[] => [
    ...[edge('s', 'a'), edge('s', 'b'), edge('a', 'j', SYNC), edge('b', 'j', SYNC)],
    ...[edge('a', 's', way), edge('j', 'g')],
  ]

  /** Answers everything but `id`, as long as there is anything else. */
  function runBut(host: Host, id: string, type = 'run_participant'): void {
    for (let count = 0; count < 100; count++) {
      const isKept = (one: (typeof host.open)[number]) =>
        'node_id' in one && one.node_id === id && one.type === type
      const place = host.open.findIndex((one) => !isKept(one))
      const [command] = place === -1 ? [] : host.open.splice(place, 1)
      if (command === undefined) return
      host.answer(command)
    }
  }

  it.each([LOOP, ROLLBACK])('is stopped, and runs again in the new round: %o', (way) => {
    const host = new Host({ nodes, edges: edges(way) }, staged).start()
    const old = () => host.open.find((one) => 'node_id' in one && one.node_id === 'b')
    host.run(() => old() !== undefined)
    const first = old()
    runBut(host, 'b')
    // The attempt that is open now is another one.
    expect(old()?.command).not.toBe(first?.command)
    host.run()
    expect([host.status, host.node('b').entries, host.node('j').entries]).toEqual(['DONE', 2, 1])
    const promoted = host.facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'promoted'
        ? [payload.event.manifest]
        : [],
    )
    expect(promoted).not.toContain('b 1')
    host.verify()
  })

  it('is stopped with its review, which asks about the new version', () => {
    const judged = { nodes: [...nodes, check('c', 'b')], edges: [...edges(LOOP), edge('b', 'c')] }
    const host = new Host(judged, staged).start()
    runBut(host, 'c')
    host.run()
    expect([host.status, host.node('b').entries]).toEqual(['DONE', 2])
    host.verify()
  })

  it('is promoted to its end, and runs again then', () => {
    const host = new Host({ nodes, edges: edges(LOOP) }, staged).start()
    runBut(host, 'b', 'promote')
    expect(host.node('b').status).toBe('promoting')
    host.run()
    expect([host.status, host.node('b').entries, host.node('j').entries]).toEqual(['DONE', 2, 1])
    host.verify()
  })
})
