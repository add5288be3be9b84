/**
 * Nodes that are called (F-1): entered for each edge, one after another, and back to the caller. Over 500
 * lines on purpose: every case is a few lines on one flow with a shared gate.
 */
import { describe, expect, it } from 'vitest'
import type { FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { toldFindings } from '../../src/flow/index.ts'
import { check, edge, Host, node, type Script, work } from './host.ts'

const GATE = { class: 'Gate' as const }
const NEVER = { guard_expr: 'state.tool_calls > 1000' }

/** Three phases with a shared gate: each leads to the gate and to the next phase. */
function phased(
  gate: Partial<FlowNode>,
  more: { nodes?: readonly FlowNode[]; edges?: readonly FlowEdge[] } = {},
  script?: Script,
): Host {
  const phase = (id: string) => node(id, { phase_id: id })
  const hub = node('gate', { phase_id: 'gate', call: true, ...gate })
  return new Host(
    {
      nodes: [phase('a'), phase('b'), phase('c'), hub, ...(more.nodes ?? [])],
      edges: [
        edge('a', 'b'),
        edge('b', 'c'),
        ...['a', 'b', 'c'].map((id) => edge(id, 'gate', GATE)),
        ...(more.edges ?? []),
      ],
    },
    script,
  ).start()
}

const executor = { command: ['gate'] }

describe('a node that is called', () => {
  it('is entered for each edge, and each caller goes on after its return', () => {
    const host = phased({}).run()
    expect(host.entered).toEqual(['a', 'gate', 'b', 'gate', 'c', 'gate'])
    expect([host.status, host.findings]).toEqual(['DONE', []])
    host.verify()
  })

  it('is entered once without the word', () => {
    const host = phased({ call: false }).run()
    expect(host.entered).toEqual(['a', 'b', 'gate', 'c'])
  })

  it('does not let its callers go on while it fails', () => {
    const failing: Script = (id) => (id === 'gate' ? { outcome: 'failed' } : {})
    const host = phased({ executor, max_attempts: 2 }, {}, failing).run()
    expect(host.entered).toEqual(['a', 'gate', 'gate'])
    expect(host.status).toBe('WAITING')
    host.verify()
  })

  it('is not called by a Gate that is closed, and the caller stays', () => {
    const nodes = ['a', 'b'].map((id) => node(id, { phase_id: id }))
    const hub = node('gate', { phase_id: 'gate', call: true })
    const edges = [edge('a', 'b'), edge('a', 'gate', { ...GATE, ...NEVER })]
    const host = new Host({ nodes: [...nodes, hub], edges }).start().run()
    expect([host.entered, host.status]).toEqual([['a'], 'BLOCKED'])
    expect(host.findings).toEqual(['flow.guard_false block'])
    host.verify()
  })

  it('is not called by a Progress edge that is closed, and the caller goes on', () => {
    const nodes = ['a', 'b'].map((id) => node(id, { phase_id: id }))
    const hub = node('gate', { phase_id: 'gate', call: true })
    const edges = [edge('a', 'b'), edge('a', 'gate', NEVER)]
    const host = new Host({ nodes: [...nodes, hub], edges }).start().run()
    expect([host.entered, host.status]).toEqual([['a', 'b'], 'DONE'])
  })

  it('takes what it leads to along, and returns when all of it is done', () => {
    const judge = node('judge', { phase_id: 'judge' })
    const host = phased({}, { nodes: [judge], edges: [edge('gate', 'judge', GATE)] }).run()
    const once = ['gate', 'judge']
    expect(host.entered).toEqual(['a', ...once, 'b', ...once, 'c', ...once])
    host.verify()
  })

  it('has failed when something that it leads to is not done: a finding, and the caller stays', () => {
    const parts = {
      nodes: [node('rescue', { phase_id: 'rescue' })],
      edges: [edge('gate', 'rescue', { class: 'Exception' })],
    }
    const failing: Script = (id) => (id === 'gate' ? { outcome: 'failed' } : {})
    const host = phased({ executor, max_attempts: 1 }, parts, failing).run()
    expect(host.entered).toEqual(['a', 'gate', 'rescue'])
    expect(host.status).toBe('BLOCKED')
    expect(host.findings.at(-1)).toBe('flow.call_failed block')
    host.verify()
    // A person lets the caller try again: the call is made again.
    host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    host.run()
    expect(host.entered.slice(3)).toEqual(['gate', 'rescue'])
    host.verify()
  })

  it('is made up for by a way back, within the same call', () => {
    const parts = {
      nodes: [node('repair', { phase_id: 'repair' })],
      edges: [
        edge('gate', 'repair', { class: 'Exception' }),
        edge('repair', 'gate', { class: 'Loop' }),
      ],
    }
    let tries = 0
    const once: Script = (id) => (id === 'gate' && tries++ === 0 ? { outcome: 'failed' } : {})
    const host = phased({ executor, max_attempts: 2 }, parts, once).run()
    expect(host.entered).toEqual(['a', 'gate', 'gate', 'b', 'gate', 'c', 'gate'])
    tries = 0
    const twice: Script = (id) => (id === 'gate' && tries++ < 2 ? { outcome: 'failed' } : {})
    const back = phased({ executor, max_attempts: 2 }, parts, twice).run()
    // No attempt is left in this call, so a person is asked.
    expect([back.entered, back.status]).toEqual([['a', 'gate', 'gate', 'repair'], 'WAITING'])
    back.verify()
  })

  it('lets several callers wait in line', () => {
    const nodes = [
      node('s', { phase_id: 's' }),
      ...['a', 'b', 'c'].map((id) => node(id, { phase_id: id })),
      work('gate', { phase_id: 'gate', call: true }),
    ]
    const edges = ['a', 'b', 'c'].flatMap((id) => [edge('s', id), edge(id, 'gate', GATE)])
    const callers: string[] = []
    const host = new Host({ nodes, edges }, (id, _, command) => {
      if (command.type === 'run_participant') callers.push(`${id} for ${command.caller}`)
      return {}
    })
    host.start().run()
    expect(callers).toEqual(['gate for a', 'gate for b', 'gate for c'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('tells its guards who called', () => {
    const parts = {
      nodes: [node('only', { phase_id: 'only' }), node('rest', { phase_id: 'rest' })],
      edges: [
        edge('gate', 'only', { class: 'Decision', guard_expr: "event.caller == 'b'" }),
        edge('gate', 'rest', { class: 'Decision', guard_expr: "event.caller != 'b'" }),
      ],
    }
    const host = phased({}, parts).run()
    expect(host.entered.filter((id) => id === 'only')).toHaveLength(1)
    expect(host.entered.slice(0, 6)).toEqual(['a', 'gate', 'rest', 'b', 'gate', 'only'])
    host.verify()
  })

  it('is called again when its caller runs again', () => {
    const back = edge('c', 'a', {
      class: 'Loop',
      guard_expr: 'state.attempt_count < 9',
      guard_scope: 'global',
    })
    const host = phased({}, { edges: [back] }).run()
    const round = ['a', 'gate', 'b', 'gate', 'c', 'gate']
    expect(host.entered).toEqual([...round, ...round])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('is one of the ways of a decision, which waits for nothing else', () => {
    const nodes = ['s', 'a', 'gate'].map((id) => node(id, { phase_id: id, call: id === 'gate' }))
    const edges = [
      edge('s', 'a', { class: 'Decision', ...NEVER }),
      edge('s', 'gate', { class: 'Decision', guard_expr: 'state.tool_calls < 1' }),
    ]
    const host = new Host({ nodes, edges }).start().run()
    expect([host.entered, host.status]).toEqual([['s', 'gate'], 'DONE'])
    host.verify()
  })

  it('judges its caller, as a CHECK without a target', () => {
    const nodes = [
      work('a', { phase_id: 'a' }),
      node('b', { phase_id: 'b' }),
      node('gate', {
        kind: 'CHECK',
        reviewer: { command: ['review'] },
        phase_id: 'gate',
        call: true,
      }),
    ]
    const edges = [edge('a', 'b'), edge('a', 'gate', GATE)]
    const targets: unknown[] = []
    const host = new Host({ nodes, edges }, (_, __, command) => {
      if (command.type === 'run_participant' && command.review !== null)
        targets.push([command.review.target, command.review.artifact_path])
      return {}
    })
    host.start().run()
    expect([host.entered, host.status]).toEqual([['a', 'gate', 'b'], 'DONE'])
    expect(targets).toEqual([['a', 'artifacts/a/1/out.md']])
    host.verify()
  })
})

describe('an Exception edge on: reject', () => {
  const nodes = [work('a'), check('judge', 'a'), node('b'), node('rework')]
  const out: Partial<FlowEdge> = { class: 'Exception', on: 'reject' }
  const edges = [edge('a', 'judge'), edge('judge', 'b'), edge('rework', 'a', { class: 'Loop' })]
  const scores = (list: readonly number[]): Script => {
    const left = [...list]
    return (id) => (id === 'judge' ? { score: left.shift() ?? 95 } : {})
  }

  it('fires on REJECT of its CHECK, and the work runs again only by what follows', () => {
    const parts = { nodes, edges: [...edges, edge('judge', 'rework', out)] }
    const host = new Host(parts, scores([40])).start().run()
    expect(host.entered).toEqual(['a', 'judge', 'rework', 'a', 'judge', 'b'])
    expect(host.findings).toEqual(['flow.approval_required reroute'])
    expect(host.status).toBe('DONE')
    host.verify()
  })

  it('fires on REJECT of the review of its WORK', () => {
    const parts = { nodes, edges: [...edges, edge('a', 'rework', out)] }
    const host = new Host(parts, scores([40])).start().run()
    expect(host.entered).toEqual(['a', 'judge', 'rework', 'a', 'judge', 'b'])
    host.verify()
  })

  it('fires on REJECT of a CHECK without a target, and not on APPROVE', () => {
    const reviewer = { command: ['review'] }
    const parts = {
      nodes: [node('judge', { kind: 'CHECK', reviewer }), node('b'), node('rework')],
      edges: [edge('judge', 'b'), edge('judge', 'rework', out)],
    }
    expect(new Host(parts, scores([40])).start().run().entered).toEqual(['judge', 'rework'])
    expect(new Host(parts, scores([95])).start().run().entered).toEqual(['judge', 'b'])
  })

  it('goes by its guard, so that the third REJECT leads elsewhere', () => {
    const third = { ...out, guard_expr: 'state.rejection_count >= 2' }
    const parts = { nodes, edges: [...edges, edge('judge', 'rework', third)] }
    const host = new Host(parts, scores([40, 40])).start().run()
    expect(host.entered.slice(0, 5)).toEqual(['a', 'judge', 'a', 'judge', 'rework'])
    host.verify()
  })

  it('does not fire when its source fails, as a plain one does not fire on REJECT', () => {
    const failing: Script = (id) => (id === 'a' ? { outcome: 'failed' } : {})
    const host = new Host({ nodes, edges: [...edges, edge('a', 'rework', out)] }, failing)
      .start()
      .run()
    expect([host.entered, host.status]).toEqual([['a', 'a', 'a'], 'WAITING'])
    const plain = { nodes, edges: [...edges, edge('a', 'rework', { class: 'Exception' })] }
    const rejected = new Host(plain, scores([40])).start().run()
    expect(rejected.entered).toEqual(['a', 'judge', 'a', 'judge', 'b'])
  })
})

describe('a CHECK that is called and says REJECT', () => {
  const reviewer = { command: ['review'] }
  const gate = node('gate', { kind: 'CHECK', reviewer, phase_id: 'gate', call: true })
  const nodes = [work('a', { phase_id: 'a' }), node('b', { phase_id: 'b' }), gate]
  const edges = [edge('a', 'b'), edge('a', 'gate', GATE)]
  const rework = node('rework', { phase_id: 'rework' })

  /** Rejects so often, and notes the digest of each version that it was asked about. */
  function rejecting(times: number, asked: unknown[], script: Script = () => ({})): Script {
    return (id, attempt, command) => {
      if (id !== 'gate') return script(id, attempt, command)
      if (command.type === 'run_participant') asked.push(command.review?.artifact_digest)
      return { score: asked.length <= times ? 40 : 95 }
    }
  }

  function reviewsIn(host: Host): readonly unknown[] {
    return host.facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'reviewed'
        ? [[payload.node_id, payload.check_id, payload.verdict, payload.artifact_digest]]
        : [],
    )
  }

  it('is not asked about the same version again: the run is blocked, with its digest', () => {
    const asked: unknown[] = []
    const host = new Host({ nodes, edges }, rejecting(1, asked)).start().run()
    expect([host.entered, host.status]).toEqual([['a', 'gate'], 'BLOCKED'])
    expect(host.findings).toEqual(['flow.approval_required block', 'flow.call_failed block'])
    expect(reviewsIn(host)).toEqual([['a', 'gate', 'REJECT', asked[0]]])
    expect(asked).toEqual([expect.stringMatching(/^sha256:/)])
    host.verify()
    // A person lets the caller go on: it makes another version, which is judged.
    host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    host.run()
    expect([host.entered, host.status]).toEqual([['a', 'gate', 'a', 'gate', 'b'], 'DONE'])
    expect(new Set(asked).size).toBe(2)
    host.verify()
  })

  it('leads its caller out by `on: reject`, else by its Exception edge', () => {
    const both = [
      edge('a', 'rework', { class: 'Exception' }),
      edge('a', 'rework', { class: 'Exception', on: 'reject', edge_id: 'no' }),
    ]
    const back = edge('rework', 'a', { class: 'Loop' })
    for (const [ways, taken] of [
      [both, 'no'],
      [both.slice(0, 1), 'a>rework'],
    ] as const) {
      const asked: unknown[] = []
      const parts = { nodes: [...nodes, rework], edges: [...edges, ...ways, back] }
      const host = new Host(parts, rejecting(1, asked)).start().run()
      expect(host.entered).toEqual(['a', 'gate', 'rework', 'a', 'gate', 'b'])
      expect([host.fired.filter((id) => id === taken), host.status]).toEqual([[taken], 'DONE'])
      expect(new Set(asked).size).toBe(2)
      host.verify()
    }
  })

  it('goes back by its own Loop, and the same version again is a failed attempt', () => {
    const asked: unknown[] = []
    const loop = { class: 'Loop' as const, guard_expr: "state.validator_verdict == 'REJECT'" }
    const parts = { nodes, edges: [...edges, edge('gate', 'a', loop)] }
    const same: Script = (_, attempt) => ({ content: attempt < 3 ? 'one' : 'two' })
    const host = new Host(parts, rejecting(1, asked, same)).start().run()
    expect(host.entered).toEqual(['a', 'gate', 'a', 'a', 'gate', 'b'])
    expect(host.findings).toContain('flow.delta_missing rerun')
    expect(new Set(asked).size).toBe(2)
    host.verify()
  })

  it('has its caller run again by a way back inside the call, until no attempt is left', () => {
    const asked: unknown[] = []
    const ways = [
      edge('gate', 'rework', { class: 'Exception', on: 'reject' }),
      edge('rework', 'gate', { class: 'Loop' }),
    ]
    const parts = { nodes: [...nodes, rework], edges: [...edges, ...ways] }
    const host = new Host(parts, rejecting(1, asked)).start().run()
    expect([host.entered.filter((id) => id === 'a').length, host.status]).toEqual([2, 'DONE'])
    expect(new Set(asked).size).toBe(2)
    expect(host.findings).toContain('flow.delta_missing rerun')
    expect(toldFindings(host.flow, host.facts).map(({ says }) => says)).toContain(
      'rework>gate led back to gate without a new version of it, and gate has rejected this one; it runs again',
    )
    host.verify()
    const never = new Host(parts, rejecting(99, [])).start().run()
    expect(never.entered.filter((id) => id === 'a')).toHaveLength(3)
    expect([never.status, never.findings.at(-1)]).toEqual(['WAITING', 'flow.escalated escalate'])
    never.verify()
  })

  it('lets go on what it approves, and its guards know the verdict', () => {
    const ways = [
      edge('gate', 'yes', {
        class: 'Decision',
        guard_expr: "state.validator_verdict == 'APPROVE'",
      }),
      edge('gate', 'no', { class: 'Decision', guard_expr: "state.validator_verdict != 'APPROVE'" }),
    ]
    const ends = ['yes', 'no'].map((id) => node(id, { phase_id: id }))
    const host = new Host({ nodes: [...nodes, ...ends], edges: [...edges, ...ways] }).start().run()
    expect([host.entered, host.status]).toEqual([['a', 'gate', 'yes', 'b'], 'DONE'])
    host.verify()
  })
})

describe('a caller that a CHECK of its own judges', () => {
  const reviewer = { command: ['review'] }
  const HUMAN = { principal: 'human:ann@local' }

  /** As `import --propose` writes it; the gate and the CHECK lie in phases as given. */
  function signedOff(
    rejections: number,
    more: { gatePhase?: string; checkPhase?: string; gateClass?: 'Gate' | 'Progress' } = {},
    extra: { nodes?: readonly FlowNode[]; edges?: readonly FlowEdge[] } = {},
  ): Host {
    const { gatePhase = 'P', checkPhase = 'P', gateClass = 'Gate' } = more
    let left = rejections
    const nodes = [
      work('intake'),
      work('build'),
      check('signoff', 'build', { phase_id: checkPhase }),
      node('quality', { kind: 'CHECK', reviewer, phase_id: gatePhase, call: true }),
      work('ship', { phase_id: checkPhase }),
      ...(extra.nodes ?? []),
    ]
    const edges = [
      edge('intake', 'quality', GATE),
      edge('intake', 'build'),
      edge('build', 'quality', { class: gateClass }),
      edge('build', 'signoff'),
      edge('signoff', 'ship'),
      edge('signoff', 'build', { class: 'Exception', on: 'reject' }),
      ...(extra.edges ?? []),
    ]
    const script: Script = (id, _, command) => {
      const judged = command.type === 'run_participant' ? command.review?.target : undefined
      if (id !== 'quality' || judged !== 'build') return {}
      return { score: left-- > 0 ? 40 : 95 }
    }
    return new Host({ nodes, edges }, script).start().run()
  }

  const PLACES = [
    {},
    { gatePhase: 'G' },
    { checkPhase: 'S' },
    { gatePhase: 'G', checkPhase: 'S' },
    { gateClass: 'Progress' as const },
  ]

  it('does not let the CHECK lead on while a call is refused, and does after the next version', () => {
    for (const place of PLACES) {
      const host = signedOff(1, place)
      expect([place, host.status, host.node('build').isHeld]).toEqual([place, 'BLOCKED', true])
      expect(host.entered).not.toContain('ship')
      expect(host.findings.at(-1)).toBe('flow.call_failed block')
      host.verify()
      host.send({ type: 'unblocked', node_id: 'build', ...HUMAN })
      host.run()
      expect([place, host.status, host.entered.at(-1)]).toEqual([place, 'DONE', 'ship'])
      expect(host.entered.filter((id) => id === 'signoff')).toHaveLength(2)
      host.verify()
    }
  })

  it('leads on after the call, when all say yes', () => {
    for (const place of PLACES) {
      const host = signedOff(0, place)
      expect([place, host.status]).toEqual([place, 'DONE'])
      expect(host.entered.slice(-3)).toEqual(['signoff', 'quality', 'ship'])
      host.verify()
    }
  })

  it('leaves by its Exception edge after a refused call, and its CHECK leads nowhere', () => {
    for (const place of PLACES) {
      const host = signedOff(1, place, {
        nodes: [node('late')],
        edges: [edge('build', 'late', { class: 'Exception' })],
      })
      expect([place, host.status, host.entered.at(-1)]).toEqual([place, 'DONE', 'late'])
      expect(host.entered).not.toContain('ship')
      host.verify()
    }
  })

  it('is judged again when the call leads back to it, or its own closed Gate does', () => {
    const guard_expr = "state.validator_verdict == 'REJECT'"
    const back = [edge('quality', 'build', { class: 'Loop', guard_expr })]
    for (const place of PLACES) {
      const host = signedOff(1, place, { edges: back })
      expect([place, host.status, host.entered.at(-1)]).toEqual([place, 'DONE', 'ship'])
      expect(host.entered.filter((id) => id === 'signoff')).toHaveLength(2)
      host.verify()
    }
    const twice = { ...GATE, guard_expr: 'state.attempt_count >= 2', edge_id: 'twice' }
    const rerun = edge('build', 'quality', { ...twice, on_guard_fail: 'rerun' })
    const host = signedOff(0, {}, { edges: [rerun] })
    expect([host.status, host.entered.at(-1)]).toEqual(['DONE', 'ship'])
    expect(host.entered.filter((id) => id === 'signoff')).toHaveLength(2)
    const out = edge('build', 'late', { class: 'Exception' })
    const closed = edge('build', 'quality', { ...GATE, ...NEVER, edge_id: 'closed' })
    const left = signedOff(0, {}, { nodes: [node('late')], edges: [closed, out] })
    expect([left.status, left.entered.at(-1)]).toEqual(['DONE', 'late'])
    expect(left.entered).not.toContain('ship')
  })

  it('is left behind with its CHECK when the call rolls back to a node that leads elsewhere', () => {
    const way = (target: string, guard_expr: string): FlowEdge =>
      edge('intake', target, { class: 'Decision', guard_expr })
    const nodes = [
      work('intake'),
      work('build'),
      check('signoff', 'build'),
      node('quality', { kind: 'CHECK', reviewer, call: true }),
      work('ship'),
      node('other'),
    ]
    const edges = [
      way('build', 'state.attempt_count < 2'),
      way('other', 'state.attempt_count >= 2'),
      edge('build', 'quality', GATE),
      edge('build', 'signoff'),
      edge('signoff', 'ship'),
      edge('quality', 'intake', { class: 'Rollback' }),
    ]
    const script: Script = (id, attempt) =>
      id === 'quality' ? { score: 40 } : { stage: `${id}-${attempt}` }
    const host = new Host({ nodes, edges }, script).start().run()
    expect([host.status, host.entered.at(-1)]).toEqual(['DONE', 'other'])
    expect(host.entered).not.toContain('ship')
    host.verify()
  })

  it('begins its alternatives after the call as well', () => {
    const choice = { class: 'Decision' as const, group_id: 'g' }
    for (const gateClass of ['Gate', 'Progress'] as const) {
      const parts = {
        nodes: [work('one'), work('two')],
        edges: [edge('build', 'one', choice), edge('build', 'two', choice)],
      }
      expect(signedOff(1, { gateClass }, parts).entered).not.toContain('one')
      const host = signedOff(0, { gateClass }, parts)
      expect(host.entered).toContain('one')
      expect([
        host.entered.indexOf('one') > host.entered.lastIndexOf('quality'),
        host.status,
      ]).toEqual([true, 'DONE'])
      host.verify()
    }
  })
})

describe('a call that failed', () => {
  const gate = node('gate', {
    kind: 'CHECK',
    call: true,
    actor: 'validator',
    reviewer: { command: ['review'] },
  })
  const rejects: Script = (id) => (id === 'gate' ? { score: 60 } : {})
  const next = node('next', { phase_id: 'next' })
  const stopped = ['flow.approval_required block', 'flow.call_failed block']

  it('is not made again at the end of the phase, but when a person lets the caller run again', () => {
    let score = 60
    const nodes = [work('a'), gate, next]
    const edges = [edge('a', 'gate'), edge('a', 'next')]
    const host = new Host({ nodes, edges }, (id) => (id === 'gate' ? { score } : {})).start().run()
    expect([host.status, host.entered, host.findings]).toEqual(['BLOCKED', ['a', 'gate'], stopped])
    host.verify()
    score = 95
    host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
    expect([host.run().status, host.entered.slice(2)]).toEqual(['DONE', ['a', 'gate', 'next']])
    host.verify()
  })

  it('is not made again by a decision that leads to it', () => {
    const yes = { class: 'Decision', guard_expr: 'state.tool_calls >= 0' } as const
    const nodes = [work('a'), gate, next]
    const edges = [
      edge('a', 'gate', yes),
      edge('a', 'next', { ...yes, guard_expr: 'state.tool_calls < 0' }),
    ]
    const host = new Host({ nodes, edges }, rejects).start().run()
    expect([host.status, host.entered, host.findings]).toEqual(['BLOCKED', ['a', 'gate'], stopped])
    host.verify()
  })

  it('is not made again by the Exception edge that made it', () => {
    const help = node('help', { ...gate, node_id: 'help' })
    const nodes = [work('a'), gate, help, next]
    const out = edge('a', 'help', { class: 'Exception' })
    const edges = [edge('a', 'gate'), edge('a', 'next'), out]
    const host = new Host({ nodes, edges }, (id) => (id === 'a' ? {} : { score: 60 })).start().run()
    expect([host.status, host.entered]).toEqual(['BLOCKED', ['a', 'gate', 'help']])
    host.verify()
  })
})

describe('a phase whose ways wait for calls', () => {
  const gate = node('gate', { phase_id: 'gate', call: true, executor: { command: ['gate'] } })
  const nodes = [
    work('a', { subphase_id: 'S' }),
    work('b', { subphase_id: 'S' }),
    gate,
    work('next', { phase_id: 'next' }),
  ]
  const edges = [edge('a', 'next'), edge('a', 'b'), edge('a', 'gate')]
  const walked = (host: Host) =>
    host.facts.flatMap(({ type, payload }) =>
      type !== 'flow_event_v1'
        ? []
        : payload.kind === 'entered'
          ? [payload.node_id]
          : payload.kind === 'phase_ended'
            ? [`end of ${payload.phase_id}`]
            : payload.kind === 'commanded' && payload.command.type === 'write_manifest'
              ? [`manifest of ${payload.command.subphase_id}`]
              : [],
    )

  it('ends once, after the work behind the calls', () => {
    const host = new Host({ nodes, edges }).start().run()
    const within = ['a', 'gate', 'end of gate', 'b', 'manifest of S', 'end of P']
    expect([host.status, walked(host)]).toEqual(['DONE', [...within, 'next', 'end of next']])
    host.verify()
  })

  it('does not end while a call has failed', () => {
    const failing: Script = (id) => (id === 'gate' ? { outcome: 'failed' } : {})
    const host = new Host({ nodes, edges }, failing).start().run()
    const [asked] = host.open.splice(0)
    if (asked?.type !== 'ask_human') throw new Error('no person is asked')
    const { node_id, command } = asked
    const principal = 'human:ann@local'
    host.send({ type: 'human_answer', node_id, command, answer: 'abandon', principal })
    expect(host.run().status).toBe('BLOCKED')
    expect(walked(host).filter((one) => one !== 'gate')).toEqual(['a', 'end of gate'])
    host.verify()
  })

  it('ends before a call that leads out of it', () => {
    const inside = node('gate', { call: true })
    const judge = node('judge', { phase_id: 'judge' })
    const parts = [...nodes.filter(({ node_id }) => node_id !== 'gate'), inside, judge]
    const host = new Host({ nodes: parts, edges: [...edges, edge('gate', 'judge')] }).start().run()
    expect([host.status, host.entered.slice(0, 3)]).toEqual(['DONE', ['a', 'gate', 'judge']])
    host.verify()
  })
})
