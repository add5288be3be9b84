/** The risk of a network: HIGH by its declaration; what laws weigh when a run only read. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type {
  Evaluation,
  NetworkConnection,
  Proposal,
  SandboxResult,
} from '../../contracts/index.ts'
import { riskAfterRun, riskFloor } from './risk.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8'))

function networked(): Proposal {
  const proposal = structuredClone(bases.proposal) as Proposal
  proposal.descriptor.scope.network = { required: true, hosts: ['a.test'] }
  proposal.descriptor.effects.network = true
  return proposal
}

const host = (bases.whole as Evaluation).host

function weighed(
  network: readonly NetworkConnection[],
  declared: Evaluation['risk']['declared'] = 'MEDIUM',
  more: Partial<SandboxResult> = {},
) {
  const result = { ...(bases.result as SandboxResult), ...more }
  const seen = { ...result, side_effects: { ...result.side_effects, network: [...network] } }
  return riskAfterRun(networked(), host, { declared, floor: 'HIGH', effective: 'HIGH' }, seen)
}

const ROW = { host: 'a.test', port: 443, bytes_sent: 1, bytes_received: 1 } as const

describe('a network', () => {
  it('makes a proposal HIGH, no matter what it says', () => {
    expect(riskFloor(networked(), host)).toBe('HIGH')
    expect(riskFloor(bases.proposal, host)).not.toBe('HIGH')
  })

  it('that only read is no reason for laws to ask', () => {
    expect(weighed([])).toBe('MEDIUM')
    expect(weighed([{ ...ROW, outcome: 'passed' }])).toBe('MEDIUM')
  })

  it('that did more, or was refused, is', () => {
    expect(weighed([{ ...ROW, outcome: 'passed', released: true }])).toBe('HIGH')
    expect(weighed([{ ...ROW, outcome: 'refused', code: 'network.host' }])).toBe('HIGH')
  })

  it('does not hide other reasons', () => {
    expect(weighed([], 'HIGH')).toBe('HIGH')
    const findings = [{ code: 'effect.deferred_execution', path: '/w/.git/hooks/x' }]
    expect(weighed([], 'LOW', { findings })).toBe('HIGH')
  })
})
