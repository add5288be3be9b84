/** How plans are walked (F-12), what stages stand on (F-13), and invariants at their timings (F-4). */
import { describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { OrchestrationLog } from '../../src/flow/index.ts'
import { type Attempt, check, edge, Host, node, work } from './host.ts'

describe('answers of executors', () => {
  const alone = (attempts: readonly Attempt[], max_attempts = 3) =>
    new Host({ nodes: [work('a', { max_attempts })] }, (_, attempt) => attempts[attempt - 1] ?? {})
      .start()
      .run()

  it('NEEDS_INPUT waits, with what is needed, where to put it and which types', () => {
    let runs = 0
    const host = new Host({ nodes: [work('a', { max_attempts: 1 })] }, () =>
      ++runs === 1 ? { result: 'NEEDS_INPUT' } : {},
    )
    host.start().run()
    expect([host.status, host.open]).toMatchObject([
      'WAITING',
      [
        {
          type: 'ask_human',
          why: 'input',
          needs: [
            {
              name: 'spec',
              description: 'what to do',
              accepted_types: ['md'],
              suggested_path: 'in',
            },
          ],
        },
      ],
    ])
    host.verify()
    const command = host.open.shift()?.command ?? -1
    host.send({ type: 'human_answer', node_id: 'a', command, answer: 'provided', principal: 'h' })
    // Waiting for input is no attempt: there was only one to have.
    expect([host.run().status, host.entered]).toEqual(['DONE', ['a']])
    host.verify()
  })

  it('NOOP is a failed attempt when there is no artifact, and a review of the last one when there is', () => {
    expect(alone([{ result: 'NOOP' }]).entered).toEqual(['a', 'a'])
    const nodes = [work('a'), check('c', 'a'), node('b')]
    const back = { class: 'Loop' as const, guard_expr: 'state.attempt_count < 2' }
    const edges = [edge('a', 'c'), edge('c', 'b'), edge('b', 'a', back)]
    const host = new Host({ nodes, edges }, (id, attempt) =>
      id === 'a' ? { result: attempt === 1 ? 'ARTIFACT' : 'NOOP' } : {},
    )
    expect(host.start().run().status).toBe('DONE')
    expect(host.entered).toEqual(['a', 'c', 'b', 'a', 'c', 'b'])
    expect(host.node('a').work.artifact?.path).toBe('artifacts/a/1/out.md')
    host.verify()
  })

  it('ERROR is a failed attempt, and the next one gets the reason', () => {
    const errors: unknown[] = []
    const host = new Host({ nodes: [work('a')] }, (_, attempt, command) => {
      if (command.type === 'run_participant') errors.push(command.input.last_error)
      return attempt === 1 ? { result: 'ERROR' } : {}
    })
    expect(host.start().run().status).toBe('DONE')
    expect(errors).toEqual([null, { code: 'x', message: 'y' }])
  })

  it('of another task are refused', () => {
    const host = alone([{ taskId: 'b' }])
    expect(host.findings[0]).toBe('flow.task_mismatch rerun')
    expect(host.entered).toEqual(['a', 'a'])
    host.verify()
  })

  it('that are invalid are asked for again, four times, and never count', () => {
    const asks = (invalid: number) => {
      const host = new Host({ nodes: [work('a', { max_attempts: 1 })] }, () => ({ invalid }))
      const errors = host
        .start()
        .run()
        .facts.flatMap((fact) =>
          fact.type === 'flow_event_v1' &&
          fact.payload.kind === 'commanded' &&
          fact.payload.command.type === 'ask_again'
            ? [fact.payload.command.errors]
            : [],
        )
      host.verify()
      return [host.status, errors.length, host.entered.length]
    }
    expect(asks(4)).toEqual(['DONE', 4, 1])
    expect(asks(5)).toEqual(['WAITING', 4, 1])
  })

  it('that stay invalid are reported with the reasons', () => {
    const host = new Host({ nodes: [work('a', { max_attempts: 1 })] }, () => ({ invalid: 9 }))
    const [told] = host
      .start()
      .run()
      .facts.flatMap(({ type, payload }) =>
        type === 'flow_finding_v1' && payload.code === 'flow.output_invalid' ? [payload] : [],
      )
    expect(told?.values).toEqual({ errors: ['not JSON'] })
    host.verify()
  })
})

describe('reviews', () => {
  it('that ask for input wait, and are asked again when it is there', () => {
    let reviews = 0
    const host = new Host({ nodes: [work('a'), check('c', 'a')] }, (id) =>
      id === 'c' && ++reviews === 1 ? { score: 50, action: 'REQUEST_EXTERNAL_INPUT' } : {},
    )
    host.start().run()
    expect([host.status, host.node('a').work.verdict]).toEqual(['WAITING', 'PENDING'])
    const command = host.open.shift()?.command ?? -1
    host.send({ type: 'human_answer', node_id: 'c', command, answer: 'provided', principal: 'h' })
    expect([host.run().status, host.entered]).toEqual(['DONE', ['a', 'c']])
    host.verify()
  })

  it('of several CHECK nodes are all needed', () => {
    const nodes = [work('a', { max_attempts: 2 }), check('c', 'a'), check('d', 'a'), node('b')]
    const host = new Host({ nodes, edges: [edge('a', 'b')] }, (id, attempt) => ({
      score: id === 'd' && attempt === 1 ? 10 : 95,
    }))
    expect(host.start().run().status).toBe('DONE')
    expect(host.entered.at(-1)).toBe('b')
    expect(host.entered.filter((id) => id === 'a')).toHaveLength(2)
    host.verify()
  })
})

describe('goals and alternatives', () => {
  const goal = (join: 'AND' | 'OR') => ({
    nodes: [work('x', { max_attempts: 1 }), work('y'), node('g', { kind: 'GOAL' as const })],
    edges: [
      edge('x', 'g', { class: 'Sync' as const, join }),
      edge('y', 'g', { class: 'Sync' as const, join }),
    ],
  })
  const failX = (id: string): Attempt => (id === 'x' ? { outcome: 'failed' } : {})

  it('a goal needs all of its children, or one', () => {
    expect(new Host(goal('AND'), failX).start().run().entered).not.toContain('g')
    expect(new Host(goal('OR'), failX).start().run().entered).toContain('g')
    expect(new Host(goal('AND')).start().run().status).toBe('DONE')
  })

  const choice = {
    nodes: [
      node('g', { kind: 'GOAL' as const }),
      ...['one', 'two', 'three'].map((id) => work(id, { max_attempts: 2 })),
    ],
    edges: ['one', 'two', 'three'].flatMap((id) => [
      edge('g', id, { class: 'Decision', group_id: 'G' }),
      edge(id, 'g', { class: 'Sync', join: 'OR' }),
    ]),
  }

  it('one candidate at a time; the first that is done wins and the rest are abandoned', () => {
    const host = new Host(choice).start()
    expect(host.open).toHaveLength(1)
    host.run()
    expect([host.entered, host.status]).toEqual([['one', 'g'], 'DONE'])
    expect([host.node('two').status, host.node('three').status]).toEqual(['abandoned', 'abandoned'])
    host.verify()
  })

  it('a failed one is not chosen again, and when none is left a human is asked', () => {
    const host = new Host(choice, (id) => (id === 'one' ? { outcome: 'failed' } : {})).start().run()
    expect([host.entered, host.status]).toEqual([['one', 'one', 'two', 'g'], 'DONE'])
    host.verify()
    const none = new Host(choice, () => ({ outcome: 'failed' })).start().run()
    expect(none.entered).toEqual(['one', 'one', 'two', 'two', 'three', 'three'])
    expect([none.status, none.findings.includes('flow.decision_none escalate')]).toEqual([
      'WAITING',
      true,
    ])
    none.verify()
  })
})

describe('stages', () => {
  /** b works on what a has staged; a is judged after b, by a CHECK that waits for b. */
  const late = {
    nodes: [work('a'), work('b'), check('ca', 'a'), check('cb', 'b')],
    edges: [edge('a', 'b'), edge('b', 'ca'), edge('b', 'cb')],
  }

  it('are promoted when the CHECK approves, and not before', () => {
    const nodes = [work('a'), check('c', 'a'), node('b')]
    const host = new Host({ nodes, edges: [edge('a', 'c'), edge('c', 'b')] }, () => ({
      stage: 'm',
    }))
    host.start().run(({ type }) => type === 'promote')
    expect([host.entered, host.node('a').status]).toEqual([['a', 'c'], 'promoting'])
    expect(host.run().status).toBe('DONE')
    expect(host.node('a').work.stage?.actionId).toMatch(/^act-a/)
    host.verify()
  })

  it('that the gate refuses to promote block their node', () => {
    const host = new Host({ nodes: [work('a')] }, () => ({ stage: 'm' })).start()
    host.run(({ type }) => type === 'promote')
    const command = host.open.shift()?.command ?? -1
    host.send({ type: 'promoted', node_id: 'a', command, action_id: null, manifest: 'm' })
    expect([host.run().status, host.findings]).toEqual([
      'BLOCKED',
      ['flow.promotion_refused block'],
    ])
  })

  it('that were approved and not promoted are judged once more, also when the work is the same', () => {
    const parts = { nodes: [work('a'), check('c', 'a')], edges: [edge('a', 'c')] }
    const host = new Host(parts, () => ({ stage: 'm', content: 'the same' })).start()
    const refuse = () => {
      host.run(({ type }) => type === 'promote')
      const command = host.open.shift()?.command ?? -1
      const why = ['promote.conflict']
      host.send({ type: 'promoted', node_id: 'a', command, action_id: null, manifest: 'm', why })
      expect(host.run().status).toBe('BLOCKED')
      host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    }
    refuse()
    refuse()
    expect(host.run().status).toBe('DONE')
    expect(host.entered).toEqual(['a', 'c', 'a', 'c', 'a', 'c'])
    expect(host.findings).not.toContain('flow.delta_missing rerun')
    host.verify()
  })

  it('on stages are promoted after them', () => {
    const bases: unknown[] = []
    const host = new Host(late, (id, attempt, command) => {
      if (id === 'b' && command.type === 'run_participant') bases.push(command.stands_on)
      return { stage: `${id}${attempt}` }
    })
    host.start().run()
    expect(bases).toEqual([[{ node_id: 'a', manifest: 'a1' }]])
    const promoted = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' &&
      fact.payload.kind === 'event' &&
      fact.payload.event.type === 'promoted'
        ? [fact.payload.event.node_id]
        : [],
    )
    expect([host.status, promoted]).toEqual(['DONE', ['a', 'b']])
    host.verify()
  })

  it('on a stage that is rejected are void, and their nodes run again', () => {
    const host = new Host(late, (id, attempt) => ({
      stage: `${id}${attempt}`,
      score: id === 'ca' && attempt === 1 ? 10 : 95,
    }))
    host.start().run()
    expect(host.findings).toContain('flow.stage_void rerun')
    expect(host.entered.filter((id) => id === 'b')).toHaveLength(2)
    expect(host.status).toBe('DONE')
    expect(host.node('b').work.stage).toMatchObject({
      manifest: 'b2',
      standsOn: [{ node_id: 'a', manifest: 'a2' }],
    })
    host.verify()
  })

  it('on a stage that is promoted otherwise are void', () => {
    const host = new Host(late, (id, attempt) => ({ stage: `${id}${attempt}` })).start()
    host.run((command) => command.type === 'promote' && command.node_id === 'a')
    const command = host.open.find(({ type }) => type === 'promote')
    if (command === undefined) throw new Error('nothing is promoted')
    host.open.splice(host.open.indexOf(command), 1)
    const to = { node_id: 'a', command: command.command }
    host.send({ type: 'promoted', ...to, action_id: 'x', manifest: 'changed' })
    expect(host.findings).toContain('flow.stage_void rerun')
    expect(host.run().status).toBe('DONE')
    host.verify()
  })
})

