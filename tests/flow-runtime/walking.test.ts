/** Walking (F-1, F-2): what each class of edge does, and what is done when none can fire. */
import { describe, expect, it } from 'vitest'
import type { FlowEdge } from '../../src/contracts/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const FALSE = { guard_expr: 'state.tool_calls > 1000' }
const TRUE = { guard_expr: 'state.tool_calls >= 0' }

function pair(more: Partial<FlowEdge>, others: readonly FlowEdge[] = []): Host {
  const nodes = [node('a'), node('b'), ...(others.length === 0 ? [] : [node('c')])]
  return new Host({ nodes, edges: [edge('a', 'b', more), ...others] })
}

describe('edges', () => {
  it('Progress leads on when its source is done, and the run ends', () => {
    const host = new Host({ nodes: [node('a'), node('b')], edges: [edge('a', 'b')] }).start().run()
    expect([host.entered, host.status]).toEqual([['a', 'b'], 'DONE'])
    host.verify()
  })

  it('a guard that is false holds the node, with a finding and the values it read', () => {
    const host = pair(FALSE).start().run()
    expect([host.status, host.node('a').isHeld]).toEqual(['BLOCKED', true])
    expect(host.findings).toEqual(['flow.guard_false block'])
    const guard = host.facts.find(
      ({ type, payload }) => type === 'flow_event_v1' && payload.kind === 'guard',
    )
    expect(guard?.payload).toMatchObject({ result: 'false', values: { 'state.tool_calls': 0 } })
    host.verify()
  })

  it('a guard that cannot be evaluated is false, and says which field', () => {
    const host = pair({ guard_expr: 'state.score >= 90' }).start().run()
    expect(host.status).toBe('BLOCKED')
    const guards = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' && fact.payload.kind === 'guard' ? [fact.payload] : [],
    )
    expect(guards[0]).toMatchObject({ result: 'undetermined' })
    expect(guards[0]?.reasons.join()).toContain('state.score')
  })

  it('Gate without a guard needs a gate that passed', () => {
    const nodes = [work('a', { max_attempts: 1 }), node('b')]
    const edges = [edge('a', 'b', { class: 'Gate' })]
    expect(new Host({ nodes, edges }).start().run().status).toBe('DONE')
    const host = new Host({ nodes, edges }, () => ({ blocked: true })).start().run()
    expect([host.status, host.entered]).toEqual(['WAITING', ['a']])
  })

  it('Decision takes exactly one way', () => {
    const decide = (one: object, other: object): Host => {
      const nodes = [node('a'), node('b'), node('c')]
      const edges = [
        edge('a', 'b', { class: 'Decision', ...one }),
        edge('a', 'c', { class: 'Decision', ...other }),
      ]
      return new Host({ nodes, edges }).start().run()
    }
    expect(decide(TRUE, FALSE).entered).toEqual(['a', 'b'])
    expect(decide(FALSE, TRUE).entered).toEqual(['a', 'c'])
    const both = decide(TRUE, TRUE)
    expect([both.entered, both.findings[0]]).toEqual([['a'], 'flow.decision_ambiguous block'])
    const none = decide(FALSE, FALSE)
    expect([none.entered, none.findings[0]]).toEqual([['a'], 'flow.decision_none block'])
    both.verify()
    none.verify()
  })

  it('Exception fires when its source has failed or is blocked, and not otherwise', () => {
    const nodes = [work('a', { max_attempts: 2 }), node('b'), node('rescue')]
    const edges = [edge('a', 'b'), edge('a', 'rescue', { class: 'Exception' })]
    const failing = new Host({ nodes, edges }, () => ({ outcome: 'failed' })).start().run()
    expect([failing.entered, failing.status]).toEqual([['a', 'a', 'rescue'], 'DONE'])
    const well = new Host({ nodes, edges }).start().run()
    expect([well.entered, well.status]).toEqual([['a', 'b'], 'DONE'])
    const closed = [edge('a', 'b', FALSE), edge('a', 'rescue', { class: 'Exception' })]
    const blocked = new Host({ nodes, edges: closed }).start().run()
    expect([blocked.entered, blocked.status]).toEqual([['a', 'rescue'], 'DONE'])
    failing.verify()
  })

  it('Loop goes back, counts attempts, and asks a human when there is none left', () => {
    const nodes = [node('a', { max_attempts: 3 }), node('b')]
    const edges = [edge('a', 'b'), edge('b', 'a', { class: 'Loop', ...TRUE })]
    const host = new Host({ nodes, edges }).start().run()
    expect(host.entered).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
    expect([host.status, host.findings]).toEqual(['WAITING', ['flow.escalated escalate']])
    host.verify()
  })

  it('Loop with a guard ends when the guard does', () => {
    const nodes = [work('a', { max_attempts: 5 }), node('b')]
    const guard_expr = 'state.attempt_count < 1'
    const edges = [edge('a', 'b'), edge('b', 'a', { class: 'Loop', guard_expr })]
    expect(new Host({ nodes, edges }).start().run().entered).toEqual(['a', 'b'])
    const counted = { class: 'Loop' as const, guard_expr: 'state.attempt_count < 4' }
    const scoped = { ...counted, guard_scope: 'global' as const }
    const host = new Host({ nodes, edges: [edge('a', 'b'), edge('b', 'a', scoped)] }).start().run()
    // Four entries of the whole run; b itself was entered again each time.
    expect(host.entered).toEqual(['a', 'b', 'a', 'b'])
    host.verify()
  })

  it('Rollback goes back after what was promoted behind it is undone, the last first', () => {
    const nodes = [work('a'), work('b', { max_attempts: 1 }), node('c')]
    const back = edge('c', 'a', { class: 'Rollback', guard_expr: 'state.attempt_count < 5' })
    const edges = [edge('a', 'b'), edge('b', 'c'), { ...back, guard_scope: 'global' as const }]
    const host = new Host({ nodes, edges }, (id, attempt) => ({ stage: `${id}${attempt}` }))
    host.start().run(({ type }) => type === 'roll_back')
    // One after another: each act was made on top of those before it.
    expect(host.open).toMatchObject([
      { type: 'roll_back', node_id: 'b', back_to: 'a', rest: [{ node_id: 'a' }] },
    ])
    expect(host.entered).toEqual(['a', 'b', 'c'])
    host.run()
    expect([host.entered, host.status]).toEqual([['a', 'b', 'c', 'a', 'b', 'c'], 'DONE'])
    host.verify()
  })

  it('a rollback that fails stops there', () => {
    const nodes = [work('a'), node('b')]
    const edges = [edge('a', 'b'), edge('b', 'a', { class: 'Rollback', ...TRUE })]
    const host = new Host({ nodes, edges }, () => ({ stage: 's' })).start()
    host.run(({ type }) => type === 'roll_back')
    const [command] = host.open
    host.open.length = 0
    host.send({
      type: 'rolled_back',
      node_id: 'a',
      command: command?.command ?? -1,
      is_restored: false,
    })
    expect([host.run().status, host.findings]).toEqual(['BLOCKED', ['flow.rollback_failed block']])
    expect(host.entered).toEqual(['a', 'b'])
  })

  it('Sync waits for all sources, or for one', () => {
    const nodes = [node('a'), work('b'), node('goal', { kind: 'GOAL' })]
    const join = (word: 'AND' | 'OR') =>
      ['a', 'b'].map((id) => edge(id, 'goal', { class: 'Sync', join: word }))
    const both = new Host({ nodes, edges: join('AND') }).start()
    both.run(({ type }) => type === 'run_participant')
    expect(both.entered).toEqual(['a', 'b'])
    expect(both.run().entered).toEqual(['a', 'b', 'goal'])
    const one = new Host({ nodes, edges: join('OR') }).start()
    one.run(({ type }) => type === 'run_participant')
    expect(one.entered).toEqual(['a', 'b', 'goal'])
    expect(one.run().status).toBe('DONE')
    one.verify()
  })

  it('edges joined by AND are waited for together', () => {
    const nodes = [node('a'), work('b'), node('c')]
    const edges = [edge('a', 'c', { join: 'AND' }), edge('b', 'c', { join: 'AND' })]
    const host = new Host({ nodes, edges }).start()
    host.run(({ type }) => type === 'run_participant')
    expect(host.entered).toEqual(['a', 'b'])
    expect(host.run().entered).toEqual(['a', 'b', 'c'])
  })

  it('Meta never fires', () => {
    const host = new Host({
      nodes: [node('a'), node('b')],
      edges: [edge('a', 'b', { class: 'Meta' })],
    })
    expect(host.start().run().fired).toEqual([])
  })
})

