/**
 * Edges and what keeps them closed: no edge of any class fires around a control that it names, for any
 * reason to take it, and what the control asks for is done.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import type { FlowFact } from '../../src/flow/index.ts'
import { runs } from '../arbitrary/runs.ts'
import { type Attempt, check, edge, Host, node, type Script, work } from './host.ts'

type Action = 'block' | 'rerun' | 'reject' | 'alert'

const goal = node('g', { kind: 'GOAL', phase_id: 'Q' })
const failing: Script = (id) => (id === 'a' ? { outcome: 'failed' } : {})
const rejecting: Script = (id) => (id === 'c' ? { score: 10 } : {})

function policy(violation_action: Action, policy_expr = 'true') {
  const head = { policy_id: 'P', policy_expr, priority: 1 }
  return { ...head, override_mode: 'merge' as const, violation_action }
}

function invariant(fail_action: 'block' | 'rerun', invariant_expr = 'false') {
  const head = { invariant_id: 'I', invariant_expr, check_timing: 'on_transition' as const }
  return { ...head, severity: 'high' as const, fail_action }
}

const trust: Partial<FlowEdge> = { trust_requirement: 'independent_verification_required' }

interface Place {
  readonly nodes: readonly FlowNode[]
  /** The edge `E` is the one that names the control. */
  readonly edges: (more: Partial<FlowEdge>) => readonly FlowEdge[]
  readonly script?: Script
  readonly status: string
}

const claiming =
  (script: Script = () => ({})): Script =>
  (id, attempt, command) => ({ ...script(id, attempt, command), claims: ['C'] })

/** The edge `E` of each class, and the reason for which it would be taken. */
const PLACES: Readonly<Record<string, Place>> = {
  'a Progress edge': {
    nodes: [work('a'), goal],
    edges: (more) => [edge('a', 'g', { edge_id: 'E', ...more })],
    status: 'BLOCKED',
  },
  'a Gate edge': {
    nodes: [work('a'), goal],
    edges: (more) => [edge('a', 'g', { edge_id: 'E', class: 'Gate', ...more })],
    status: 'BLOCKED',
  },
  'a Sync edge': {
    nodes: [work('a'), goal],
    edges: (more) => [edge('a', 'g', { edge_id: 'E', class: 'Sync', ...more })],
    status: 'BLOCKED',
  },
  'a Decision edge': {
    nodes: [work('a'), goal],
    edges: (more) => [edge('a', 'g', { edge_id: 'E', class: 'Decision', ...more })],
    status: 'BLOCKED',
  },
  'an edge to an alternative': {
    nodes: [work('a'), goal],
    edges: (more) => [edge('a', 'g', { edge_id: 'E', class: 'Decision', group_id: 'G', ...more })],
    status: 'WAITING',
  },
  'the edge from work to its CHECK': {
    nodes: [work('a'), check('c', 'a'), goal],
    edges: (more) => [edge('a', 'c', { edge_id: 'E', ...more }), edge('c', 'g')],
    status: 'BLOCKED',
  },
  'the edge from one CHECK to the next': {
    nodes: [work('a'), check('b', 'a'), check('c', 'a'), goal],
    edges: (more) => [edge('a', 'b'), edge('b', 'c', { edge_id: 'E', ...more }), edge('c', 'g')],
    status: 'BLOCKED',
  },
  'the edge to a CHECK in another phase': {
    nodes: [work('a'), check('c', 'a', { phase_id: 'Q' }), goal],
    edges: (more) => [edge('a', 'c', { edge_id: 'E', ...more }), edge('c', 'g')],
    status: 'BLOCKED',
  },
  'an Exception edge of work that failed': {
    nodes: [work('a', { max_attempts: 1 }), node('x'), goal],
    edges: (more) => [
      edge('a', 'g'),
      edge('a', 'x', { edge_id: 'E', class: 'Exception', ...more }),
      edge('x', 'g'),
    ],
    script: failing,
    status: 'BLOCKED',
  },
  'an Exception edge of a node whose way is closed': {
    nodes: [work('a'), node('x'), goal],
    edges: (more) => [
      edge('a', 'g', { guard_expr: 'false', on_guard_fail: 'reroute' }),
      edge('a', 'x', { edge_id: 'E', class: 'Exception', ...more }),
      edge('x', 'g'),
    ],
    status: 'BLOCKED',
  },
  'an Exception edge of work whose review is closed': {
    nodes: [work('a'), check('c', 'a'), node('x'), goal],
    edges: (more) => [
      edge('a', 'c', { guard_expr: 'false' }),
      edge('c', 'g'),
      edge('a', 'x', { edge_id: 'E', class: 'Exception', ...more }),
      edge('x', 'g'),
    ],
    status: 'BLOCKED',
  },
  'the edge of a CHECK for a REJECT': {
    nodes: [work('a'), check('c', 'a'), node('x'), goal],
    edges: (more) => [
      edge('a', 'c'),
      edge('c', 'g'),
      edge('c', 'x', { edge_id: 'E', class: 'Exception', on: 'reject', ...more }),
      edge('x', 'g'),
    ],
    script: rejecting,
    status: 'BLOCKED',
  },
  'the Loop that a REJECT takes': {
    nodes: [work('a'), check('c', 'a'), goal],
    edges: (more) => [
      edge('a', 'c'),
      edge('c', 'g'),
      edge('c', 'a', { edge_id: 'E', class: 'Loop', ...more }),
    ],
    script: rejecting,
    status: 'BLOCKED',
  },
  'a Loop without a guard': {
    nodes: [work('a'), node('b'), goal],
    edges: (more) => [
      edge('a', 'b'),
      edge('b', 'g', { guard_expr: 'false' }),
      edge('b', 'a', { edge_id: 'E', class: 'Loop', ...more }),
    ],
    status: 'BLOCKED',
  },
  'a Rollback edge with a guard': {
    nodes: [work('a'), node('b'), goal],
    edges: (more) => [
      edge('a', 'b'),
      edge('b', 'g'),
      edge('b', 'a', { edge_id: 'E', class: 'Rollback', guard_expr: 'true', ...more }),
    ],
    status: 'BLOCKED',
  },
}

