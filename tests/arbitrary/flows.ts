/** Flows, and what participants and people do in them. */
import fc from 'fast-check'
import { EDGE_CLASSES, type Flow, type FlowEdge, type FlowNode } from '../../src/contracts/index.ts'
import type { FlowCommand } from '../../src/flow/index.ts'
import { type Attempt, check, edge, type Host, node, work } from '../flow-runtime/host.ts'

const GUARDS = [
  undefined,
  'state.tool_calls > 0',
  'state.attempt_count < 3',
  'state.score >= 90',
  "state.validator_verdict != 'REJECT'",
  'state.phase_completed',
  'state.cumulative_duration >= state.minimum_duration',
  'false',
]

const nodeArbitrary = fc.record({
  sort: fc.constantFrom('bare', 'work', 'check', 'goal'),
  phase: fc.nat(2),
  subphase: fc.option(fc.nat(2)),
  attempts: fc.integer({ min: 1, max: 3 }),
  floor: fc.constantFrom(0, 0, 2),
  target: fc.nat(),
  isHuman: fc.constantFrom(false, false, false, true),
})

const edgeArbitrary = fc.record({
  source: fc.nat(),
  target: fc.nat(),
  class: fc.constantFrom('Progress' as const, 'Progress' as const, ...EDGE_CLASSES),
  guard: fc.constantFrom(...GUARDS),
  scope: fc.constantFrom(undefined, 'attempt', 'subphase', 'phase', 'global'),
  fail: fc.constantFrom(undefined, 'block', 'reroute', 'rerun', 'escalate'),
  join: fc.constantFrom(undefined, 'AND', 'OR'),
  group: fc.constantFrom(undefined, undefined, 'g'),
  evidence: fc.boolean(),
  trust: fc.boolean(),
})

/** Flows of every shape that the contract admits, sensible or not. */
export const flowArbitrary = fc
  .record({
    nodes: fc.array(nodeArbitrary, { minLength: 1, maxLength: 6 }),
    edges: fc.array(edgeArbitrary, { maxLength: 9 }),
  })
  .map(({ nodes, edges }): Partial<Flow> => {
    const works = nodes.flatMap(({ sort }, index) => (sort === 'work' ? [`n${index}`] : []))
    const made = nodes.map(
      ({ sort, phase, subphase, attempts, floor, target, isHuman }, index): FlowNode => {
        const more = {
          phase_id: `P${phase}`,
          ...(subphase === null ? {} : { subphase_id: `S${phase}${subphase}` }),
          max_attempts: attempts,
          ...(floor === 0 ? {} : { minimum_duration: floor }),
        }
        if (sort === 'check' && works.length > 0)
          return check(`n${index}`, works[target % works.length] ?? '', {
            ...more,
            ...(isHuman ? { reviewer: { human: true as const } } : {}),
          })
        if (sort === 'goal') return node(`n${index}`, { kind: 'GOAL', ...more })
        return sort === 'work' ? work(`n${index}`, more) : node(`n${index}`, more)
      },
    )
    return { nodes: made, edges: edges.map((one, index) => edgeOf(one, index, nodes.length)) }
  })

type EdgeParts = typeof edgeArbitrary extends fc.Arbitrary<infer T> ? T : never

function edgeOf(parts: EdgeParts, index: number, count: number): FlowEdge {
  const { guard, scope, fail, join, group, evidence, trust } = parts
  const made = edge(`n${parts.source % count}`, `n${parts.target % count}`, {
    edge_id: `E${index}`,
    class: parts.class,
  })
  return {
    ...made,
    ...(guard === undefined ? {} : { guard_expr: guard }),
    ...(scope === undefined ? {} : { guard_scope: scope as 'phase' }),
    ...(fail === undefined ? {} : { on_guard_fail: fail as 'block' }),
    ...(join === undefined || parts.class !== 'Sync' ? {} : { join: 'OR' as const }),
    ...(join !== 'AND' || parts.class === 'Sync' ? {} : { join: 'AND' as const }),
    ...(group === undefined ? {} : { group_id: group }),
    ...(evidence && guard !== undefined ? { guard_evidence_source: 'x.json:tool_calls' } : {}),
    ...(trust ? { trust_requirement: 'independent_verification_required' as const } : {}),
  }
}