describe('a guard that fails', () => {
  it('is not acted upon while another edge can fire', () => {
    const host = pair({ ...FALSE, on_guard_fail: 'escalate' }, [edge('a', 'c')])
      .start()
      .run()
    expect([host.status, host.findings]).toEqual(['DONE', []])
  })

  it.each([
    ['block', 'BLOCKED', ['a']],
    ['escalate', 'WAITING', ['a']],
    ['reroute', 'DONE', ['a', 'c']],
  ] as const)('%s', (on_guard_fail, status, entered) => {
    const others = on_guard_fail === 'reroute' ? [edge('a', 'c', { class: 'Exception' })] : []
    const host = pair({ ...FALSE, on_guard_fail }, others)
      .start()
      .run()
    expect([host.status, host.entered]).toEqual([status, entered])
    expect(host.findings[0]).toBe(`flow.guard_false ${on_guard_fail}`)
    host.verify()
  })

  it.each([
    ['attempt', ['a', 'b', 'b', 'c']],
    ['subphase', ['a', 'b', 'a', 'b', 'c']],
    ['phase', ['start', 'a', 'b', 'start', 'a', 'b', 'c']],
    ['global', ['zero', 'start', 'a', 'b', 'zero', 'start', 'a', 'b', 'c']],
  ] as const)('runs its span again: %s', (guard_scope, entered) => {
    const nodes = [
      node('zero', { phase_id: 'Z' }),
      node('start'),
      node('a', { subphase_id: '7A' }),
      work('b', { subphase_id: '7A' }),
      node('c', { phase_id: 'Q' }),
    ]
    // The second attempt of b uses more tools, for every scope in which they are counted.
    const guard = {
      guard_expr: 'state.tool_calls >= 2',
      guard_scope,
      on_guard_fail: 'rerun' as const,
    }
    const edges = [edge('zero', 'start'), edge('start', 'a'), edge('a', 'b'), edge('b', 'c', guard)]
    let runs = 0
    const host = new Host({ nodes, edges }, () => ({ tools: ++runs, content: `${runs}` }))
    expect(host.start().run().entered.slice(-entered.length)).toEqual(entered)
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('has its counted fields folded over its span', () => {
    const nodes = [
      work('a', { subphase_id: 'A' }),
      work('b', { subphase_id: 'B' }),
      work('c', { subphase_id: 'B' }),
      node('end', { phase_id: 'Q' }),
    ]
    const seen = (guard_scope: NonNullable<FlowEdge['guard_scope']>): unknown => {
      const guard_expr = 'state.cumulative_duration > 0 && state.tool_calls > 0'
      const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'end', { guard_expr, guard_scope })]
      const host = new Host({ nodes, edges }, () => ({ tools: 2, seconds: 3 })).start().run()
      const guard = host.facts.flatMap((fact) =>
        fact.type === 'flow_event_v1' && fact.payload.kind === 'guard' ? [fact.payload.values] : [],
      )
      return guard.at(-1)
    }
    const values = (seconds: number, tools: number) => ({
      'state.cumulative_duration': seconds,
      'state.tool_calls': tools,
    })
    expect(seen('attempt')).toEqual(values(3, 2))
    expect(seen('subphase')).toEqual(values(6, 4))
    expect(seen('phase')).toEqual(values(9, 6))
    expect(seen('global')).toEqual(values(9, 6))
  })
})