/** Claims belong to the node that the edge leaves; these leave a node that makes none. */
const WITHOUT_CLAIMS = new Set(['a Loop without a guard', 'a Rollback edge with a guard'])

/** By these the work has failed, so that no claim of it was taken. */
const FAILED = 'an Exception edge of work that failed'

describe.each(Object.entries(PLACES))('%s', (name, { nodes, edges, script, status }) => {
  const refs = { policy_refs: ['P'], audit_invariant_refs: ['I'] }
  const controls: readonly [string, Partial<Flow>, string][] = [
    ['policy', { policies: [policy('block')], edges: [...edges({ policy_refs: ['P'] })] }, 'P'],
    [
      'invariant',
      { invariants: [invariant('block')], edges: [...edges({ audit_invariant_refs: ['I'] })] },
      'I',
    ],
    ['requirement of trust', { edges: [...edges(trust)] }, 'C'],
  ]

  it.each(controls)('does not fire against the %s that it names', (control, parts, id) => {
    if (control === 'requirement of trust' && (WITHOUT_CLAIMS.has(name) || name === FAILED)) return
    const made = { nodes: [...nodes], ...parts }
    const host = new Host(made, claiming(script)).start().run()
    expect([host.status, host.fired.includes('E')]).toEqual([status, false])
    const found = host.facts.find(
      ({ type, payload }) => type === 'flow_finding_v1' && payload.edge_id === 'E',
    )
    expect(JSON.stringify(found)).toContain(`"${id}"`)
    host.verify()
  })

  it('fires when its controls let it pass', () => {
    const open = { policies: [policy('block', 'false')], invariants: [invariant('block', 'true')] }
    const all = [...edges({ ...refs, ...trust })]
    const source = all.find(({ edge_id }) => edge_id === 'E')?.source ?? ''
    const claim = {
      ...{ claim_id: 'D', node_id: source, actor: 'x', evidence_ids: [] },
      trust_level: 'external_unverified' as const,
      verification_status: 'pending' as const,
    }
    const host = new Host({ nodes: [...nodes], edges: all, claims: [claim], ...open }, script)
    const digest = `sha256:${'d'.repeat(64)}`
    const evidence = { evidence_id: 'V', claim_id: 'D', actor: 'y', digest, supports: true }
    host.start().send({ type: 'evidence', evidence, principal: 'human:bob', participant: null })
    host.run()
    expect(host.fired).toContain('E')
    host.verify()
  })
})