export const wayArbitrary = fc.record({
  source: fc.nat(),
  target: fc.nat(),
  sort: fc.constantFrom(
    ...(['on', 'on', 'closed', 'decision', 'decision', 'choice', 'sync', 'any', 'join'] as const),
    ...(['out', 'no'] as const),
    ...(['loop', 'loop', 'rollback', 'free loop', 'free rollback', 'rerun'] as const),
  ),
})

/**
 * Flows that come far: a chain of work and its CHECK nodes to one or two goals, over up to three phases, with
 * further ways on, decisions, alternatives, joins, ways out of failures, ways back and reruns of phases.
 */
export const walkableFlow = fc
  .record({
    nodes: fc.array(
      fc.record({ sort: fc.constantFrom('work', 'work', 'bare', 'check'), phase: fc.nat(2) }),
      { minLength: 3, maxLength: 6 },
    ),
    goals: fc.integer({ min: 1, max: 2 }),
    ways: fc.array(wayArbitrary, { minLength: 1, maxLength: 5 }),
  })
  .map(({ nodes, goals, ways }): Partial<Flow> => {
    const made: FlowNode[] = []
    for (const [index, { sort, phase }] of nodes.entries()) {
      const phase_id = `P${phase}`
      const judged = made.findLast(({ executor }) => executor !== undefined)
      const id = `n${index}`
      if (sort === 'check' && judged !== undefined)
        made.push(check(id, judged.node_id, { phase_id, max_attempts: 2 }))
      else made.push((sort === 'bare' ? node : work)(id, { phase_id, max_attempts: 2 }))
    }
    const chain = made
      .slice(1)
      .map(({ node_id }, index) => edge(made[index]?.node_id ?? '', node_id))
    for (let index = 0; index < goals; index++)
      made.push(node(`g${index}`, { kind: 'GOAL', phase_id: 'PG', max_attempts: 2 }))
    const last = edge(`n${nodes.length - 1}`, 'g0')
    const more = ways.map((way, index) => wayOf(made, way, index))
    return { nodes: made, edges: [...chain, last, ...more] }
  })

/**
 * The same with a CHECK that one or two of the nodes call, a second one or a WORK node that is called too, and
 * with a map in the place of one node.
 */
export const callingFlow = fc
  .record({
    parts: walkableFlow,
    callers: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
    sort: fc.constantFrom('Gate' as const, 'Progress' as const),
    phase: fc.constantFrom('P0', 'PC'),
    second: fc.constantFrom(null, null, 'CHECK' as const, 'WORK' as const),
    mapped: fc.option(fc.nat()),
    minimum: fc.constantFrom(undefined, 1),
  })
  .map(({ parts, callers, sort, phase, second, mapped, minimum }): Flow => {
    const { nodes = [], edges = [] } = parts
    const works = nodes.filter(({ executor }) => executor !== undefined)
    const at = (place: number): string => works[place % works.length]?.node_id ?? ''
    const sources = works.length === 0 ? [] : [...new Set(callers.map(at))]
    const list = mapped === null || works.length === 0 ? '' : at(mapped)
    const map = { items: ['x', 'y'], ...(minimum === undefined ? {} : { minimum }) }
    const called = { call: true as const, phase_id: phase }
    const gate = (id: string) =>
      node(id, { kind: 'CHECK', ...called, reviewer: { command: [id] }, actor: 'validator' })
    const others =
      second === null ? [] : [second === 'CHECK' ? gate('k2') : work('w2', { ...called })]
    const gates = [gate('k'), ...others]
    return {
      type: 'flow_v1',
      flow_id: 'f',
      title: '',
      nodes: [
        ...nodes.map((one) =>
          one.node_id === list && !sources.includes(list) ? { ...one, map } : one,
        ),
        ...gates,
      ],
      edges: [
        ...edges,
        ...gates.flatMap(({ node_id }) =>
          sources.map((source) =>
            edge(source, node_id, { edge_id: `${node_id}:${source}`, class: sort }),
          ),
        ),
      ],
    }
  })

