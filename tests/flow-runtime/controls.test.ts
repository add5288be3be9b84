/**
 * Participants that try to walk around a control, as far as that is decided without a machine. Each
 * control also has a test that a run by the first version of the rules is replayed as it was.
 */
import { describe, expect, it } from 'vitest'
import type { Flow, FlowEdge } from '../../src/contracts/index.ts'
import {
  claimStandings,
  type EvidenceValue,
  FLOW_EVALUATOR,
  rulesNamed,
} from '../../src/flow/index.ts'
import { type Attempt, check, edge, Host, node, type Script, work } from './host.ts'

const FIRST = { evaluator: { name: 'flow', version: '1' } }

describe('a declared claim', () => {
  const trust_requirement = 'independent_verification_required' as const
  const claim = {
    claim_id: 'C',
    node_id: 'a',
    actor: 'researcher',
    trust_level: 'external_unverified' as const,
    evidence_ids: [],
    verification_status: 'verified' as const,
  }
  const parts = (more: Partial<Flow> = {}): Partial<Flow> => ({
    nodes: [work('a', { actor: 'researcher' }), node('b', { phase_id: 'Q' })],
    edges: [edge('a', 'b', { trust_requirement })],
    claims: [claim],
    ...more,
  })
  const statusOf = (host: Host) => claimStandings(host.flow, host.state)[0]?.verification_status
  const own: Script = () => ({ supports: ['C'] })

  it('is not verified by the participant whose claim it is', () => {
    const host = new Host(parts(), own).start().run()
    expect([host.status, statusOf(host)]).toEqual(['BLOCKED', 'pending'])
    expect(host.findings).toEqual(['flow.claim_unverified block'])
    host.verify()
  })

  it('is not verified by the same person under the name of the gate', () => {
    const host = new Host(parts(), () => ({ principal: 'human:ann' })).start().run()
    const evidence = { evidence_id: 'E', claim_id: 'C', actor: 'x', supports: true }
    const digest = `sha256:${'d'.repeat(64)}`
    const told = { evidence: { ...evidence, digest }, participant: null }
    host.send({ type: 'evidence', ...told, principal: 'human:ann' })
    expect([host.run().status, statusOf(host)]).toEqual(['BLOCKED', 'pending'])
    host.send({ type: 'evidence', ...told, principal: 'human:bob' })
    expect([host.run().status, statusOf(host)]).toEqual(['DONE', 'verified'])
    host.verify()
  })

  const verifier = work('v', { actor: 'verifier' })
  const withVerifier = () =>
    parts({
      nodes: [work('a', { actor: 'researcher' }), verifier, node('b', { phase_id: 'Q' })],
      edges: [edge('a', 'b', { trust_requirement }), edge('v', 'b')],
    })

  it('is verified by another participant, also when its way was closed before', () => {
    const script: Script = (id) => (id === 'v' ? { supports: ['C'] } : {})
    const host = new Host(withVerifier(), script).start()
    host.run((command) => 'node_id' in command && command.node_id === 'v')
    host.run()
    expect([host.status, statusOf(host)]).toEqual(['DONE', 'verified'])
    host.verify()
  })

  it('is not verified by the same program under another declaration', () => {
    const script: Script = (id) => (id === 'v' ? { supports: ['C'] } : {})
    const host = new Host(withVerifier(), script)
    const digest = `sha256:${'f'.repeat(64)}`
    const programs = host.flow.nodes.flatMap(({ participant }) =>
      participant === null ? [] : [{ participant, path: 'agent.mjs', digest }],
    )
    host.startWith({ programs }).run()
    expect([host.status, statusOf(host)]).toEqual(['BLOCKED', 'pending'])
    host.verify()
  })

  it.each([
    ['4', 'the verifier', 'v', ['BLOCKED', 'pending']],
    ['4', 'the worker', 'a', ['BLOCKED', 'pending']],
    ['3', 'the verifier', 'v', ['DONE', 'verified']],
  ])('by rules %s, with programs of %s that are not pinned', (version, _, open, wanted) => {
    const script: Script = (id) => (id === 'v' ? { supports: ['C'] } : {})
    const host = new Host(withVerifier(), script)
    const participantOf = (id: string): string =>
      host.flow.nodes.find(({ nodeId }) => nodeId === id)?.participant ?? ''
    const digest = `sha256:${'f'.repeat(64)}`
    const programs = [{ participant: participantOf('v'), path: 'verify.mjs', digest }]
    const unpinned = [participantOf(open)]
    host.startWith({ evaluator: { name: 'flow', version }, programs, unpinned }).run()
    expect([host.status, statusOf(host)]).toEqual(wanted)
    host.verify()
  })

  it('is verified by its reviewer', () => {
    const nodes = [
      work('a', { actor: 'researcher' }),
      check('c', 'a'),
      node('b', { phase_id: 'Q' }),
    ]
    const edges = [edge('a', 'c'), edge('c', 'b', { trust_requirement })]
    const script: Script = (id) => (id === 'c' ? { supports: ['C'] } : {})
    const host = new Host(parts({ nodes, edges }), script).start().run()
    expect([host.status, statusOf(host)]).toEqual(['DONE', 'verified'])
    host.verify()
  })

  it('of a CHECK closes the ways out of the CHECK, also one of its answer', () => {
    const nodes = [work('a'), check('c', 'a'), node('b', { phase_id: 'Q' })]
    const edges = [edge('a', 'c'), edge('c', 'b', { trust_requirement })]
    const script: Script = (id) => (id === 'c' ? { claims: ['R'] } : {})
    const host = new Host({ nodes, edges }, script).start().run()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.claim_unverified block']])
    host.verify()
    const declared = {
      ...{ claim_id: 'C', node_id: 'c', actor: 'w', trust_level: 'external_unverified' as const },
      ...{ evidence_ids: [], verification_status: 'pending' as const },
    }
    const by = (version: string) =>
      new Host({ nodes, edges, claims: [declared] })
        .startWith({ evaluator: { name: 'flow', version } })
        .run().status
    expect([by('3'), by('4')]).toEqual(['DONE', 'BLOCKED'])
  })

  it('is asked for: a source that claims nothing keeps the way closed (seed 004 §7)', () => {
    const unclaimed = parts({ claims: [] })
    const host = new Host(unclaimed).start().run()
    expect([host.status, host.findings]).toEqual(['BLOCKED', ['flow.claim_unverified block']])
    host.verify()
    const reviewed = {
      nodes: [work('a'), check('c', 'a'), node('b', { phase_id: 'Q' })],
      edges: [edge('a', 'c', { trust_requirement }), edge('c', 'b')],
    }
    const staged = new Host(reviewed).start().run()
    expect([staged.status, staged.findings]).toEqual(['BLOCKED', ['flow.claim_unverified block']])
    const before = new Host(unclaimed).startWith({ evaluator: { name: 'flow', version: '6' } })
    expect(before.run().status).toBe('DONE')
    before.verify()
  })

  it('keeps the answer of a run by the first rules', () => {
    const host = new Host(parts(), own).startWith(FIRST).run()
    expect([host.status, statusOf(host)]).toEqual(['DONE', 'verified'])
    host.verify()
  })
})