/** Which edges of a decision of a node fired between two entries of the node. */
function decisionsTaken(flow: Flow, facts: readonly FlowFact[]): readonly (readonly string[])[] {
  const byId = new Map(flow.edges.map((one) => [one.edge_id, one]))
  const open = new Map<string, string[]>()
  const ended: string[][] = []
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'entered') {
      ended.push(open.get(payload.node_id) ?? [])
      open.delete(payload.node_id)
    }
    const way = payload.kind === 'fired' ? byId.get(payload.edge_id) : undefined
    if (way?.class !== 'Decision' || way.group_id !== undefined) continue
    open.set(way.source, [...(open.get(way.source) ?? []), way.edge_id])
  }
  return [...ended, ...open.values()]
}

const GUARDS = [undefined, undefined, 'true', 'false', 'state.attempt_count < 2'] as const
const CLASSES = ['Progress', 'Decision', 'Decision', 'Gate', 'Sync', 'Exception', 'Loop'] as const

/** Small flows that lead somewhere; an edge that is closed names a control that never lets it pass. */
const smallFlow = fc
  .record({
    nodes: fc.array(
      fc.record({
        phase: fc.nat(1),
        sort: fc.constantFrom('bare', 'work', 'judged', 'judged'),
        isClosed: fc.constantFrom(false, false, true),
      }),
      { minLength: 2, maxLength: 5 },
    ),
    edges: fc.array(
      fc.record({
        ends: fc.tuple(fc.nat(), fc.nat()),
        class: fc.constantFrom(...CLASSES),
        guard: fc.constantFrom(...GUARDS),
        fail: fc.constantFrom(undefined, 'reroute' as const, 'escalate' as const),
        group: fc.constantFrom(undefined, undefined, 'g'),
        isReject: fc.boolean(),
        isClosed: fc.constantFrom(false, false, true),
      }),
      { minLength: 2, maxLength: 10 },
    ),
    isPolicy: fc.boolean(),
    action: fc.constantFrom<'block' | 'rerun'>('block', 'rerun'),
  })
  .map(({ nodes, edges, isPolicy, action }): Partial<Flow> => {
    const refs = isPolicy ? { policy_refs: ['P'] } : { audit_invariant_refs: ['I'] }
    const named = (isClosed: boolean): Partial<FlowEdge> => (isClosed ? refs : {})
    const ends = nodes.map(({ sort }, index) => (sort === 'judged' ? `c${index}` : `n${index}`))
    const made = nodes.flatMap(({ phase, sort }, index): FlowNode[] => {
      const more = { phase_id: `P${phase}`, max_attempts: 2 }
      if (sort === 'bare') return [node(`n${index}`, more)]
      const judges = sort === 'judged' ? [check(`c${index}`, `n${index}`, more)] : []
      return [work(`n${index}`, more), ...judges]
    })
    const reviews = nodes.flatMap(({ sort, isClosed }, index) =>
      sort === 'judged' ? [edge(`n${index}`, `c${index}`, named(isClosed))] : [],
    )
    const ways = edges.map((one, index): FlowEdge => {
      const [begin, end] = one.ends
      // Ways on lead to a later node, so that they are no circle.
      const low = begin % (nodes.length - 1)
      const high = low + 1 + (end % (nodes.length - 1 - low))
      const isBack = one.class === 'Loop'
      const source = ends[isBack ? high : low] ?? ''
      const target = `n${isBack ? low : high}`
      const group = one.class === 'Decision' && one.group !== undefined ? { group_id: 'g' } : {}
      const on = one.class === 'Exception' && one.isReject ? { on: 'reject' as const } : {}
      return {
        ...edge(source, target, { edge_id: `E${index}`, class: one.class, ...group, ...on }),
        ...(one.guard === undefined ? {} : { guard_expr: one.guard }),
        ...(one.fail === undefined ? {} : { on_guard_fail: one.fail }),
        ...named(one.isClosed),
      }
    })
    const all = [...reviews, ...ways]
    // A control that no edge names would be judged at every way on.
    const isNamed = all.some((one) => one.policy_refs ?? one.audit_invariant_refs)
    const controls = isPolicy ? { policies: [policy(action)] } : { invariants: [invariant(action)] }
    return { nodes: made, edges: all, ...(isNamed ? controls : {}) }
  })

const anyAttempt: fc.Arbitrary<Attempt> = fc.record({
  outcome: fc.constantFrom('ended', 'ended', 'ended', 'failed'),
  score: fc.constantFrom(10, 95, 95),
})

