/** Flows that have to go on: checks in a row, a reviewer that fails, goals that one branch reaches. */
import { describe, expect, it } from 'vitest'
import { type FlowCommand, toldFindings } from '../../src/flow/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const GOAL = node('z', { kind: 'GOAL', phase_id: 'Q' })
const ANN = 'human:ann@local'

function answerHuman(host: Host, answer: 'retry' | 'abandon' | 'provided'): void {
  const asked = host.open.find(({ type }) => type === 'ask_human')
  if (asked?.type !== 'ask_human') throw new Error('no person is asked')
  host.open.splice(host.open.indexOf(asked), 1)
  const { node_id, command } = asked
  expect(host.send({ type: 'human_answer', node_id, command, answer, principal: ANN })).toBe(true)
  host.run()
}

describe('two checks of one node in a row', () => {
  const parts = {
    nodes: [work('a'), check('c', 'a'), check('d', 'a'), GOAL],
    edges: [edge('a', 'c'), edge('c', 'd'), edge('d', 'z')],
  }

  it('judge one after the other, and the work is promoted after both', () => {
    const host = new Host(parts, () => ({ stage: 'm' })).start().run()
    host.verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'd', 'z']])
    const promoted = host.facts.findIndex(({ payload }) => isCommand(payload, 'promote'))
    const judged = host.facts.findLastIndex(
      ({ payload }) => 'kind' in payload && payload.kind === 'reviewed',
    )
    expect(promoted).toBeGreaterThan(judged)
  })

  it('both judge again what the second one rejected', () => {
    const host = new Host(parts, (id, attempt) => ({
      stage: `m${attempt}`,
      ...(id === 'd' && attempt === 1 ? { score: 20 } : {}),
    }))
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'd', 'a', 'c', 'd', 'z']])
  })

  it('the second one lies in a later phase', () => {
    const later = check('d', 'a', { phase_id: 'Q' })
    const host = new Host({ ...parts, nodes: [work('a'), check('c', 'a'), later, GOAL] })
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'd', 'z']])
  })

  it('a closed way between them says so, and a person can let it be tried again', () => {
    const closed = edge('c', 'd', { guard_expr: 'state.score > 99' })
    const host = new Host(
      { ...parts, edges: [edge('a', 'c'), closed, edge('d', 'z')] },
      (id, attempt) => (id === 'c' ? { score: attempt === 1 ? 95 : 100 } : { stage: 'm' }),
    )
    host.start().run().verify()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.guard_false block']])
    expect(host.send({ type: 'unblocked', node_id: 'c', principal: ANN })).toBe(true)
    host.run().verify()
    expect(host.findings.length).toBe(2)
    expect(host.send({ type: 'unblocked', node_id: 'c', principal: ANN })).toBe(true)
    host.run().verify()
    expect(host.status).toBe('BLOCKED')
  })

  it('a closed way between them that asks for a rerun runs the work again', () => {
    const closed = edge('c', 'd', { guard_expr: 'state.score > 96', on_guard_fail: 'rerun' })
    const host = new Host(
      { ...parts, edges: [edge('a', 'c'), closed, edge('d', 'z')] },
      (id, attempt) => ({ score: id === 'c' && attempt === 1 ? 95 : 98, stage: `m${attempt}` }),
    )
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'a', 'c', 'd', 'z']])
  })

  it('three of them, the last of which waits for the two others', () => {
    const host = new Host({
      nodes: [work('a'), check('c', 'a'), check('d', 'a'), check('e', 'a'), GOAL],
      edges: [
        edge('a', 'c'),
        edge('a', 'd'),
        edge('c', 'e', { join: 'AND' }),
        edge('d', 'e', { join: 'AND' }),
        edge('e', 'z'),
      ],
    })
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'd', 'e', 'z']])
  })
})

function isCommand(payload: object, type: FlowCommand['type']): boolean {
  if (!('kind' in payload) || payload.kind !== 'commanded' || !('command' in payload)) return false
  // A fact of this kind holds a command.
  return (payload.command as FlowCommand).type === type
}

describe('a check whose reviewer fails', () => {
  const failing = check('c', 'a', { max_attempts: 1 })

  it('goes on by its Exception edge, and its work is not promoted', () => {
    const host = new Host(
      {
        nodes: [work('a'), failing, work('h'), GOAL],
        edges: [
          edge('a', 'c'),
          edge('c', 'z'),
          edge('c', 'h', { class: 'Exception' }),
          edge('h', 'z'),
        ],
      },
      (id) => (id === 'c' ? { outcome: 'failed' } : { stage: `m-${id}` }),
    )
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'h', 'z']])
    const promoted = host.facts.flatMap(({ payload }) =>
      isCommand(payload, 'promote') ? [payload] : [],
    )
    expect(JSON.stringify(promoted)).not.toContain('m-a')
  })

  it('is stood in for by another check of the same work', () => {
    const nodes = [work('a'), failing, check('s', 'a'), GOAL]
    const edges = [edge('a', 'c'), edge('c', 's', { class: 'Exception' }), edge('a', 'z')]
    const host = new Host({ nodes, edges }, (id) =>
      id === 'c' ? { outcome: 'failed' } : { stage: 'm' },
    )
    host.start().run().verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 's', 'z']])
    const whole = new Host({ nodes, edges }).start().run()
    whole.verify()
    expect([whole.status, whole.entered]).toEqual(['DONE', ['a', 'c', 'z']])
  })

  it('that a person gives up ends the run, and does not leave it waiting for nothing', () => {
    const host = new Host(
      { nodes: [work('a'), failing, GOAL], edges: [edge('a', 'c'), edge('c', 'z')] },
      (id) => (id === 'c' ? { outcome: 'failed' } : {}),
    )
    host.start().run()
    answerHuman(host, 'abandon')
    host.verify()
    expect([host.status, host.node('a').status]).toEqual(['FAILED', 'failed'])
  })
})