describe('a file of evidence', () => {
  type Reading = Omit<EvidenceValue, 'edge_id'>
  const flow = (field: string, guard_expr: string): Partial<Flow> => ({
    nodes: [work('a'), node('b', { phase_id: 'Q' })],
    edges: [edge('a', 'b', { guard_expr, guard_evidence_source: `qa.json:${field}` })],
    state: { fields: { open_bugs: { type: 'int', initial: 0 } } },
  })
  const read = (host: Host, reading: Reading): Host => {
    host.run(({ type }) => type === 'read_evidence')
    const [command] = host.open
    if (command?.type !== 'read_evidence') throw new Error('nothing is read')
    host.open.length = 0
    const readings = command.sources.map(({ edge_id }) => ({ edge_id, ...reading }))
    host.send({ type: 'evidence_read', node_id: 'a', command: command.command, readings })
    return host.run()
  }
  const bugs = () => new Host(flow('open_bugs', 'state.open_bugs == 0'))

  it.each<[string, Reading]>([
    ['missing', { digest: null, value: null, problem: 'missing' }],
    ['unreadable', { digest: null, value: null, problem: 'unreadable' }],
    ['not_json', { digest: 'd', value: null, problem: 'not_json' }],
    ['no_field', { digest: 'd', value: null, problem: 'no_field' }],
    ['not_plain', { digest: 'd', value: null, problem: 'not_plain' }],
    ['no_field', { digest: 'd', value: null }],
    ['wrong_type', { digest: 'd', value: '0' }],
    ['wrong_type', { digest: 'd', value: false }],
    ['wrong_type', { digest: 'd', value: 0.5 }],
  ])('that gives no value (%s) closes the gate and says why', (problem, reading) => {
    const host = read(bugs().start(), reading)
    expect(host.status).toBe('BLOCKED')
    const finding = host.facts.find(({ type }) => type === 'flow_finding_v1')?.payload
    expect(finding).toMatchObject({
      code: 'flow.evidence_unreadable',
      edge_id: 'a>b',
      values: { path: 'qa.json', problem, next: 'writ flow answer r a unblock' },
    })
    host.verify()
  })

  it('opens the gate with a value of the right type, by the last name of its way', () => {
    const host = read(new Host(flow('summary.open_bugs', 'state.open_bugs == 0')).start(), {
      digest: 'd',
      value: 0,
    })
    expect(host.status).toBe('DONE')
    const closed = read(new Host(flow('summary.open_bugs', 'state.open_bugs == 0')).start(), {
      digest: 'd',
      value: 3,
    })
    expect([closed.status, closed.state.fields]).toEqual(['BLOCKED', { open_bugs: 3 }])
    closed.verify()
  })

  it.each<[number | string, string]>([
    [0.25, 'DONE'],
    [1, 'DONE'],
    [1.001, 'BLOCKED'],
    [-1, 'BLOCKED'],
    ['1', 'BLOCKED'],
  ])('may claim less time than the host measured, and no more: %s of 1 s', (value, status) => {
    const guard = 'state.cumulative_duration >= 1.0'
    const host = read(new Host(flow('cumulative_duration', guard)).start(), { digest: 'd', value })
    expect(host.status).toBe(status)
    if (status === 'BLOCKED') expect(host.findings[0]).toBe('flow.evidence_mismatch block')
    host.verify()
  })

  it('keeps the answers of a run by the first rules', () => {
    const open = read(bugs().startWith(FIRST), { digest: 'd', value: null })
    expect(open.status).toBe('DONE')
    open.verify()
    const guard = 'state.cumulative_duration >= 1.0'
    const host = new Host(flow('cumulative_duration', guard)).startWith(FIRST)
    expect(read(host, { digest: 'd', value: 0.25 }).status).toBe('BLOCKED')
    host.verify()
  })
})