it('no edge fires against a control that it names, and of a decision one way is taken at most', () => {
  const seen = { closed: 0, decided: 0, done: 0 }
  fc.assert(
    fc.property(
      smallFlow,
      fc.array(anyAttempt, { minLength: 1, maxLength: 5 }),
      (parts, attempts) => {
        let turn = 0
        const host = new Host(parts, () => attempts[turn++ % attempts.length] ?? {}).start().run()
        host.verify()
        const { edges } = host.begun.document
        const named = edges.filter((one) => one.policy_refs ?? one.audit_invariant_refs)
        const fired = new Set(host.fired)
        expect(named.filter(({ edge_id }) => fired.has(edge_id))).toEqual([])
        const taken = decisionsTaken(host.begun.document, host.facts)
        expect(taken.filter(({ length }) => length > 1)).toEqual([])
        const closing = /policy_triggered|invariant_violated/
        seen.closed += host.findings.filter((one) => closing.test(one)).length
        seen.decided += taken.filter(({ length }) => length === 1).length
        seen.done += host.status === 'DONE' ? 1 : 0
      },
    ),
    { numRuns: runs(150) },
  )
  // The flows came to closed edges, to decisions and to their ends.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(10)
})

describe('a decision between ways within the phase and out of it', () => {
  const split = (within: string, out: string): Partial<Flow> => ({
    nodes: [node('a'), node('b'), node('y', { phase_id: 'Q' }), goal],
    edges: [
      edge('a', 'b', { class: 'Decision', guard_expr: within }),
      edge('a', 'y', { class: 'Decision', guard_expr: out }),
      edge('b', 'g'),
      edge('y', 'g'),
    ],
  })

  it.each([
    ['true', 'false', 'DONE', ['a>b', 'b>g'], []],
    ['false', 'true', 'DONE', ['a>y', 'y>g'], []],
    ['true', 'true', 'BLOCKED', [], ['flow.decision_ambiguous block']],
    [
      'false',
      'false',
      'BLOCKED',
      [],
      ['flow.decision_none block', 'flow.guard_false block', 'flow.guard_false block'],
    ],
    // Open at the end of the phase only: the way within is the only open one then.
    ['state.log_updated_after_phase', 'false', 'DONE', ['a>b', 'b>g'], []],
  ])('is one: within %s, out %s', (within, out, status, fired, findings) => {
    const host = new Host(split(within, out)).start().run()
    expect([host.status, host.fired, host.findings]).toEqual([status, fired, findings])
    host.verify()
  })
})

