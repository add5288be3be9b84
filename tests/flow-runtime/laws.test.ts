/**
 * Laws of runs, over random flows and hosts that answer at random, late, twice or not at all: a state
 * is the fold of its facts, a run can be walked again, a step is total and leaves its state alone.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EDGE_CLASSES, type Flow, type FlowEdge, type FlowNode } from '../../src/contracts/index.ts'
import {
  type FlowCommand,
  type FlowFact,
  foldFacts,
  outstanding,
  runStatus,
  step,
} from '../../src/flow/index.ts'
import { type Attempt, check, edge, Host, node, work } from './host.ts'

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
})

const edgeArbitrary = fc.record({
  source: fc.nat(),
  target: fc.nat(),
  class: fc.constantFrom('Progress' as const, 'Progress' as const, ...EDGE_CLASSES),
  guard: fc.constantFrom(...GUARDS),
  scope: fc.constantFrom(undefined, 'attempt', 'subphase', 'phase', 'global'),
  fail: fc.constantFrom(undefined, 'block', 'reroute', 'rerun', 'escalate'),
  join: fc.constantFrom(undefined, 'AND'),
  group: fc.constantFrom(undefined, undefined, 'g'),
  evidence: fc.boolean(),
  trust: fc.boolean(),
})

const flowArbitrary = fc
  .record({
    nodes: fc.array(nodeArbitrary, { minLength: 1, maxLength: 6 }),
    edges: fc.array(edgeArbitrary, { maxLength: 9 }),
  })
  .map(({ nodes, edges }): Partial<Flow> => {
    const works = nodes.flatMap(({ sort }, index) => (sort === 'work' ? [`n${index}`] : []))
    const made = nodes.map(
      ({ sort, phase, subphase, attempts, floor, target }, index): FlowNode => {
        const more = {
          phase_id: `P${phase}`,
          ...(subphase === null ? {} : { subphase_id: `S${phase}${subphase}` }),
          max_attempts: attempts,
          ...(floor === 0 ? {} : { minimum_duration: floor }),
        }
        if (sort === 'check' && works.length > 0)
          return check(`n${index}`, works[target % works.length] ?? '', more)
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
    ...(join === undefined || parts.class === 'Sync' ? {} : { join: 'AND' as const }),
    ...(group === undefined ? {} : { group_id: group }),
    ...(evidence && guard !== undefined ? { guard_evidence_source: 'x.json:tool_calls' } : {}),
    ...(trust ? { trust_requirement: 'independent_verification_required' as const } : {}),
  }
}

const attemptArbitrary: fc.Arbitrary<Attempt> = fc.record(
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
function answerAny(host: Host, command: FlowCommand, dice: number): void {
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

function playRandomly(host: Host, dice: readonly number[]): void {
  host.start()
  for (const die of dice) {
    if (die % 11 === 0) host.send({ type: 'tick' })
    if (die % 13 === 0)
      host.send({ type: 'unblocked', node_id: `n${die % host.flow.nodes.length}`, principal: 'h' })
    if (die % 17 === 0) {
      const digest = `sha256:${'e'.repeat(64)}`
      const evidence = {
        evidence_id: 'E',
        claim_id: 'C',
        actor: 'x',
        digest,
        supports: die % 2 === 0,
      }
      host.send({ type: 'evidence', evidence, principal: `p${die % 3}`, participant: null })
    }
    const [command] = host.open.splice(die % Math.max(host.open.length, 1), 1)
    if (command === undefined) continue
    answerAny(host, command, die)
  }
}

describe('runs', () => {
  const seen = new Set<string>()

  it('are the fold of their facts, and walk again to the same facts', () => {
    fc.assert(
      fc.property(
        flowArbitrary,
        fc.array(attemptArbitrary, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(10_000), { maxLength: 50 }),
        (parts, attempts, dice) => {
          const host = new Host(parts, (_, attempt) => attempts[attempt % attempts.length] ?? {})
          playRandomly(host, dice)
          host.verify()
          seen.add(runStatus(host.state))
          for (const finding of host.findings) seen.add(finding)
        },
      ),
      { numRuns: 200 },
    )
    // The dice reached more than the easy places.
    for (const word of ['DONE', 'BLOCKED', 'WAITING', 'FAILED', 'flow.guard_false rerun'])
      expect(seen).toContain(word)
  })

  it('go on after any fact as if nothing had happened: what is outstanding is in the facts', () => {
    fc.assert(
      fc.property(flowArbitrary, fc.nat(), (parts, cut) => {
        const host = new Host(parts).start()
        for (let count = cut % 12; count > 0; count--) {
          const command = host.open.shift()
          if (command !== undefined) answerAny(host, command, 1)
        }
        const kept = JSON.parse(JSON.stringify(host.facts)) as FlowFact[]
        const state = foldFacts(host.flow, kept)
        const event = {
          type: 'resumed' as const,
          manifests: manifestsOf(host),
          at: 'x',
          nonce: 'y',
        }
        const resumed = step(host.flow, state, event)
        expect(resumed.commands).toEqual(resumed.isStale ? [] : outstanding(host.state))
        expect(runStatus(resumed.state)).toBe(host.status)
      }),
      { numRuns: 100 },
    )
  })

  it('never change the state that a step was given', () => {
    fc.assert(
      fc.property(flowArbitrary, fc.array(fc.nat(10_000), { maxLength: 12 }), (parts, dice) => {
        const host = new Host(parts)
        const states = [host.state]
        const copies = [structuredClone(host.state)]
        host.start()
        for (const die of dice) {
          states.push(host.state)
          copies.push(structuredClone(host.state))
          const command = host.open.shift()
          if (command !== undefined) answerAny(host, command, die)
        }
        expect(states).toEqual(copies)
      }),
      { numRuns: 50 },
    )
  })
})

function manifestsOf(host: Host): Record<string, string> {
  return Object.fromEntries(host.flow.subphases.map(({ name }) => [name, `manifest-${name}`]))
}

describe('large flows', () => {
  const chain = (count: number): Partial<Flow> => ({
    nodes: Array.from({ length: count }, (_, index) => node(`n${index}`)),
    edges: Array.from({ length: count - 1 }, (_, index) =>
      edge(`n${index}`, `n${index + 1}`, { guard_expr: 'state.attempt_count >= 1' }),
    ),
  })
  const star = (count: number): Partial<Flow> => ({
    nodes: [
      ...Array.from({ length: count }, (_, index) => node(`n${index}`)),
      node('end', { kind: 'GOAL' }),
    ],
    edges: Array.from({ length: count }, (_, index) =>
      edge(`n${index}`, 'end', { class: 'Sync', join: 'AND' }),
    ),
  })

  it.each([
    ['a chain', chain],
    ['a star', star],
  ])('are walked to the end: %s', (_, make) => {
    const host = new Host(make(60_000))
    host.start()
    for (let next = 0; next < host.open.length; next++) host.answer(host.open[next] as FlowCommand)
    expect(host.status).toBe('DONE')
  })
})