describe('after a rejection', () => {
  const parts = {
    nodes: [work('a', { max_attempts: 3 }), check('c', 'a', { max_attempts: 9 }), node('b')],
    edges: [edge('a', 'c'), edge('c', 'b')],
  }
  // A reviewer that gives in when it is asked often enough.
  const weary = (attempt: number): Attempt => ({ score: attempt < 3 ? 10 : 95 })

  it('a NOOP is a failed attempt, and the same version is not reviewed again', () => {
    const script: Script = (id, attempt) =>
      id === 'c' ? weary(attempt) : attempt === 1 ? {} : { result: 'NOOP' }
    const host = new Host(parts, script).start().run()
    expect([host.status, host.entered]).toEqual(['WAITING', ['a', 'c', 'a', 'a']])
    expect(host.findings).toContain('flow.delta_missing rerun')
    host.verify()
  })

  it('a version that was rejected before is not reviewed again, with another one between', () => {
    const script: Script = (id, attempt) =>
      id === 'c' ? weary(attempt) : { content: attempt === 2 ? 'two' : 'one' }
    const host = new Host(parts, script).start().run()
    expect([host.status, host.entered]).toEqual(['WAITING', ['a', 'c', 'a', 'c', 'a']])
    expect(host.findings).toContain('flow.delta_missing rerun')
    host.verify()
  })

  it('a NOOP of a run by the first rules is reviewed as it was', () => {
    const script: Script = (id, attempt) =>
      id === 'c' ? weary(attempt) : attempt === 1 ? {} : { result: 'NOOP' }
    const host = new Host(parts, script).startWith(FIRST).run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'c', 'a', 'c', 'a', 'c', 'b']])
    host.verify()
  })

  it('a review of another task does not count', () => {
    const script: Script = (id) => (id === 'c' ? { taskId: 'some-other-artifact' } : {})
    const host = new Host(parts, script).start().run()
    expect([host.status, host.entered.includes('b')]).toEqual(['WAITING', false])
    expect(host.findings).toContain('flow.output_invalid rerun')
    host.verify()
  })
})

