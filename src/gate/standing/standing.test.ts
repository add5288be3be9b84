/** Tests of the standing that facts fold into: blocks, lifts, cooldowns, questions, promotions. */
import { beforeEach, describe, expect, it } from 'vitest'
import { StandingFold } from './standing.ts'

const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const OTHER = '11111111-1111-4111-8111-111111111111'
const INTENT = 'sha256:intent'
const MINUTE = 60_000
const NOON = Date.parse('2026-11-15T12:00:00Z')

function at(minutes: number): string {
  return new Date(NOON + minutes * MINUTE).toISOString()
}

let fold: StandingFold
let seq = 0

beforeEach(() => {
  fold = new StandingFold({ confirmationMs: 15 * MINUTE, cooldownMs: 15 * MINUTE })
  seq = 0
})

function take(type: string, payload: object): void {
  const principal = { kind: 'human', id: 'ann', namespace: 'local' } as const
  fold.take({ type, payload, occurredAt: at(0), seq: seq++, principal })
}

function evaluated(id = ID, more: object = {}): void {
  take('evaluation_v1', {
    action_id: id,
    proposal_digest: 'sha256:p',
    intent: INTENT,
    operation_digest: 'sha256:operation',
    cooldown_on_repeat: false,
    evaluator: { name: 'gate', version: '3' },
    law_outcomes: [],
    obstacles: [],
    violations: [],
    host: { now_ms: NOON },
    ...more,
  })
}

function decided(decision: string, more: object = {}): void {
  take('decision_v1', {
    action_id: ID,
    proposal_digest: 'sha256:p',
    result_digest: 'sha256:r',
    decision,
    code: 'x',
    codes: ['x'],
    permanent: false,
    law_refs: [],
    decided_at: at(0),
    ...more,
  })
}

function against(minutes = 0) {
  return fold.against(INTENT, false, NOON + minutes * MINUTE)
}

describe('halt and laws', () => {
  it('lasts until a human resumes', () => {
    expect(fold.halted).toBe(false)
    take('halt_v1', { state: 'HALTED', at: at(0) })
    expect(against().halted).toBe(true)
    take('halt_v1', { state: 'RESUMED', at: at(1) })
    expect(fold.halted).toBe(false)
  })

  it('remembers the laws that were accepted last', () => {
    expect(fold.laws).toBe(null)
    take('laws_v1', { laws: 'sha256:1' })
    take('laws_v1', { laws: 'sha256:2' })
    expect(fold.laws?.laws).toBe('sha256:2')
  })

  it('hands on what the host found in the file', () => {
    expect(fold.against(INTENT, true, NOON).laws_changed).toBe(true)
  })
})

describe('action ids', () => {
  it('are used once, without case, children included', () => {
    take('proposal_v1', {
      descriptor: { action_id: ID },
      children: [{ descriptor: { action_id: OTHER } }],
    })
    expect(fold.hasSeen(ID.toUpperCase())).toBe(true)
    expect(fold.hasSeen(OTHER)).toBe(true)
    expect(fold.hasSeen('22222222-2222-4222-8222-222222222222')).toBe(false)
  })

  it('a second use changes nothing about the first', () => {
    evaluated()
    decided('CONFIRM')
    evaluated(ID, { proposal_digest: 'sha256:q', intent: 'sha256:another' })
    decided('BLOCK', { proposal_digest: 'sha256:q', codes: ['descriptor.action_id_reused'] })
    expect(fold.pending(NOON)).toHaveLength(1)
    expect(fold.intentOf(ID)).toBe(INTENT)
  })
})

