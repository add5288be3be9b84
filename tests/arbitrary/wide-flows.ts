/**
 * Flows with everything at once: chains of work with one or several CHECK nodes, calls of CHECK and WORK nodes
 * with repairs behind them, maps, sub-flows, joins, decisions, alternatives, ways out and back, phases, and
 * edges whose controls never open.
 */
import fc from 'fast-check'
import type { Flow, FlowEdge, FlowNode } from '../../src/contracts/index.ts'
import { inlineFlows } from '../../src/flow/index.ts'
import { check, edge, node, work } from '../flow-runtime/host.ts'
import { wayArbitrary, wayOf } from './flows.ts'

const HEAD = { type: 'flow_v1' as const, flow_id: 'f', title: '' }

const callArbitrary = fc.record({
  kind: fc.constantFrom('CHECK' as const, 'CHECK' as const, 'WORK' as const),
  phase: fc.constantFrom('P0', 'P1', 'PC'),
  callers: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
  sort: fc.constantFrom('Gate' as const, 'Progress' as const),
  behind: fc.constantFrom('nothing', 'nothing', 'work', 'judged', 'repair', 'judged repair'),
  behindPhase: fc.constantFrom('P0', 'P1', 'PC', 'PD'),
  back: fc.constantFrom('none', 'none', 'loop', 'free loop', 'free rollback', 'own loop'),
  out: fc.constantFrom(false, false, true),
})

type Call = typeof callArbitrary extends fc.Arbitrary<infer T> ? T : never

interface Parts {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}

/** A node that is called, what lies behind it, and the ways of its callers. */
function calledParts(call: Call, place: number, works: readonly FlowNode[]): Parts {
  const { kind, phase: phase_id, callers, sort, behind, behindPhase, back, out } = call
  const [id, after, judge] = [`k${place}`, `r${place}`, `j${place}`]
  const called = { call: true as const, phase_id, max_attempts: 2 }
  const gate = node(id, { kind: 'CHECK', ...called, reviewer: { command: [id] } })
  const sources = [...new Set(callers.map((at) => works[at % works.length]?.node_id ?? ''))]
  const isRepair = behind.endsWith('repair')
  const more = { phase_id: behindPhase, max_attempts: 2 }
  const way = isRepair ? { class: 'Exception' as const, on: 'reject' as const } : {}
  const isGuarded = back === 'loop'
  const from = back === 'own loop' || behind === 'nothing' ? id : after
  const isOwn = from === id
  const target = isOwn ? (sources[0] ?? '') : id
  return {
    nodes: [
      kind === 'CHECK' ? gate : work(id, called),
      ...(behind === 'nothing' ? [] : [work(after, more)]),
      ...(behind.startsWith('judged') ? [check(judge, after, { phase_id, max_attempts: 2 })] : []),
    ],
    edges: [
      ...sources.map((source) => edge(source, id, { edge_id: `${id}:${source}`, class: sort })),
      ...(behind === 'nothing' ? [] : [edge(id, after, way)]),
      ...(behind.startsWith('judged') ? [edge(after, judge)] : []),
      ...(back === 'none'
        ? []
        : [
            edge(from, target, {
              edge_id: `B${place}`,
              class: back === 'free rollback' ? 'Rollback' : 'Loop',
              ...(isGuarded ? { guard_expr: 'state.attempt_count < 2' } : {}),
            }),
          ]),
      ...(out && sources[0] !== undefined
        ? [edge(sources[0], 'g0', { edge_id: `O${place}`, class: 'Exception', on: 'reject' })]
        : []),
    ],
  }
}

const CHILDREN: readonly Flow[] = [
  {
    ...HEAD,
    nodes: [work('w'), check('c', 'w'), node('end', { kind: 'GOAL' })],
    edges: [edge('w', 'c'), edge('c', 'end')],
  },
  {
    ...HEAD,
    nodes: [work('w'), work('v', { phase_id: 'Q' }), node('end', { kind: 'GOAL', phase_id: 'Q' })],
    edges: [
      edge('w', 'v'),
      edge('v', 'end'),
      edge('v', 'w', { class: 'Loop', guard_expr: 'state.attempt_count < 2' }),
    ],
  },
  {
    ...HEAD,
    nodes: [work('w'), work('v'), check('c', 'v'), node('end', { kind: 'GOAL' })],
    edges: [
      edge('w', 'end', { class: 'Sync', join: 'AND' }),
      edge('v', 'c'),
      edge('c', 'end', { class: 'Sync', join: 'AND' }),
      edge('c', 'w', { class: 'Rollback' }),
    ],
  },
]

