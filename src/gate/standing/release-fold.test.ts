/** Releases as they stand after facts: for what, how long, and when they are used up. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Decision, Evaluation, Override } from '../../contracts/index.ts'
import { ReleaseFold } from './release-fold.ts'

const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const DIGEST = 'sha256:p'
const NOW = Date.parse('2026-11-15T09:00:00Z')

let fold: ReleaseFold
beforeEach(() => {
  fold = new ReleaseFold()
})

function released(more: Partial<Override> = {}): void {
  fold.takeOverride({
    override_id: 'o-1',
    kind: 'release',
    action_id: ID,
    proposal_digest: DIGEST,
    hosts: ['api.test'],
    methods: ['POST'],
    uses: 1,
    reason: 'because',
    given_at: '2026-11-15T08:59:00Z',
    expires_at: '2026-11-15T10:00:00Z',
    ...more,
  })
}

/** A proposal on the record, and what became of it. */
function proposed(decision: Decision['decision'], ran: 'ran' | 'failed' | 'nothing'): void {
  fold.takeProposal([ID])
  const obstacles = ran === 'failed' ? [{ code: 'sandbox.failed' }] : []
  // The fold reads these fields alone.
  fold.takeEvaluation({
    action_id: ID,
    proposal_digest: DIGEST,
    obstacles,
    violations: [],
    host: { now_ms: NOW },
  } as unknown as Evaluation)
  const result = ran === 'ran' ? { result_digest: 'sha256:r' } : {}
  fold.takeDecision({ action_id: ID, decision, ...result } as unknown as Decision)
}

const usable = (digest = DIGEST, nowMs = NOW) => fold.usable(ID.toUpperCase(), digest, nowMs)

describe('a release', () => {
  it('is for one proposal, until it ends', () => {
    expect(usable()).toBe(null)
    released()
    expect(usable()).toEqual({ override_id: 'o-1', hosts: ['api.test'], methods: ['POST'] })
    expect(usable('sha256:other')).toBe(null)
    expect(usable(DIGEST, NOW + 3_600_000)).toBe(null)
  })

  it('is used as soon as the proposal is on the record, no matter what becomes of it', () => {
    for (const ran of ['ran', 'failed'] as const) {
      fold = new ReleaseFold()
      released()
      fold.takeProposal([ID])
      expect(usable()).toBe(null)
      proposed('BLOCK', ran)
      expect(usable()).toBe(null)
    }
  })

  it('is given back by a refusal before anything ran', () => {
    released()
    proposed('BLOCK', 'nothing')
    expect(usable()).not.toBe(null)
  })

  it('is not given back to a run that goes on by refusals of others with its id', () => {
    released()
    fold.takeProposal([ID])
    expect(fold.openRuns()).toMatchObject([{ actionId: ID, override_id: 'o-1' }])
    // The same once more, which is refused, and something broken under the id.
    proposed('BLOCK', 'nothing')
    const broken = { action_id: ID, proposal_digest: 'sha256:b', obstacles: [], violations: [{}] }
    fold.takeEvaluation(broken as unknown as Evaluation)
    fold.takeDecision({ action_id: ID, decision: 'BLOCK' } as unknown as Decision)
    expect(usable()).toBe(null)
    expect(fold.openRuns()).toHaveLength(1)
  })

  it('whose run was interrupted stays used, and is reported', () => {
    released()
    fold.takeProposal([ID])
    fold.takeEvaluation({
      action_id: ID,
      proposal_digest: DIGEST,
      obstacles: [{ code: 'request.unknown' }],
      violations: [{ code: 'request.unknown', path: '' }],
      host: { now_ms: NOW },
      network: { release: { override_id: 'o-1', hosts: ['api.test'], methods: ['POST'] } },
    } as unknown as Evaluation)
    fold.takeDecision({ action_id: ID, decision: 'BLOCK' } as unknown as Decision)
    expect(usable()).toBe(null)
    expect(fold.openRuns()).toEqual([])
    expect(fold.interruptedRuns()).toMatchObject([{ actionId: ID, foundMs: NOW }])
  })

  it('follows a rehearsal that was refused, under the same id', () => {
    proposed('BLOCK', 'ran')
    expect(fold.onlyRefused(ID, DIGEST)).toBe(true)
    expect(fold.onlyRefused(ID, 'sha256:other')).toBe(false)
    released()
    expect(usable()).not.toBe(null)
  })

  it('does not open an id that a person was asked about, or that was let through', () => {
    for (const decision of ['CONFIRM', 'PROMOTE'] as const) {
      fold = new ReleaseFold()
      proposed(decision, 'ran')
      proposed('BLOCK', 'ran')
      expect(fold.onlyRefused(ID, DIGEST)).toBe(false)
    }
  })

  it('of laws and blocks says nothing here', () => {
    released({ kind: 'law' })
    expect(usable()).toBe(null)
  })
})