it('letting the check of a phase go on that took too little time runs the work again', () => {
  const host = new Host(
    {
      nodes: [work('a', { minimum_duration: 15, max_attempts: 1 }), check('c', 'a'), GOAL],
      edges: [edge('a', 'c'), edge('c', 'z')],
    },
    (id, attempt) => ({ seconds: id === 'a' ? 10 : 0.5, stage: `m${attempt}` }),
  )
  host.start().run().verify()
  expect(host.findings).toEqual(['flow.time_floor block'])
  expect(host.send({ type: 'unblocked', node_id: 'c', principal: ANN })).toBe(true)
  host.run().verify()
  expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'a', 'c', 'z']])
})

describe('a goal that one branch is enough for', () => {
  const OR = { class: 'Sync' as const, join: 'OR' as const }

  it('ends the branch that a person would be asked about', () => {
    const host = new Host(
      {
        nodes: [work('a'), work('b', { max_attempts: 1 }), node('z', { kind: 'GOAL' })],
        edges: [edge('a', 'z', OR), edge('b', 'z', OR)],
      },
      (id) => (id === 'b' ? { outcome: 'failed' } : {}),
    )
    host.start()
    const [a, b] = host.open
    if (a === undefined || b === undefined) throw new Error('two begin')
    host.open.length = 0
    host.answer(b)
    expect(host.status).toBe('RUNNING')
    host.answer(a)
    host.run().verify()
    expect([host.status, host.node('b').status]).toEqual(['DONE', 'abandoned'])
  })

  it.each(['Progress', 'Gate'] as const)('ends the others also by %s edges', (sort) => {
    const any = { class: sort, join: 'OR' as const }
    const host = new Host(
      {
        nodes: [work('a'), work('b'), check('cb', 'b'), node('z', { kind: 'GOAL' })],
        edges: [edge('a', 'z', any), edge('b', 'cb'), edge('cb', 'z', any)],
      },
      (id) => (id === 'b' ? { stage: 'b-1' } : {}),
    )
    host
      .start()
      .run(
        ({ type, ...of }) => type === 'run_participant' && 'node_id' in of && of.node_id === 'cb',
      )
    host.verify()
    expect([host.status, host.node('b').status, host.node('cb').status]).toEqual([
      'DONE',
      'abandoned',
      'abandoned',
    ])
  })

  it('stops what is still under way there, with its checks and what comes before it', () => {
    const host = new Host({
      nodes: [
        work('a'),
        work('x'),
        work('b'),
        check('cb', 'b'),
        work('y'),
        node('z', { kind: 'GOAL' }),
        node('end', { kind: 'GOAL', phase_id: 'Q' }),
      ],
      edges: [
        edge('a', 'z', OR),
        edge('x', 'b'),
        edge('b', 'cb'),
        edge('b', 'z', OR),
        edge('y', 'b', { join: 'AND' }),
        edge('y', 'end'),
        edge('z', 'end'),
      ],
    })
    host.start()
    const first = host.open.find((one) => 'node_id' in one && one.node_id === 'a')
    if (first === undefined) throw new Error('a begins')
    host.open.splice(host.open.indexOf(first), 1)
    host.answer(first)
    host.answerAll('pass')
    const stopped = host.facts.flatMap(({ payload }) =>
      isCommand(payload, 'stop') ? [JSON.stringify(payload)] : [],
    )
    expect(stopped.length).toBe(1)
    host.run().verify()
    expect([host.status, host.node('x').status, host.node('b').status]).toEqual([
      'DONE',
      'abandoned',
      'abandoned',
    ])
    expect(host.node('y').status).toBe('done')
  })
})

describe('work without a participant', () => {
  const bare = node('a', { required_files: ['out.md'] })

  it('asks for its files, and is done when they are there', () => {
    const host = new Host({ nodes: [bare, GOAL], edges: [edge('a', 'z')] })
    host.start()
    const [pass] = host.open
    if (pass?.type !== 'pass') throw new Error('it has no participant')
    host.open.length = 0
    const { node_id, command } = pass
    host.send({ type: 'passed', node_id, command, missing_files: ['out.md'] })
    host.verify()
    expect([host.status, host.findings]).toEqual(['WAITING', ['flow.incomplete escalate']])
    answerHuman(host, 'provided')
    host.verify()
    expect(host.status).toBe('DONE')
  })
})