describe('permanent blocks', () => {
  it('are of an intent, and lifted by name', () => {
    evaluated()
    decided('BLOCK', { permanent: true })
    expect(against().permanent).toBe(true)
    expect(fold.against('sha256:another', false, NOON).permanent).toBe(false)
    take('override_v1', { override_id: 'o', kind: 'lift', intent: INTENT, uses: 1 })
    expect(against().permanent).toBe(false)
  })

  it('are lifted by the operation too', () => {
    evaluated()
    decided('BLOCK', { permanent: true })
    take('override_v1', {
      override_id: 'o',
      kind: 'lift',
      operation_digest: 'sha256:operation',
      uses: 1,
    })
    expect(against().permanent).toBe(false)
  })

  it('come back when the intent is blocked again', () => {
    evaluated()
    decided('BLOCK', { permanent: true })
    take('override_v1', { override_id: 'o', kind: 'lift', intent: INTENT, uses: 1 })
    evaluated(OTHER)
    decided('BLOCK', { action_id: OTHER, permanent: true })
    expect(against().permanent).toBe(true)
  })

  it('a block that is not permanent leaves nothing', () => {
    evaluated()
    decided('BLOCK')
    expect(against().permanent).toBe(false)
  })

  it('remembers what was left running', () => {
    evaluated()
    decided('BLOCK', { codes: ['rehearsal.background'] })
    expect(against()).toMatchObject({ background_before: true, permanent: false })
  })
})

describe('questions', () => {
  it('wait until they are answered', () => {
    evaluated()
    decided('CONFIRM')
    expect(fold.pending(NOON + 15 * MINUTE - 1)).toHaveLength(1)
    expect(fold.question(ID)?.resultDigest).toBe('sha256:r')
    take('confirmation_v1', { action_id: ID, answer: 'APPROVED', answered_at: at(1) })
    expect(fold.pending(NOON)).toEqual([])
    expect(fold.question(ID)).toBe(null)
  })

  it('expire', () => {
    evaluated()
    decided('CONFIRM')
    expect(fold.pending(NOON + 15 * MINUTE)).toEqual([])
    expect(fold.expired(NOON + 15 * MINUTE)).toHaveLength(1)
    take('confirmation_v1', { action_id: ID, answer: 'EXPIRED', answered_at: at(15) })
    expect(fold.expired(NOON + 15 * MINUTE)).toEqual([])
  })

  it('are not asked by any other decision', () => {
    evaluated()
    decided('PROMOTE')
    expect(fold.pending(NOON)).toEqual([])
  })
})

describe('questions to several humans', () => {
  function yes(who: string, minutes: number, more: object = {}): void {
    const payload = {
      action_id: ID,
      proposal_digest: 'sha256:p',
      result_digest: 'sha256:r',
      answer: 'APPROVED',
      asked_at: at(0),
      answered_at: at(minutes),
      proof: { key: who, signature: '' },
      ...more,
    }
    const principal = { kind: 'human', id: who, namespace: 'local' } as const
    fold.take({ type: 'confirmation_v1', payload, occurredAt: at(0), seq: seq++, principal })
  }

  const given = () => fold.question(ID)?.approvals?.given.map(({ by }) => by)

  it('wait for all of them, each once', () => {
    evaluated()
    decided('CONFIRM', { approvals: 2 })
    expect(given()).toEqual([])
    yes('ann', 1)
    yes('ann', 2)
    expect(given()).toEqual(['human:ann@local'])
    yes('bob', 3)
    expect(fold.question(ID)).toBe(null)
  })

  it('end with one denial', () => {
    evaluated()
    decided('CONFIRM', { approvals: 2 })
    yes('ann', 1)
    yes('bob', 2, { answer: 'DENIED' })
    expect(fold.question(ID)).toBe(null)
  })

  it('expire as a whole from the first asking, though they are asked again', () => {
    evaluated()
    decided('CONFIRM', { approvals: 2 })
    yes('ann', 10)
    evaluated()
    decided('CONFIRM', { approvals: 2, decided_at: at(12) })
    expect(fold.question(ID)).toMatchObject({
      askedAt: at(12),
      expiresMs: NOON + 15 * MINUTE,
      approvals: { needed: 2, given: [] },
    })
    // What ann said was about the earlier asking.
    yes('ann', 13)
    expect(given()).toEqual([])
    expect(fold.expired(NOON + 15 * MINUTE)).toHaveLength(1)
  })

  it('that one human has to answer begin again, as ever', () => {
    evaluated()
    decided('CONFIRM')
    decided('CONFIRM', { decided_at: at(12) })
    expect(fold.question(ID)?.expiresMs).toBe(NOON + 27 * MINUTE)
  })

  it('keep a held act until all have approved', () => {
    evaluated(ID, { held: { asked: true, bases: [] } })
    decided('CONFIRM', { approvals: 2 })
    yes('ann', 1)
    expect(fold.heldMark(ID)).not.toBe(null)
    expect(fold.question(ID)).not.toBe(null)
    yes('bob', 2, { answer: 'DENIED' })
    expect(fold.heldMark(ID)).toBe(null)
  })
})