/** What never lets an edge pass: a policy that blocks, and an invariant that is never kept. */
export const CLOSED = { policy: 'STOP', invariant: 'NEVER' } as const

const STOP: NonNullable<Flow['policies']>[number] = {
  policy_id: CLOSED.policy,
  policy_expr: 'true',
  priority: 1,
  override_mode: 'merge',
  violation_action: 'block',
}
const NEVER: NonNullable<Flow['invariants']>[number] = {
  invariant_id: CLOSED.invariant,
  invariant_expr: 'false',
  check_timing: 'on_transition',
  severity: 'high',
  fail_action: 'block',
}

/** Controls that some edge names: others would be judged at every transition. */
function controlsOf(edges: readonly FlowEdge[]): Pick<Flow, 'policies' | 'invariants'> {
  const isStopped = edges.some(({ policy_refs = [] }) => policy_refs.length > 0)
  const isNever = edges.some(({ audit_invariant_refs = [] }) => audit_invariant_refs.length > 0)
  return {
    ...(isStopped ? { policies: [STOP] } : {}),
    ...(isNever ? { invariants: [NEVER] } : {}),
  }
}

/** How some of the further ways are closed. */
const CLOSINGS = [
  {},
  {},
  {},
  { policy_refs: [CLOSED.policy] },
  { audit_invariant_refs: [CLOSED.invariant] },
  { trust_requirement: 'independent_verification_required' as const },
  { class: 'Gate' as const },
]

const nodeArbitrary = fc.record({
  sort: fc.constantFrom('work', 'work', 'work', 'bare', 'check', 'check', 'map', 'sub'),
  phase: fc.nat(2),
  target: fc.nat(2),
  child: fc.nat(2),
})

type NodeParts = typeof nodeArbitrary extends fc.Arbitrary<infer T> ? T : never

function nodesOf(parts: readonly NodeParts[]): readonly FlowNode[] {
  const made: FlowNode[] = []
  for (const [index, { sort, phase, target }] of parts.entries()) {
    const more = { phase_id: `P${phase}`, max_attempts: 2 }
    const works = made.filter(({ executor }) => executor !== undefined)
    const judged = works.at(-1 - (target % Math.max(1, works.length)))
    const id = `n${index}`
    if (sort === 'check' && judged !== undefined) made.push(check(id, judged.node_id, more))
    else if (sort === 'bare') made.push(node(id, more))
    else if (sort === 'sub') made.push(node(id, { ...more, flow: 'child' }))
    else made.push(work(id, { ...more, ...(sort === 'map' ? { map: { items: ['x', 'y'] } } : {}) }))
  }
  return made
}

export const wideFlow: fc.Arbitrary<Flow> = fc
  .record({
    nodes: fc.array(nodeArbitrary, { minLength: 2, maxLength: 6 }),
    goals: fc.integer({ min: 1, max: 2 }),
    ways: fc.array(fc.tuple(wayArbitrary, fc.constantFrom(...CLOSINGS)), { maxLength: 5 }),
    calls: fc.array(callArbitrary, { maxLength: 2 }),
  })
  .map(({ nodes: parts, goals, ways, calls }): Flow => {
    const made = nodesOf(parts)
    const chain = made.slice(1).map(({ node_id }, at) => edge(made[at]?.node_id ?? '', node_id))
    const ends = Array.from({ length: goals }, (_, at) =>
      node(`g${at}`, { kind: 'GOAL', phase_id: 'PG', max_attempts: 2 }),
    )
    const all = [...made, ...ends]
    const more = ways.map(([way, closing], at) => ({ ...wayOf(all, way, at), ...closing }))
    const works = made.filter(({ executor, map }) => executor !== undefined && map === undefined)
    const called = works.length === 0 ? [] : calls.map((call, at) => calledParts(call, at, works))
    const last = edge(`n${parts.length - 1}`, 'g0')
    const flow: Flow = {
      ...HEAD,
      ...controlsOf(more),
      nodes: [...all, ...called.flatMap(({ nodes }) => nodes)],
      edges: [...chain, last, ...more, ...called.flatMap(({ edges }) => edges)],
    }
    const children = parts.map(({ child }, at) => [`n${at}`, CHILDREN[child] ?? flow] as const)
    return inlineFlows(flow, new Map(children)).flow
  })