it('work whose CHECK no way leads to is stalled, and says what it waits for', () => {
  const nodes = [node('s'), work('a'), node('x'), check('k', 'a')]
  const edges = [
    edge('s', 'a'),
    edge('s', 'x', { guard_expr: 'state.tool_calls > 99' }),
    edge('x', 'k'),
  ]
  const host = new Host({ nodes, edges }).start().run()
  expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.stalled block'])
  const found = host.facts.findLast(({ type }) => type === 'flow_finding_v1')
  expect(found?.payload).toMatchObject({ node_id: 'a', values: { waits_for_checks: ['k'] } })
  host.verify()
})

it('a phase whose log could not be written goes on with the log, and runs no work again', () => {
  const nodes = [work('a'), GOAL]
  const host = new Host({ nodes, edges: [edge('a', 'z')] }).start()
  host.run(({ type }) => type === 'write_log')
  const [command] = host.open.splice(0, 1)
  const number = command?.command ?? -1
  host.send({ type: 'log_written', phase_id: 'P', command: number, digest: null })
  expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.log_not_updated block'])
  expect(host.send({ type: 'unblocked', node_id: 'a', principal: ANN })).toBe(true)
  expect([host.run().status, host.entered]).toEqual(['DONE', ['a', 'z']])
  host.verify()
})

it('a rerun by a guard that runs out of attempts takes the Exception edge, as a failed attempt does', () => {
  const never = { guard_expr: 'state.tool_calls > 99', on_guard_fail: 'rerun' as const }
  const nodes = [work('a', { max_attempts: 2 }), node('b'), node('out')]
  const edges = [edge('a', 'b', never), edge('a', 'out', { class: 'Exception' })]
  const host = new Host({ nodes, edges }, (_, attempt) => ({ content: `v${attempt}` }))
    .start()
    .run()
  expect([host.status, host.entered]).toEqual(['DONE', ['a', 'a', 'out']])
  host.verify()
})

describe('a node that cannot go on within its phase', () => {
  const ends = (host: Host): readonly string[] =>
    host.facts.flatMap(({ payload }) =>
      'kind' in payload && payload.kind === 'phase_ended' ? [payload.phase_id] : [],
    )

  it.each([
    ['a guard', [edge('a', 'b', { guard_expr: 'state.attempt_count > 5' })]],
    [
      'a decision',
      [
        edge('a', 'b', { class: 'Decision', guard_expr: 'state.attempt_count > 5' }),
        edge('a', 'c', { class: 'Decision', guard_expr: 'state.attempt_count > 6' }),
      ],
    ],
  ])('keeps the phase from its end, and its floor from being judged: %s', (_, edges) => {
    const nodes = [node('a'), node('b', { minimum_duration: 2 }), node('c')]
    const host = new Host({ nodes, edges }).start().run()
    host.verify()
    expect([host.status, ends(host)]).toEqual(['BLOCKED', []])
    expect(host.findings.some((code) => code.startsWith('flow.time_floor'))).toBe(false)
  })

  it('keeps it open while a person lets it try and the way is still closed', () => {
    const nodes = [work('a'), node('b'), GOAL]
    const way = edge('a', 'b', { guard_expr: 'state.attempt_count > 1' })
    const host = new Host({ nodes, edges: [way, edge('b', 'z')] }).start().run()
    expect([host.status, ends(host)]).toEqual(['BLOCKED', []])
    host.send({ type: 'unblocked', node_id: 'a', principal: ANN })
    host.run()
    expect([host.status, ends(host)]).toEqual(['BLOCKED', []])
    host.verify()
  })
})

describe('a goal at the end of the flow', () => {
  it.each(['Rollback', 'Loop'] as const)('is not left by a %s without a guard', (kind) => {
    const back = edge('z', 'a', { class: kind })
    const parts = { nodes: [work('a'), GOAL], edges: [edge('a', 'z'), back] }
    const host = new Host(parts, () => ({ stage: 'm' })).start().run()
    host.verify()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'z']])
  })

  it('is left by one whose guard is open, and the stop names the edge that led back', () => {
    const back = edge('z', 'a', { class: 'Loop', guard_expr: 'true' })
    const host = new Host({ nodes: [work('a'), GOAL], edges: [edge('a', 'z'), back] })
    host.start().run().verify()
    expect(host.status).toBe('WAITING')
    const [told] = toldFindings(host.flow, host.facts).slice(-1)
    expect([told?.edge_id, told?.says]).toEqual([
      'z>a',
      expect.stringContaining('the Loop edge z>a from z led to it again'),
    ])
  })

  it('may go back where it leads on too', () => {
    const ways = [
      edge('z', 'y', { class: 'Gate', guard_expr: 'state.attempt_count > 9' }),
      edge('z', 'a', { class: 'Loop' }),
    ]
    const nodes = [work('a'), node('z', { kind: 'GOAL' }), node('y')]
    const host = new Host({ nodes, edges: [edge('a', 'z'), ...ways] }).start().run()
    expect(host.entered.slice(0, 3)).toEqual(['a', 'z', 'a'])
  })
})