describe('evidence of guards', () => {
  const source = { guard_evidence_source: 'logs/{X}.json:coverage' }
  const flow = (guard: Partial<FlowEdge>) => ({
    nodes: [node('a'), node('b')],
    edges: [edge('a', 'b', guard)],
    state: { fields: { coverage: { type: 'double' as const, initial: 0 } } },
  })
  const read = (host: Host, value: number | null, digest: string | null = 'd'): Host => {
    host.start().run(({ type }) => type === 'read_evidence')
    const [command] = host.open
    if (command?.type !== 'read_evidence') throw new Error('nothing is read')
    host.open.length = 0
    const readings = command.sources.map(({ edge_id }) => ({ edge_id, value, digest }))
    host.send({ type: 'evidence_read', node_id: 'a', command: command.command, readings })
    return host.run()
  }

  it('gives the flow its own fields', () => {
    const guard = { ...source, guard_expr: 'state.coverage >= 80' }
    expect(read(new Host(flow(guard)), 81).status).toBe('DONE')
    expect(read(new Host(flow(guard)), 79).status).toBe('BLOCKED')
  })

  it('never overrules the host', () => {
    const guard_evidence_source = 'logs/{X}.json:tool_calls'
    const guard = { guard_evidence_source, guard_expr: 'state.tool_calls >= 0' }
    expect(read(new Host(flow(guard)), 0).status).toBe('DONE')
    const lying = read(new Host(flow(guard)), 7)
    expect([lying.status, lying.findings[0]]).toEqual(['BLOCKED', 'flow.evidence_mismatch block'])
    const missing = read(new Host(flow(guard)), null, null)
    expect([missing.status, missing.findings[0]]).toEqual([
      'BLOCKED',
      'flow.evidence_unreadable block',
    ])
    missing.verify()
  })

  it('is asked for by the name of the phase', () => {
    const host = new Host(flow({ ...source, guard_expr: 'true' })).start()
    host.run(({ type }) => type === 'read_evidence')
    expect(host.open[0]).toMatchObject({ sources: [{ path: 'logs/P.json', field: 'coverage' }] })
  })
})