describe('the way from work to its CHECK', () => {
  const flow = (more: Partial<FlowEdge>, ...others: readonly FlowEdge[]): Partial<Flow> => ({
    nodes: [work('a', { max_attempts: 2 }), check('c', 'a'), node('x'), goal],
    edges: [edge('a', 'c', more), edge('c', 'g'), ...others],
    state: { fields: { pages: { type: 'int', initial: 0 } } },
  })
  const out = [edge('a', 'x', { class: 'Exception' }), edge('x', 'g')]

  it.each<[string, Partial<FlowEdge>, readonly FlowEdge[], string, readonly string[]]>([
    ['block', {}, [], 'BLOCKED', ['a']],
    ['block', {}, out, 'DONE', ['a', 'x', 'g']],
    ['reroute', { on_guard_fail: 'reroute' }, out, 'DONE', ['a', 'x', 'g']],
    ['reroute', { on_guard_fail: 'reroute' }, [], 'BLOCKED', ['a']],
    ['rerun', { on_guard_fail: 'rerun' }, [], 'WAITING', ['a', 'a']],
    ['escalate', { on_guard_fail: 'escalate' }, [], 'WAITING', ['a']],
  ])('does what its guard says when it is closed: %s', (_, more, others, status, entered) => {
    const nodes = flow({}).nodes?.filter(({ node_id }) => others.length > 0 || node_id !== 'x')
    const parts = { ...flow({ guard_expr: 'false', ...more }, ...others), nodes: nodes ?? [] }
    const host = new Host(parts).start().run()
    expect([host.status, host.entered, host.fired.includes('a>c')]).toEqual([
      status,
      entered,
      false,
    ])
    const action = more.on_guard_fail ?? 'block'
    expect(host.findings[0]).toBe(`flow.guard_false ${action}`)
    host.verify()
  })

  it('opens when a rerun has made its guard true', () => {
    const guard_expr = 'state.attempt_count > 1'
    const host = new Host(flow({ guard_expr, on_guard_fail: 'rerun' })).start().run()
    expect([host.status, host.node('a').attempts, host.fired.includes('a>c')]).toEqual([
      'DONE',
      2,
      true,
    ])
    host.verify()
  })

  const evidenced = flow({
    guard_expr: 'state.pages >= 4',
    guard_evidence_source: 'out/book.json:pages',
  })
  const readTo = (host: Host, value: number): Host => {
    host.run(({ type }) => type === 'read_evidence')
    const command = host.open.find(({ type }) => type === 'read_evidence')
    if (command?.type !== 'read_evidence') throw new Error('nothing is read')
    host.open.splice(host.open.indexOf(command), 1)
    const readings = command.sources.map(({ edge_id }) => ({ edge_id, digest: 'd', value }))
    const { node_id, command: number } = command
    host.send({ type: 'evidence_read', node_id, command: number, readings })
    return host.run()
  }

  it('goes by the evidence that the work has staged', () => {
    const host = readTo(new Host(evidenced, () => ({ stage: 'm' })).start(), 4)
    expect([host.status, host.fired.includes('a>c')]).toEqual(['DONE', true])
    host.verify()
  })

  it('is tried again with the evidence that a person has corrected, and the work is kept', () => {
    const host = readTo(new Host(evidenced, () => ({ stage: 'm' })).start(), 3)
    expect([host.status, host.node('a').status]).toEqual(['BLOCKED', 'blocked'])
    host.verify()
    host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann' })
    readTo(host, 4)
    expect([host.status, host.node('a').attempts]).toEqual(['DONE', 1])
    host.verify()
  })

  it('opens when the claims of the work are verified, and the work is kept', () => {
    const parts = { nodes: [work('a'), check('c', 'a'), goal] }
    const edges = [edge('a', 'c', trust), edge('c', 'g')]
    const host = new Host({ ...parts, edges }, claiming()).start().run()
    expect(host.status).toBe('BLOCKED')
    const evidence = { evidence_id: 'E', claim_id: 'C', actor: 'ann', supports: true }
    const told = { evidence: { ...evidence, digest: `sha256:${'d'.repeat(64)}` } }
    host.send({ type: 'evidence', ...told, principal: 'human:ann', participant: null })
    expect([host.run().status, host.node('a').attempts]).toEqual(['DONE', 1])
    host.verify()
  })

  it('can be skipped with its work', () => {
    const parts = { nodes: [work('a'), check('c', 'a'), goal] }
    const edges = [edge('a', 'c', { guard_expr: 'false' }), edge('c', 'g')]
    const host = new Host({ ...parts, edges }).start().run()
    const said = { principal: 'human:ann', comment: 'not needed' }
    host.send({ type: 'skipped', node_id: 'a', ...said })
    expect(host.run().status).toBe('DONE')
    host.verify()
  })
})

it('a remark from work to its CHECK never fires, and neither does a way out of a failure', () => {
  const edges = [
    edge('a', 'c', { edge_id: 'M', class: 'Meta', guard_expr: 'false' }),
    edge('a', 'c', { edge_id: 'X', class: 'Exception', guard_expr: 'false' }),
    edge('c', 'g'),
  ]
  const host = new Host({ nodes: [work('a'), check('c', 'a'), goal], edges }).start().run()
  expect([host.status, host.fired]).toEqual(['DONE', ['c>g']])
  host.verify()
})