describe('a question about staged files', () => {
  it('waits as long as the laws say, one about requests as long as before', () => {
    const DAY = 24 * 60 * MINUTE
    const options = { confirmationMs: 15 * MINUTE, questionMs: 7 * DAY, cooldownMs: MINUTE }
    fold = new StandingFold(options)
    decided('CONFIRM')
    expect(fold.question(ID)?.expiresMs).toBe(NOON + 7 * DAY)
    decided('CONFIRM', { action_id: OTHER, codes: ['confirm.class'] })
    expect(fold.question(OTHER)?.expiresMs).toBe(NOON + 15 * MINUTE)
    expect(fold.expired(NOON + DAY).map(({ actionId }) => actionId)).toEqual([OTHER])
  })
})

describe('cooldown', () => {
  function promoted(): void {
    evaluated()
    decided('PROMOTE')
    take('promotion_v1', {
      action_id: ID,
      status: 'APPLIED',
      promoted_at: at(0),
      undo_until: at(100),
    })
  }

  it('follows a rollback, no matter what the flag says, and then a human is asked', () => {
    promoted()
    take('rollback_v1', { rollback_id: 'r', action_ids: [ID], rolled_back_at: at(5) })
    expect(against(6)).toMatchObject({
      cooldown_until_ms: NOON + 20 * MINUTE,
      reconfirm: true,
    })
    expect(against(20)).toMatchObject({ cooldown_until_ms: null, reconfirm: true })
  })

  it('ends its question with the next yes', () => {
    promoted()
    take('rollback_v1', { rollback_id: 'r', action_ids: [ID], rolled_back_at: at(5) })
    evaluated(OTHER)
    take('confirmation_v1', { action_id: OTHER, answer: 'APPROVED', answered_at: at(30) })
    expect(against(31).reconfirm).toBe(false)
  })

  it('does not follow a question that expired, unless an older evaluator asked it', () => {
    evaluated(ID, { cooldown_on_repeat: true })
    const silence = { action_id: ID, answer: 'EXPIRED', answered_at: at(1) }
    take('confirmation_v1', silence)
    expect(against(2).cooldown_until_ms).toBe(null)
    const evaluator = { name: 'gate', version: '2' }
    evaluated(OTHER, { cooldown_on_repeat: true, evaluator })
    take('confirmation_v1', { ...silence, action_id: OTHER })
    expect(against(2).cooldown_until_ms).toBe(NOON + 16 * MINUTE)
  })

  it('follows a no only when the descriptor asks so', () => {
    const answer = 'DENIED'
    evaluated()
    take('confirmation_v1', { action_id: ID, answer, answered_at: at(1) })
    expect(against(2).cooldown_until_ms).toBe(null)
    evaluated(OTHER, { cooldown_on_repeat: true })
    take('confirmation_v1', { action_id: OTHER, answer, answered_at: at(1) })
    expect(against(2).cooldown_until_ms).toBe(NOON + 16 * MINUTE)
  })

  it('knows what was promoted and what was taken back', () => {
    promoted()
    expect(fold.promoted()).toMatchObject([{ actionId: ID, rolledBackBy: null }])
    take('rollback_v1', { rollback_id: 'r', action_ids: [ID], rolled_back_at: at(5) })
    expect(fold.promotion(ID)?.rolledBackBy).toBe('r')
  })

  it('does not count what was reverted', () => {
    evaluated()
    take('promotion_v1', { action_id: ID, status: 'REVERTED', promoted_at: at(0) })
    expect(fold.promoted()).toEqual([])
  })
})

