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
import { edge, Host, node } from './host.ts'

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
      { numRuns: runs(200) },
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
