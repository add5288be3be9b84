/**
 * The border between phases (F-4, F-11): nothing of the next phase begins before the floor of the former
 * one has passed and its log exists, by edges, alternatives and reviews alike.
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const Q = { phase_id: 'Q' }
const FLOOR = 100

/** Answers everything but the log, which cannot be written. */
function withoutLog(host: Host): Host {
  for (let count = 0; count < 100; count++) {
    host.run(({ type }) => type === 'write_log')
    const index = host.open.findIndex(({ type }) => type === 'write_log')
    const [command] = index === -1 ? [] : host.open.splice(index, 1)
    if (command?.type !== 'write_log') return host
    const { phase_id, command: number } = command
    host.send({ type: 'log_written', phase_id, command: number, digest: null })
  }
  throw new Error('the run does not come to an end')
}

interface Way {
  readonly name: string
  readonly nodes: FlowNode[]
  readonly edges: FlowEdge[]
  /** What runs once the phase `P` has ended. */
  readonly next: readonly string[]
}

const choice = { class: 'Decision', group_id: 'g' } as const
const WAYS: readonly Way[] = [
  {
    name: 'an alternative',
    nodes: [work('a', { minimum_duration: FLOOR }), work('x', Q), work('y', Q)],
    edges: [edge('a', 'x', choice), edge('a', 'y', choice)],
    next: ['x'],
  },
  {
    name: 'a CHECK of another phase',
    nodes: [work('a', { minimum_duration: FLOOR }), check('c', 'a', Q), work('b', Q)],
    edges: [edge('a', 'c'), edge('c', 'b')],
    next: ['c', 'b'],
  },
  {
    name: 'a CHECK of another phase that follows one of this phase',
    nodes: [
      work('a', { minimum_duration: FLOOR }),
      check('c', 'a'),
      check('d', 'a', Q),
      work('b', Q),
    ],
    edges: [edge('a', 'c'), edge('c', 'd'), edge('d', 'b')],
    next: ['d', 'b'],
  },
]

describe.each(WAYS)('$name', ({ nodes, edges, next }) => {
  const isNext = (id: string): boolean =>
    nodes.some((one) => one.node_id === id && one.phase_id === 'Q')
  const seconds =
    (of: number): Script =>
    (id) => ({ seconds: of, stage: `stage of ${id}` })
  const started = (script: Script): Host => new Host({ nodes, edges }, script).start()

  it('waits for the floor', () => {
    const host = started(seconds(1)).run()
    expect([host.entered.filter(isNext), host.status]).toEqual([[], 'BLOCKED'])
    expect(host.findings).toContain('flow.time_floor block')
    host.verify()
    // A person lets the work run again, and the second attempt makes up for the time.
    const again = started((id, attempt, command) =>
      seconds(attempt === 1 ? 1 : FLOOR)(id, attempt, command),
    ).run()
    expect(again.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })).toBe(true)
    again.run()
    expect([again.entered.filter(isNext), again.status]).toEqual([next, 'DONE'])
    again.verify()
  })

  it('waits for the log', () => {
    const host = withoutLog(started(seconds(FLOOR)))
    expect([host.entered.filter(isNext), host.status]).toEqual([[], 'BLOCKED'])
    host.verify()
    expect(host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })).toBe(true)
    host.run()
    expect([host.entered, host.status]).toEqual([
      [...host.entered.filter((id) => !isNext(id)), ...next],
      'DONE',
    ])
    expect(host.entered.filter((id) => id === 'a')).toEqual(['a'])
    host.verify()
  })

  it('begins when both are there', () => {
    const host = started(seconds(FLOOR)).run()
    expect([host.entered.filter(isNext), host.status, host.findings]).toEqual([next, 'DONE', []])
    host.verify()
  })
})

describe('a CHECK of another phase', () => {
  const nodes = [work('a'), check('c', 'a', Q), work('b', Q), work('z')]
  const edges = [edge('a', 'c'), edge('c', 'b')]

  it('leads on only when the phase of its work has ended', () => {
    const host = new Host({ nodes, edges }).start()
    host.run((command) => command.type === 'run_participant' && command.node_id === 'z')
    expect(host.entered).toEqual(['a', 'z'])
    host.run()
    expect([host.entered, host.status]).toEqual([['a', 'z', 'c', 'b'], 'DONE'])
    host.verify()
  })

  it('does not lead on while an invariant keeps the phase from its end', () => {
    const invariants = [
      {
        invariant_id: 'I',
        invariant_expr: "state.phase_id == 'P' -> state.validator_verdict != 'APPROVE'",
        check_timing: 'post_phase' as const,
        severity: 'high' as const,
        fail_action: 'block' as const,
      },
    ]
    const host = new Host({ nodes: nodes.slice(0, 3), edges, invariants }).start().run()
    expect([host.entered, host.status]).toEqual([['a', 'c'], 'BLOCKED'])
    host.verify()
  })

  it('judges the next version after another log', () => {
    const scores = [40, 95]
    const host = new Host({ nodes: nodes.slice(0, 3), edges }, (id) =>
      id === 'c' ? { score: scores.shift() ?? 0 } : {},
    )
    host.start().run()
    expect([host.entered, host.status]).toEqual([['a', 'c', 'a', 'c', 'b'], 'DONE'])
    host.verify()
  })

  it('does not wait when a floor runs the phase again', () => {
    const timed = [work('a', { minimum_duration: FLOOR }), ...nodes.slice(1, 3)]
    const invariants = [
      {
        invariant_id: 'TIME_HARD_FLOOR',
        invariant_expr: 'state.cumulative_duration >= state.minimum_duration',
        check_timing: 'post_phase' as const,
        severity: 'critical' as const,
        fail_action: 'rerun' as const,
      },
    ]
    const host = new Host({ nodes: timed, edges, invariants }, () => ({ seconds: 60 }))
      .start()
      .run()
    expect(host.entered).toEqual(['a', 'a', 'c', 'b'])
    host.verify()
  })
})

it('alternatives in the phase go before those outside, which wait for its end', () => {
  const nodes = [work('a'), work('x', { max_attempts: 1 }), work('y', Q), work('z')]
  const edges = [edge('a', 'x', choice), edge('a', 'y', choice), edge('a', 'z')]
  const host = new Host({ nodes, edges }, (id) => (id === 'x' ? { outcome: 'failed' } : {}))
  host.start().run((command) => command.type === 'run_participant' && command.node_id === 'z')
  // `x` has failed, and `z` is under way.
  expect([host.node('x').status, host.entered]).toEqual(['abandoned', ['a', 'x', 'z']])
  host.run()
  expect([host.entered, host.status]).toEqual([['a', 'x', 'z', 'y'], 'DONE'])
  host.verify()
})

it('a node without a participant waits as well', () => {
  const nodes = [work('a', { minimum_duration: FLOOR }), node('x', Q), node('y', Q)]
  const edges = [edge('a', 'x', choice), edge('a', 'y', choice)]
  expect(new Host({ nodes, edges }).start().run().entered).toEqual(['a'])
})
