/**
 * A later round of a run: a Loop, a Rollback or a rerun leaves behind all that its target had led to. What is
 * left behind leads on, counts as done and is chosen only when the run comes there again (F-1, F-2, F-12).
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const goal = (id = 'g', phase_id = 'PG'): FlowNode => node(id, { kind: 'GOAL', phase_id })
const at = (id: string, phase_id: string): FlowNode => work(id, { phase_id })
const state = { fields: { u: { type: 'int' as const, initial: 0 } } }
const decided = (source: string, target: string, guard_expr: string): FlowEdge =>
  edge(source, target, { class: 'Decision', guard_expr })
const AGAIN = { class: 'Loop', guard_expr: 'state.attempt_count < 2' } as const

/** Facts of the end of a phase. */
function ends(host: Host, phase: string): number {
  return host.facts.filter(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'phase_ended' && payload.phase_id === phase,
  ).length
}

describe('alternatives', () => {
  const choice = { class: 'Decision', group_id: 'k' } as const

  it('are chosen again in a second round, by the order of the flow', () => {
    const nodes = [work('a'), work('x'), work('y'), work('c'), goal()]
    const edges = [
      ...[edge('a', 'x', choice), edge('a', 'y', choice), edge('x', 'c'), edge('y', 'c')],
      ...[edge('c', 'a', AGAIN), edge('c', 'g')],
    ]
    const host = new Host({ nodes, edges }).start().run()
    expect(host.entered).toEqual(['a', 'x', 'c', 'a', 'x', 'c', 'g'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('that lost or failed in the first round are tried in the second one', () => {
    const nodes = [work('a'), work('x', { max_attempts: 1 }), work('y'), work('c'), goal()]
    const edges = [
      ...[edge('a', 'x', choice), edge('a', 'y', choice), edge('x', 'c'), edge('y', 'c')],
      ...[edge('c', 'a', AGAIN), edge('c', 'g')],
    ]
    const fails: Script = (id) => (id === 'x' ? { outcome: 'failed' } : {})
    const host = new Host({ nodes, edges }, fails).start().run()
    expect(host.entered).toEqual(['a', 'x', 'y', 'c', 'a', 'x', 'y', 'c', 'g'])
    host.verify()
  })

  it('behind a decision and a border are chosen again, and the goal is reached', () => {
    const nodes = [
      at('s', 'P1'),
      at('t', 'P1'),
      at('a', 'P2'),
      at('x', 'P2'),
      at('y', 'P2'),
      goal(),
    ]
    const edges = [
      ...[decided('s', 'a', 'state.u == 0'), decided('s', 't', 'state.u > 0'), edge('t', 'a')],
      ...[edge('a', 'x', choice), edge('a', 'y', choice), edge('x', 'g'), edge('y', 'g')],
      edge('x', 's', AGAIN),
    ]
    const host = new Host({ nodes, edges, state }).start().run()
    expect(host.entered).toEqual(['s', 'a', 'x', 's', 'a', 'x', 'g'])
    expect(host.status).toBe('DONE')
    host.verify()
  })
})

describe('what is left behind', () => {
  it('leads nowhere when the second round takes another branch', () => {
    const nodes = [work('a'), work('x'), work('y'), work('c'), goal(), goal('g2', 'PG2')]
    const edges = [
      ...[
        decided('a', 'x', 'state.attempt_count == 1'),
        decided('a', 'y', 'state.attempt_count > 1'),
      ],
      ...[edge('x', 'c'), edge('y', 'g2'), edge('c', 'a', AGAIN), edge('c', 'g')],
    ]
    const host = new Host({ nodes, edges }).start().run()
    expect(host.fired).toEqual(['a>x', 'x>c', 'c>a', 'a>y', 'y>g2'])
    expect([host.status, host.node('g').status]).toEqual(['DONE', 'idle'])
    host.verify()
  })

  it('leads nowhere, though another node took the way back', () => {
    // `c` has a way out of the phase that would be tried at its end.
    const nodes = [work('a'), work('x'), work('y'), work('c'), work('d'), goal(), goal('g2', 'PG2')]
    const edges = [
      ...[
        decided('a', 'x', 'state.attempt_count == 1'),
        decided('a', 'y', 'state.attempt_count > 1'),
      ],
      ...[edge('x', 'c'), edge('c', 'd'), edge('c', 'g'), edge('d', 'a', AGAIN), edge('y', 'g2')],
    ]
    const host = new Host({ nodes, edges }).start().run()
    expect([host.fired.includes('c>g'), host.status]).toEqual([false, 'DONE'])
    host.verify()
  })
})

describe('a rerun of a span', () => {
  const E2 = {
    guard_expr: 'state.phase_completed && state.cumulative_duration >= 5.0',
    on_guard_fail: 'rerun',
    guard_scope: 'phase',
  } as const

  it.each(['phase', 'global'] as const)('goes on after a CHECK: scope %s', (guard_scope) => {
    const nodes = [work('w'), check('c', 'w'), work('x'), goal()]
    const way = edge('x', 'g', { ...E2, guard_scope })
    const edges = [edge('w', 'c'), edge('c', 'x'), way]
    const host = new Host({ nodes, edges }).start().run()
    expect(host.entered).toEqual(['w', 'c', 'x', 'w', 'c', 'x', 'g'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('that begins with a CHECK runs the work again that it judges', () => {
    const nodes = [at('s', 'P1'), at('w', 'P1'), at('v', 'P1'), goal()]
    const judge = check('c', 'w', { phase_id: 'P2' })
    const closed = { guard_expr: 'state.score >= 99', on_guard_fail: 'rerun' } as const
    const edges = [
      ...[decided('s', 'w', 'state.u == 0'), decided('s', 'v', 'state.u > 0'), edge('w', 'c')],
      ...[edge('c', 'g', { ...closed, guard_scope: 'phase' }), edge('v', 'g')],
    ]
    const scores = [95, 100]
    const host = new Host({ nodes: [...nodes, judge], edges, state }, (id) =>
      id === 'c' ? { score: scores.shift() ?? 95 } : {},
    )
    host.start().run()
    expect(host.entered).toEqual(['s', 'w', 'c', 'w', 'c', 'g'])
    expect(host.status).toBe('DONE')
    host.verify()
    const never = new Host({ nodes: [...nodes, judge], edges, state }).start().run()
    expect([never.status, never.node('w').attempts]).toEqual(['WAITING', 3])
    never.verify()
  })

  it('by an invariant at the end of a phase of CHECK nodes reviews again', () => {
    const nodes = [at('w', 'P1'), check('c', 'w', { phase_id: 'P2' }), goal()]
    const invariant = {
      invariant_id: 'I',
      invariant_expr: "state.phase_id == 'P2' -> state.attempt_count >= 2",
      check_timing: 'post_phase',
      severity: 'high',
      fail_action: 'rerun',
    } as const
    const edges = [edge('w', 'c'), edge('c', 'g')]
    const host = new Host({ nodes, edges, invariants: [invariant] }).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['w', 'c', 'w', 'c', 'g']])
    host.verify()
  })
})

describe('a phase', () => {
  it('does not end again when what was promoted in it is rolled back', () => {
    const nodes = [at('a', 'P1'), at('b', 'P2'), goal()]
    const back = edge('b', 'a', { class: 'Rollback', guard_expr: 'state.attempt_count < 2' })
    const host = new Host(
      { nodes, edges: [edge('a', 'b'), edge('b', 'g'), back] },
      (id, attempt) => ({
        stage: `${id} ${attempt}`,
      }),
    )
    host.start().run()
    expect([host.status, ends(host, 'P2'), ends(host, 'P1')]).toEqual(['DONE', 2, 2])
    host.verify()
  })

  it('does not end again when a person gives up a node whose way out is closed', () => {
    const way = edge('a', 'g', { guard_expr: 'false', on_guard_fail: 'escalate' })
    const host = new Host({ nodes: [work('a'), goal()], edges: [way] }).start().run()
    const [asked] = host.open.splice(0)
    const to = { node_id: 'a', command: asked?.command ?? -1, principal: 'h' }
    host.send({ type: 'human_answer', ...to, answer: 'abandon' })
    expect([host.run().status, ends(host, 'P')]).toEqual(['FAILED', 1])
    host.verify()
  })

  it('is judged at its end by a node that ran', () => {
    const nodes = [at('w', 'P1'), check('c', 'w', { phase_id: 'P2' }), at('x', 'P1'), at('y', 'P2')]
    const invariant = {
      invariant_id: 'I',
      invariant_expr: 'state.gate_passed',
      check_timing: 'post_phase',
      severity: 'high',
      fail_action: 'rerun',
    } as const
    const edges = [edge('w', 'c'), edge('c', 'x'), edge('x', 'y'), edge('y', 'g')]
    const host = new Host({ nodes: [...nodes, goal()], edges, invariants: [invariant] }).start()
    expect([host.run().status, host.findings]).toEqual(['DONE', []])
    host.verify()
  })
})

describe('a way back to a place between work and its CHECK', () => {
  const nodes = [work('w'), work('n'), check('c', 'w'), goal()]
  const edges = [edge('w', 'n'), edge('n', 'c'), edge('c', 'g'), edge('c', 'n', AGAIN)]

  it('has the CHECK judge the work again, which stays as it is', () => {
    const host = new Host({ nodes, edges }).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['w', 'n', 'c', 'n', 'c', 'g']])
    host.verify()
  })

  it('has the work made again when the CHECK now rejects it', () => {
    const scores = [95, 40, 95]
    const host = new Host({ nodes, edges }, (id) =>
      id === 'c' ? { score: scores.shift() ?? 95 } : {},
    )
    host.start().run()
    expect([host.status, host.entered.filter((id) => id === 'w')]).toEqual(['DONE', ['w', 'w']])
    host.verify()
  })
})
