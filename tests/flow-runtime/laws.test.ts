/**
 * Laws of runs, over random flows and hosts that answer at random, late, twice or not at all: a state
 * is the fold of its facts, a run can be walked again, a step is total and leaves its state alone.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import {
  type FlowCommand,
  type FlowFact,
  foldFacts,
  outstanding,
  runStatus,
  step,
} from '../../src/flow/index.ts'
import { answerAny, attemptArbitrary, flowArbitrary } from '../arbitrary/flows.ts'
import { runs } from '../arbitrary/runs.ts'
import { edge, Host, node, work } from './host.ts'

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

const ON: ReadonlySet<string> = new Set(['Progress', 'Gate', 'Decision', 'Sync'])

/** Flows without conditions, so that runs of them come far. */
const openFlow = flowArbitrary.map(
  ({ nodes = [], edges = [] }): Partial<Flow> => ({
    nodes,
    edges: edges.map(({ edge_id, source, target, class: sort, join, group_id }) => ({
      ...edge(source, target, { edge_id, class: sort }),
      ...(join === undefined ? {} : { join }),
      ...(group_id === undefined ? {} : { group_id }),
    })),
  }),
)

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
      { numRuns: runs(200) },
    )
    // The dice reached more than the easy places.
    for (const word of ['DONE', 'BLOCKED', 'WAITING', 'FAILED', 'flow.guard_false rerun'])
      expect(seen).toContain(word)
  })

  it('cross the border of a phase after its floor and its log alone', () => {
    let crossed = 0
    fc.assert(
      fc.property(openFlow, fc.array(fc.nat(10_000), { maxLength: 60 }), (parts, dice) => {
        const host = new Host(parts, (id, attempt) => ({
          score: (attempt + id.charCodeAt(1)) % 4 === 0 ? 10 : 95,
          outcome: (attempt + id.charCodeAt(1)) % 5 === 0 ? 'failed' : 'ended',
          content: `${attempt}`,
        }))
        playRandomly(host, dice)
        const { early, count } = crossings(host)
        expect(early).toEqual([])
        crossed += count
      }),
      { numRuns: runs(200) },
    )
    expect(crossed).toBeGreaterThan(20)
  })

  it('enter nothing again that is done where nothing leads back', () => {
    const forward = openFlow.map(({ nodes = [], edges = [] }) => ({
      nodes: nodes.map(({ target: _, ...one }) =>
        one.kind === 'CHECK' ? work(one.node_id, { phase_id: one.phase_id }) : one,
      ),
      edges: edges.filter(({ class: sort }) => ON.has(sort)),
    }))
    fc.assert(
      fc.property(forward, fc.array(fc.nat(10_000), { maxLength: 50 }), (parts, dice) => {
        // Every other node fails once.
        const host = new Host(parts, (id, attempt) => ({
          outcome: id.charCodeAt(1) % 2 === 1 && attempt === 1 ? 'failed' : 'ended',
        }))
        // No die that lets a person run something again.
        const plain = dice.filter((die) => die % 13 !== 0)
        playRandomly(host, plain)
        expect(enteredAfterDone(host)).toEqual([])
      }),
      { numRuns: runs(200) },
    )
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
        const resumed = step(state, event)
        expect(resumed.commands).toEqual(resumed.isStale ? [] : outstanding(host.state))
        expect(runStatus(resumed.state)).toBe(host.status)
      }),
      { numRuns: runs(100) },
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
      { numRuns: runs(50) },
    )
  })
})

/** The edges that lead on and fired before the phases behind them had their time and their log. */
function crossings(host: Host): { readonly early: readonly string[]; readonly count: number } {
  const nodes = new Map(host.flow.document.nodes.map((one) => [one.node_id, one]))
  const edges = new Map(host.flow.document.edges.map((one) => [one.edge_id, one]))
  const phaseOf = (id: string): string => nodes.get(id)?.phase_id ?? ''
  const floors = new Map<string, number>()
  for (const { phase_id, minimum_duration } of nodes.values())
    floors.set(phase_id, (floors.get(phase_id) ?? 0) + (minimum_duration ?? 0))
  const seconds = new Map<string, number>()
  const logged = new Set<string>()
  const early: string[] = []
  let count = 0
  for (const { type, payload } of host.facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'event' && payload.event.type === 'attempt_ended') {
      const phase = phaseOf(payload.event.node_id)
      seconds.set(phase, (seconds.get(phase) ?? 0) + payload.event.seconds)
    }
    if (payload.kind === 'event' && payload.event.type === 'log_written')
      if (payload.event.digest !== null) logged.add(payload.event.phase_id)
    if (payload.kind !== 'fired') continue
    const way = edges.get(payload.edge_id)
    const source = nodes.get(way?.source ?? '')
    if (way === undefined || source === undefined || !ON.has(way.class)) continue
    // A goal is reached through its candidates.
    if (source.kind === 'GOAL' && way.group_id !== undefined) continue
    const judged = source.kind === 'CHECK' ? source.target : undefined
    const isReview = judged !== undefined && nodes.get(way.target)?.target === judged
    const behind = [way.source, ...(judged === undefined || isReview ? [] : [judged])]
    for (const phase of new Set(behind.map(phaseOf))) {
      if (phase === phaseOf(way.target)) continue
      count += 1
      if ((seconds.get(phase) ?? 0) < (floors.get(phase) ?? 0) || !logged.has(phase))
        early.push(`${payload.edge_id} at ${payload.seq}`)
    }
  }
  return { early, count }
}

function enteredAfterDone(host: Host): readonly string[] {
  const done = new Set<string>()
  const again: string[] = []
  for (const { type, payload } of host.facts) {
    if (type !== 'flow_event_v1') continue
    if (payload.kind === 'entered' && done.has(payload.node_id)) again.push(payload.node_id)
    if (payload.kind !== 'status') continue
    if (payload.status === 'done') done.add(payload.node_id)
    else done.delete(payload.node_id)
  }
  return again
}

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
  ])(
    'are walked to the end: %s',
    (_, make) => {
      const host = new Host(make(60_000))
      host.start()
      for (let next = 0; next < host.open.length; next++)
        host.answer(host.open[next] as FlowCommand)
      expect(host.status).toBe('DONE')
    },
    90_000,
  )
})