describe('overrides of laws', () => {
  const LAW = { override_id: 'o', kind: 'law', policy_id: 'NO', uses: 1, given_at: at(0) }
  const usable = (minutes = 0, id = ID): number =>
    fold
      .overridesInForce(id, INTENT, NOON + minutes * MINUTE)
      .filter(({ policy_id }) => policy_id === 'NO').length

  it('are for one action', () => {
    take('override_v1', { ...LAW, action_id: ID })
    expect(usable()).toBe(1)
    expect(usable(0, OTHER)).toBe(0)
  })

  it('end', () => {
    take('override_v1', { ...LAW, expires_at: at(10) })
    expect(usable(9)).toBe(1)
    expect(usable(10)).toBe(0)
  })

  const SET_ASIDE = { law_outcomes: [{ policy_id: 'NO', overridden: true }] }

  it('are used up by an act that is let through or asked about', () => {
    take('override_v1', { ...LAW, expires_at: at(10) })
    evaluated(ID, SET_ASIDE)
    decided('CONFIRM')
    expect(usable(1, OTHER)).toBe(0)
    // The same act may be judged once more.
    expect(usable(1, ID)).toBe(1)
  })

  it('are not used up by an act that is refused for other reasons', () => {
    take('override_v1', { ...LAW, expires_at: at(10) })
    evaluated(ID, SET_ASIDE)
    decided('BLOCK')
    expect(usable(1, OTHER)).toBe(1)
  })

  it('may be used as often as they say, each by an act of its own', () => {
    take('override_v1', { ...LAW, uses: 2, expires_at: at(10) })
    for (const [index, id] of [ID, OTHER].entries()) {
      expect(usable(1, '22222222-2222-4222-8222-222222222222')).toBe(1)
      evaluated(id, SET_ASIDE)
      decided('PROMOTE', { action_id: id })
      expect(fold.overrideOf('o')?.used).toBe(index + 1)
    }
    expect(usable(1, '22222222-2222-4222-8222-222222222222')).toBe(0)
  })

  it('hold for the intent of the action that was named, no matter what its id is then', () => {
    take('override_v1', { ...LAW, action_id: OTHER, intent: INTENT, expires_at: at(10) })
    expect(usable()).toBe(1)
    expect(fold.overridesInForce(OTHER, 'sha256:another', NOON)).toEqual([])
    expect(fold.overridesInForce(ID, INTENT, NOON)).toEqual([{ override_id: 'o', policy_id: 'NO' }])
  })
})

describe('rollbacks of an actor', () => {
  it('are counted by the actor whose act it was, within the span', () => {
    for (const [id, actor] of [
      [ID, 'bot'],
      [OTHER, 'ann'],
    ] as const) {
      evaluated(id, { basis: { actor, overrides: [] } })
      take('promotion_v1', {
        action_id: id,
        status: 'APPLIED',
        promoted_at: at(0),
        undo_until: at(99),
      })
      take('rollback_v1', { rollback_id: 'r', action_ids: [id], rolled_back_at: at(1) })
    }
    const count = (actor: string, minutes: number): number =>
      fold.rollbacksOf(actor, NOON + minutes * MINUTE, 10 * MINUTE)
    expect([count('bot', 5), count('ann', 5), count('eve', 5)]).toEqual([1, 1, 0])
    expect(count('bot', 11)).toBe(0)
  })

  it('are not counted where the run of a flow ordered them', () => {
    evaluated(ID, { basis: { actor: 'bot', overrides: [] } })
    const promoted = { status: 'APPLIED', promoted_at: at(0), undo_until: at(99) }
    take('promotion_v1', { action_id: ID, ...promoted })
    const ordered = { rollback_id: 'r', action_ids: [ID], rolled_back_at: at(1), run: 'run-1' }
    take('rollback_v1', ordered)
    expect(fold.rollbacksOf('bot', NOON + 5 * MINUTE, 10 * MINUTE)).toBe(0)
    expect(fold.promotion(ID)?.rolledBackBy).toBe('r')
  })
})