export function wayOf(
  nodes: readonly FlowNode[],
  { source, target, sort }: typeof wayArbitrary extends fc.Arbitrary<infer T> ? T : never,
  index: number,
): FlowEdge {
  const ends = [source % nodes.length, target % nodes.length].sort((one, other) => one - other)
  const isBack = /loop|rollback/.test(sort)
  const [from = 0, to = 0] = isBack ? ends.reverse() : ends
  const id = (place: number): string => nodes[place]?.node_id ?? ''
  const classes = {
    decision: 'Decision',
    choice: 'Decision',
    sync: 'Sync',
    any: 'Sync',
    out: 'Exception',
    no: 'Exception',
  } as const
  const forward = classes[sort as keyof typeof classes] ?? 'Progress'
  const back = sort.endsWith('loop') ? 'Loop' : 'Rollback'
  const guards: Record<string, string> = {
    closed: 'false',
    decision: index % 2 === 0 ? 'state.attempt_count < 2' : 'state.attempt_count >= 2',
    loop: 'state.attempt_count < 2',
    rollback: 'state.attempt_count < 2',
    rerun: 'state.cumulative_duration >= 4.0',
  }
  const guard_expr = guards[sort]
  return edge(id(from), id(to), {
    edge_id: `W${index}`,
    class: isBack ? back : forward,
    ...(guard_expr === undefined ? {} : { guard_expr }),
    ...(sort === 'choice' ? { group_id: 'k' } : {}),
    ...(sort === 'no' ? { on: 'reject' } : {}),
    ...(sort === 'any' ? { join: 'OR' } : sort === 'join' ? { join: 'AND' } : {}),
    ...(sort === 'rerun' ? { guard_scope: 'phase', on_guard_fail: 'rerun' } : {}),
  })
}

/** What participants do, in all the ways in which they may fail. */
export const attemptArbitrary: fc.Arbitrary<Attempt> = fc.record(
  {
    tools: fc.nat(2),
    blocked: fc.boolean(),
    outcome: fc.constantFrom('ended', 'ended', 'ended', 'failed', 'unreachable'),
    result: fc.constantFrom('ARTIFACT', 'ARTIFACT', 'NOOP', 'NEEDS_INPUT', 'ERROR'),
    content: fc.constantFrom('one', 'two', 'three'),
    score: fc.constantFrom(10, 95, 95),
    action: fc.constantFrom('APPROVE', 'MODIFY', 'REQUEST_EXTERNAL_INPUT'),
    stage: fc.constantFrom('m1', 'm2', null),
    claims: fc.constantFrom([], ['C']),
    invalid: fc.nat(5),
  },
  { requiredKeys: [] },
)

/** Answers a command; what the usual host leaves to people is decided by the dice. */
export function answerAny(host: Host, command: FlowCommand, dice: number): void {
  const to = { command: command.command }
  if (command.type === 'ask_human') {
    const answer = (['retry', 'abandon', 'provided'] as const)[dice % 3] ?? 'abandon'
    host.send({ type: 'human_answer', node_id: command.node_id, ...to, answer, principal: 'h' })
  } else if (command.type === 'read_evidence') {
    const readings = command.sources.map(({ edge_id }) => ({
      edge_id,
      digest: 'd',
      value: dice % 2,
    }))
    host.send({ type: 'evidence_read', node_id: command.node_id, ...to, readings })
  } else if (command.type === 'promote' && dice % 5 === 0) {
    const manifest = dice % 2 === 0 ? command.manifest : 'otherwise'
    const action_id = dice % 3 === 0 ? null : `act ${command.command}`
    host.send({ type: 'promoted', node_id: command.node_id, ...to, action_id, manifest })
  } else if (command.type === 'roll_back' && dice % 5 === 0) {
    host.send({ type: 'rolled_back', node_id: command.node_id, ...to, is_restored: false })
  } else if (command.type === 'write_log' && dice % 7 === 0) {
    host.send({ type: 'log_written', phase_id: command.phase_id, ...to, digest: null })
  } else host.answer(command)
}