describe('text policies', () => {
  const said = (attempt: Attempt, parts: Partial<Flow> = {}): Host =>
    new Host({ nodes: [work('a', { max_attempts: 1 })], ...parts }, () => attempt).start().run()
  const dialog = 'The dialog asks 是否继续. Two eggs should be sufficient.'

  it('hold for what is said, and for artifacts only where the flow says so', () => {
    expect(said({ content: dialog }).status).toBe('DONE')
    expect(said({ message: dialog }).status).toBe('WAITING')
    const text_policies = [
      {
        policy_id: 'NO_ASK_TO_CONTINUE',
        applies_to: 'output' as const,
        patterns: ['weiter?'],
        violation_action: 'reject' as const,
        priority: 1,
      },
    ]
    expect(said({ content: dialog }, { text_policies }).status).toBe('WAITING')
  })

  it.each([
    'Shall I con\u200btinue?',
    'Shall\u00ad I\u2060 continue',
    'S\u0336h\u0336a\u0336ll I c\u034fontinue',
    '是\u200b否\ufe0f继续',
  ])('are not evaded by characters that show nothing: %j', (message) => {
    expect(said({ message }).findings[0]).toBe('flow.text_policy reject')
  })

  it('hold for a request for input, which is a question to a person', () => {
    const host = said({ result: 'NEEDS_INPUT', needs: 'Shall I continue?' })
    expect(host.findings[0]).toBe('flow.text_policy reject')
    expect(host.open.map((one) => (one.type === 'ask_human' ? one.why : one.type))).toEqual([
      'escalation',
    ])
    host.verify()
    expect(said({ result: 'NEEDS_INPUT' }).findings).toEqual([])
  })

  it('judge a run by the first rules as before', () => {
    const parts = { nodes: [work('a', { max_attempts: 1 })] }
    const host = new Host(parts, () => ({ content: dialog })).startWith(FIRST).run()
    expect(host.findings[0]).toBe('flow.text_policy reject')
    host.verify()
  })
})

describe('rounds', () => {
  const nodes = [work('a', { max_attempts: 9 }), node('b'), node('z')]
  const loop = (more: Partial<FlowEdge>): Partial<Flow> => ({
    nodes,
    edges: [edge('a', 'b'), edge('b', 'z'), edge('z', 'a', { class: 'Loop', ...more })],
  })
  const three = ['a', 'b', 'z', 'a', 'b', 'z', 'a', 'b', 'z']

  it.each<[string, Partial<FlowEdge>]>([
    ['no scope', {}],
    ['attempt', { guard_scope: 'attempt' }],
    ['Rollback', { class: 'Rollback' }],
  ])('are counted for the guard of a way back: %s', (_, more) => {
    const host = new Host(loop({ guard_expr: 'state.attempt_count < 3', ...more })).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', three])
    host.verify()
  })

  it('are counted for the ways on of the same node', () => {
    const edges = [
      edge('a', 'b'),
      edge('b', 'a', { class: 'Loop' }),
      edge('b', 'z', { guard_expr: 'state.attempt_count >= 3' }),
    ]
    const host = new Host({ nodes, edges }).start().run()
    expect([host.status, host.entered]).toEqual(['DONE', ['a', 'b', 'a', 'b', 'a', 'b', 'z']])
  })

  it('begin again for an inner loop when an outer one comes round', () => {
    const edges = [
      edge('a', 'b'),
      edge('b', 'b2'),
      edge('b2', 'b', { class: 'Loop', guard_expr: 'state.attempt_count < 2' }),
      edge('b2', 'z'),
      edge('z', 'a', { class: 'Loop', guard_expr: 'state.attempt_count < 2' }),
    ]
    const inner = [work('a'), work('b'), node('b2'), node('z')]
    const host = new Host({ nodes: inner, edges }).start().run()
    const round = ['a', 'b', 'b2', 'b', 'b2', 'z']
    expect([host.status, host.entered]).toEqual(['DONE', [...round, ...round]])
    host.verify()
  })

  it('count over the whole span where the guard names one', () => {
    const more = { guard_expr: 'state.attempt_count < 6', guard_scope: 'phase' as const }
    const host = new Host(loop(more)).start().run()
    expect(host.entered).toEqual(three.slice(0, 6))
  })

  it('of a run by the first rules are those of the node alone', () => {
    const host = new Host(loop({ guard_expr: 'state.attempt_count < 2' })).startWith(FIRST).run()
    expect(host.status).toBe('WAITING')
    host.verify()
  })
})

it('runs by every version of the rules so far can be replayed, and by no other', () => {
  const known = (name: string, version: string) => rulesNamed({ name, version }) !== null
  expect([known('flow', '1'), known('flow', FLOW_EVALUATOR.version)]).toEqual([true, true])
  const later = String(Number(FLOW_EVALUATOR.version) + 1)
  expect([known('flow', later), known('other', '1'), known('flow', 'x')]).toEqual([
    false,
    false,
    false,
  ])
})