describe('invariants', () => {
  const invariant = (
    check_timing: 'pre_phase' | 'post_phase' | 'on_transition' | 'periodic',
    fail_action: 'block' | 'rerun' | 'alert',
    invariant_expr = 'state.attempt_count != 1',
  ): NonNullable<Flow['invariants']>[number] => {
    const head = { invariant_id: 'I', severity: 'high' as const }
    return { ...head, invariant_expr, check_timing, fail_action }
  }
  const run = (one: NonNullable<Flow['invariants']>[number], named = false) => {
    const nodes = [work('a'), node('b', { phase_id: 'Q' })]
    const edges = [edge('a', 'b', named ? { audit_invariant_refs: ['I'] } : {})]
    const host = new Host({ nodes, edges, invariants: [one] }).start().run()
    host.verify()
    return host
  }

  it.each([
    ['pre_phase', 'block', 'BLOCKED'],
    ['post_phase', 'block', 'BLOCKED'],
    ['on_transition', 'block', 'BLOCKED'],
    ['periodic', 'block', 'BLOCKED'],
    ['post_phase', 'rerun', 'DONE'],
    ['on_transition', 'rerun', 'DONE'],
    ['pre_phase', 'alert', 'DONE'],
    ['post_phase', 'alert', 'DONE'],
    ['on_transition', 'alert', 'DONE'],
    ['periodic', 'alert', 'DONE'],
  ] as const)('%s, %s', (timing, action, status) => {
    const host = run(invariant(timing, action))
    expect(host.findings).toContain(`flow.invariant_violated ${action}`)
    expect(host.status).toBe(status)
  })

  it('that cannot be evaluated are violated', () => {
    const host = run(invariant('on_transition', 'block', 'state.score > 1'))
    expect([host.status, host.findings[0]]).toEqual(['BLOCKED', 'flow.invariant_violated block'])
  })

  it('that an edge names are judged at that edge', () => {
    const host = run(
      invariant('pre_phase', 'block', 'event.transition && edge.edge_id == "a>b"'),
      true,
    )
    expect([host.status, host.findings]).toEqual(['DONE', []])
  })

  it('that are periodic stop what is running, at a tick', () => {
    const expr = 'state.tool_calls < 2'
    const host = new Host({
      nodes: [work('a')],
      invariants: [invariant('periodic', 'block', expr)],
    })
    host.start()
    const to = { node_id: 'a', command: host.open[0]?.command ?? -1 }
    host.send({ type: 'gate_decision', ...to, decision: 'PROMOTE' })
    host.send({ type: 'tick' })
    expect(host.node('a').status).toBe('running')
    host.send({ type: 'gate_decision', ...to, decision: 'PROMOTE' })
    expect([host.node('a').status, host.status]).toEqual(['blocked', 'BLOCKED'])
    expect(host.send({ type: 'attempt_started', ...to })).toBe(false)
  })
})

describe('the orchestration log', () => {
  it('is a text of the facts, in which nothing of a participant is obeyed', () => {
    const nodes = [work('a'), node('b', { phase_id: 'Q' })]
    const host = new Host({ nodes, edges: [edge('a', 'b')], title: 'Two\n# phases' }, () => ({
      taskId: '# fake\n\n## Phase Q has ended',
    }))
    const text = new OrchestrationLog().textOf(host.start().run().facts, host.flow)
    expect(text.startsWith('# Orchestration log: Two \\# phases\n')).toBe(true)
    expect(text).toContain('a begins in P (start)')
    expect(text).toContain('flow.task_mismatch')
    expect(text.split('\n').filter((line) => line.startsWith('#'))).toHaveLength(1)
    const done = new Host({ nodes, edges: [edge('a', 'b')] })
    const { facts } = done.start().run()
    const log = new OrchestrationLog()
    // Written at every phase: what was written before stays as it was.
    for (let count = 0; count < facts.length; count += 3)
      log.textOf(facts.slice(0, count), done.flow)
    expect(log.textOf(facts, done.flow)).toContain('\n## Phase P has ended\n')
    expect(log.textOf(facts, done.flow)).toBe(new OrchestrationLog().textOf(facts, done.flow))
  })
})
