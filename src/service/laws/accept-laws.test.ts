/** Overrides are bounded when they are given: by number, by time, by the tier of the law. */
import { describe, expect, it } from 'vitest'
import { FaultError } from '../../base/index.ts'
import { StandingFold } from '../../gate/index.ts'
import { overrideFact, refuseLaw } from './accept-laws.ts'

const NOON = Date.parse('2026-11-15T12:00:00Z')
const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const INTENT = `sha256:${'a'.repeat(64)}`

function standing(): StandingFold {
  const fold = new StandingFold({ confirmationMs: 1, cooldownMs: 1 })
  const payload = {
    evaluator: { name: 'gate', version: '3' },
    action_id: ID,
    proposal_digest: 'sha256:p',
    intent: INTENT,
    operation_digest: 'sha256:o',
    law_outcomes: [],
    violations: [],
    obstacles: [],
    host: { now_ms: NOON },
  }
  const principal = { kind: 'human', id: 'ann', namespace: 'local' } as const
  const occurredAt = '2026-11-15T12:00:00Z'
  fold.take({ type: 'evaluation_v1', payload, occurredAt, seq: 0, principal })
  return fold
}

const LAW = {
  kind: 'law',
  policyId: 'NO',
  actionId: null,
  forMs: null,
  uses: 1,
  reason: 'x',
} as const

describe('an override of a law', () => {
  it('for a time ends then, and counts once', () => {
    const made = overrideFact({ ...LAW, forMs: 60_000 }, standing(), NOON)
    expect(made).toMatchObject({ uses: 1, expires_at: '2026-11-15T12:01:00.000Z' })
    expect(made).not.toHaveProperty('intent')
  })

  it('for an action is bound to its intent, and ends within a day', () => {
    const made = overrideFact({ ...LAW, actionId: ID, uses: 3 }, standing(), NOON)
    expect(made).toMatchObject({
      action_id: ID,
      intent: INTENT,
      uses: 3,
      expires_at: '2026-11-16T12:00:00.000Z',
    })
  })

  it('for an action and a time has both bounds', () => {
    const made = overrideFact({ ...LAW, actionId: ID, forMs: 1_000 }, standing(), NOON)
    expect(made).toMatchObject({ intent: INTENT, expires_at: '2026-11-15T12:00:01.000Z' })
  })

  it('for an unknown action is refused', () => {
    const other = '11111111-1111-4111-8111-111111111111'
    expect(() => overrideFact({ ...LAW, actionId: other }, standing(), NOON)).toThrow(FaultError)
  })
})

describe('a law that a human sets aside', () => {
  const laws = [
    { policyId: 'NEVER', tier: 0 },
    { policyId: 'NO_CRITICAL', tier: 1 },
    { policyId: 'ASK', tier: 2 },
  ] as const

  it.each([
    ['NEVER', 'override.tier'],
    ['ASK', 'override.tier'],
    ['NO_CRITICALS', 'override.unknown_law'],
  ])('%s is refused as %s', (policyId, code) => {
    expect(() => refuseLaw(policyId, laws)).toThrow(code)
  })

  it('of tier 1 is taken', () => {
    expect(() => refuseLaw('NO_CRITICAL', laws)).not.toThrow()
  })
})
