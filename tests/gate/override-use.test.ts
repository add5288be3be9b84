/** The last use of an override is had once, however many ask for it at the same moment. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Evaluation } from '../../src/contracts/index.ts'
import type { LedgerView } from '../../src/service/records/ledger-view.ts'
import { recordUse, usesOverride } from '../../src/service/records/override-use.ts'
import { useLedgerView } from './ledger-view.ts'

const OVERRIDE = '0197f2a4-7c11-4d3e-8a55-0c4e2b9d6f01'
const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8'))

const { ledger, view } = useLedgerView('override-use')

function evaluation(id: string): Evaluation {
  const law = { policy_id: 'NO', tier: 1, action: 'block', state: 'broken' }
  return {
    ...bases.whole,
    action_id: id,
    basis: {
      actor: 'ann',
      machine: 'box',
      home: '/home/ann',
      recent_rollbacks: 0,
      overrides: [{ override_id: OVERRIDE, policy_id: 'NO' }],
      facts_seen: { host: 0, stream: 0 },
    },
    law_outcomes: [{ ...law, reads_result: false, overridden: true }],
  }
}

function records(id: string) {
  const judged = evaluation(id)
  const { proposal_digest, result_digest } = judged
  const decision = {
    action_id: id,
    proposal_digest,
    result_digest,
    decision: 'PROMOTE',
    code: 'promote.ok',
    codes: ['promote.ok'],
    permanent: false,
    law_refs: ['NO'],
    decided_at: '2026-11-15T08:00:04Z',
  }
  return [
    { type: 'evaluation_v1', payload: judged, key: `evaluation/${id}` },
    { type: 'decision_v1', payload: decision, key: `decision/${id}` },
  ]
}

async function give(uses: number): Promise<void> {
  const payload = {
    override_id: OVERRIDE,
    kind: 'law',
    policy_id: 'NO',
    uses,
    reason: 'x',
    given_at: '2026-11-15T07:00:00Z',
    expires_at: '2026-11-15T09:00:00Z',
  }
  await view().record([{ type: 'override_v1', payload, key: 'override' }])
}

const IDS = Array.from({ length: 6 }, (_, index) => `1111111${index}-1111-4111-8111-111111111111`)

it.each([1, 3])('of %i uses, as many are had', async (uses) => {
  await give(uses)
  const views = IDS.map(view)
  // All of them have seen the override in force before anyone uses it.
  for (const each of views) await each.standing()
  const had = await Promise.all(
    IDS.map((id, index) => recordUse(views[index] as LedgerView, records(id), evaluation(id))),
  )
  expect(had.filter(Boolean)).toHaveLength(uses)
  const { facts } = await ledger().store.find({
    stream: 'main',
    type: 'decision_v1',
    limit: 100,
    order: 'oldest_first',
  })
  expect(facts).toHaveLength(uses)
})

it('is asked for only by acts that rest on one', () => {
  expect(usesOverride(evaluation(IDS[0] ?? ''))).toBe(true)
  expect(usesOverride({ ...evaluation(IDS[0] ?? ''), law_outcomes: [] })).toBe(false)
})