describe('attempts', () => {
  it('are retried after a failure of the line without being counted, and slower each time', () => {
    let runs = 0
    const delays: number[] = []
    const host = new Host({ nodes: [work('a', { max_attempts: 1 })] }, (_, attempt, command) => {
      if (command.type === 'run_participant') delays.push(command.delay_seconds)
      expect(attempt).toBe(1)
      return { outcome: ++runs < 4 ? 'unreachable' : 'ended' }
    })
    expect(host.start().run().status).toBe('DONE')
    expect(delays).toEqual([0, 1, 2, 4])
    host.verify()
  })

  it('fail when the line never holds', () => {
    const nodes = [work('a', { max_attempts: 1 })]
    const host = new Host({ nodes }, () => ({ outcome: 'unreachable' })).start().run()
    expect([host.status, host.findings.at(-1)]).toEqual(['WAITING', 'flow.escalated escalate'])
  })

  it('stop at a budget', () => {
    const nodes = [work('a'), work('b')]
    const spent = (budgets: object, attempt: object): Host =>
      new Host({ nodes, edges: [edge('a', 'b')], budgets }, () => attempt).start().run()
    for (const [budgets, attempt] of [
      [{ attempts: 1 }, {}],
      [{ seconds: 5 }, { seconds: 5 }],
      [{ tokens: 10 }, { tokens: 10 }],
    ] as const) {
      const host = spent(budgets, attempt)
      expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.budget block']])
      expect(host.node('b').status).toBe('blocked')
    }
    expect(spent({ attempts: 2, seconds: 9, tokens: 9 }, { tokens: 1 }).status).toBe('DONE')
  })

  it('are granted by a human, one at a time', () => {
    const host = new Host({ nodes: [work('a', { max_attempts: 1 })] }, (_, attempt) => ({
      outcome: attempt < 3 ? 'failed' : 'ended',
    }))
    host.start().run()
    for (const status of ['WAITING', 'DONE']) {
      const [command] = host.open
      host.open.length = 0
      const answer = { node_id: 'a', command: command?.command ?? -1, answer: 'retry' as const }
      host.send({ type: 'human_answer', ...answer, principal: 'h' })
      expect(host.run().status).toBe(status)
    }
    host.verify()
  })

  it('are given up by a human', () => {
    const nodes = [work('a', { max_attempts: 1 }), node('b')]
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, () => ({ outcome: 'failed' }))
    host.start().run()
    const command = host.open[0]?.command ?? -1
    host.open.length = 0
    host.send({ type: 'human_answer', node_id: 'a', command, answer: 'abandon', principal: 'h' })
    expect([host.run().status, host.entered]).toEqual(['FAILED', ['a']])
  })
})

describe('events', () => {
  it('that no command waits for change nothing', () => {
    const host = new Host({ nodes: [node('a'), check('c', 'a')] }).start()
    const before = host.state
    const [command] = host.open
    const number = command?.command ?? -1
    expect(host.send({ type: 'passed', node_id: 'a', command: number + 1 })).toBe(false)
    expect(host.send({ type: 'passed', node_id: 'nobody', command: number })).toBe(false)
    expect(host.send({ type: 'passed', node_id: '__proto__', command: number })).toBe(false)
    expect(host.send({ type: 'started', run_id: 'again' })).toBe(false)
    const wrong = { node_id: 'a', command: number, answer: 'abandon' as const, principal: 'h' }
    expect(host.send({ type: 'human_answer', ...wrong })).toBe(false)
    expect(host.state).toBe(before)
    expect(host.send({ type: 'passed', node_id: 'a', command: number })).toBe(true)
    expect(host.send({ type: 'passed', node_id: 'a', command: number })).toBe(false)
  })

  it('leave the state they were given alone', () => {
    const host = new Host({ nodes: [node('a'), node('b')], edges: [edge('a', 'b')] }).start()
    const before = structuredClone(host.state)
    const kept = host.state
    host.run()
    expect(kept).toEqual(before)
    expect(host.state).not.toEqual(before)
  })
})