describe('a control that asks for a rerun, or rejects', () => {
  const once = 'state.attempt_count < 2'
  const flow = (action: Action, sibling: Partial<FlowEdge>, phase_id = 'Q'): Partial<Flow> => ({
    nodes: [work('a'), node('y', { phase_id }), goal],
    edges: [edge('a', 'y', sibling), edge('a', 'g', { policy_refs: ['P'] }), edge('y', 'g')],
    policies: [policy(action, once)],
  })

  it.each<[Action, string, Partial<FlowEdge>, string]>([
    ['rerun', 'closed', { guard_expr: 'false' }, 'Q'],
    ['reject', 'closed', { guard_expr: 'false' }, 'Q'],
    ['rerun', 'open', {}, 'Q'],
    ['reject', 'open', {}, 'Q'],
    ['rerun', 'taken within the phase', {}, 'P'],
    ['reject', 'taken within the phase', {}, 'P'],
  ])('is carried out: %s, the other way is %s', (action, _, sibling, phase) => {
    const script: Script = (id, attempt) => ({ stage: `${id}${attempt}` })
    const host = new Host(flow(action, sibling, phase), script).start().run()
    expect([host.status, host.node('a').attempts]).toEqual(['DONE', 2])
    expect(host.fired.filter((id) => id === 'a>g')).toEqual(['a>g'])
    host.verify()
  })

  it('rolls back what was promoted before the work runs again, and counts the rejection', () => {
    const script: Script = (id, attempt) => ({ stage: `${id}${attempt}` })
    const host = new Host(flow('reject', {}), script).start()
    host.run(({ type }) => type === 'roll_back')
    const [command] = host.open
    expect(command).toMatchObject({ type: 'roll_back', node_id: 'a', back_to: 'a', rest: [] })
    expect(host.node('a').work.rejections).toBe(1)
    host.run()
    expect([host.status, host.node('a').work.acts.length]).toEqual(['DONE', 1])
    host.verify()
  })

  it('rejects the work that a CHECK approved, with what was built on it', () => {
    const parts: Partial<Flow> = {
      nodes: [work('a'), check('c', 'a'), work('b'), goal],
      edges: [edge('a', 'c'), edge('c', 'b'), edge('c', 'g', { policy_refs: ['P'] })],
      policies: [policy('reject', once)],
    }
    const script: Script = (id, attempt) => ({ stage: `${id}${attempt}` })
    const host = new Host(parts, script).start().run()
    const undone = host.facts.flatMap((fact) =>
      fact.type === 'flow_event_v1' &&
      fact.payload.kind === 'commanded' &&
      fact.payload.command.type === 'roll_back'
        ? [fact.payload.command.node_id]
        : [],
    )
    expect([host.status, undone, host.node('a').work.rejections]).toEqual(['DONE', ['b', 'a'], 1])
    host.verify()
  })
})

it('a way back without a guard waits for the ways out of the phase', () => {
  const flow = (guard_expr: string): Partial<Flow> => ({
    nodes: [node('b', { max_attempts: 2 }), node('e'), goal],
    edges: [edge('b', 'e'), edge('e', 'b', { class: 'Loop' }), edge('e', 'g', { guard_expr })],
  })
  const open = new Host(flow('true')).start().run()
  expect([open.status, open.entered]).toEqual(['DONE', ['b', 'e', 'g']])
  open.verify()
  const later = new Host(flow('state.attempt_count > 1')).start().run()
  expect([later.status, later.entered]).toEqual(['DONE', ['b', 'e', 'b', 'e', 'g']])
  later.verify()
})

describe('after a REJECT', () => {
  const flow = (more: Partial<FlowEdge>): Partial<Flow> => ({
    nodes: [work('a', { max_attempts: 2 }), check('c', 'a'), node('x'), goal],
    edges: [
      edge('a', 'c'),
      edge('c', 'g'),
      edge('c', 'x', { class: 'Exception', on: 'reject', guard_expr: 'false', ...more }),
      edge('x', 'g'),
    ],
  })

  it.each<[string, Partial<FlowEdge>, string, number]>([
    ['runs the work again when it says nothing', {}, 'WAITING', 2],
    ['stays when it says so', { on_guard_fail: 'block' }, 'BLOCKED', 1],
    ['asks a person when it says so', { on_guard_fail: 'escalate' }, 'WAITING', 1],
  ])('a way out with a closed guard %s', (_, more, status, attempts) => {
    const host = new Host(flow(more), rejecting).start().run()
    expect([host.status, host.node('a').attempts]).toEqual([status, attempts])
    host.verify()
  })
})

it('a node that failed and whose way out is closed goes on when a person lets it', () => {
  let isMended = false
  const script: Script = (id) => (id === 'a' && !isMended ? { outcome: 'failed' } : {})
  const parts: Partial<Flow> = {
    nodes: [work('a', { max_attempts: 1 }), node('x'), goal],
    edges: [
      edge('a', 'g'),
      edge('a', 'x', { class: 'Exception', guard_expr: 'state.score >= 90' }),
      edge('x', 'g'),
    ],
  }
  const host = new Host(parts, script).start().run()
  expect([host.status, host.findings.at(-1)]).toEqual(['BLOCKED', 'flow.guard_false block'])
  host.verify()
  isMended = true
  host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann' })
  expect([host.run().status, host.entered]).toEqual(['DONE', ['a', 'a', 'g']])
  host.verify()
})
