/** Several approvals of one act: which yeses count, against a count that is as simple as can be. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import type { Confirmation, Decision, LawOutcome } from '../../contracts/index.ts'
import type { Principal } from '../../ledger/index.ts'
import {
  type ApprovalQuestion,
  approvalQuestion,
  approvalsAsked,
  approvalText,
  countApprovals,
  isComplete,
  type RecordedAnswer,
  startersOf,
  stillOpen,
} from './approvals.ts'

const ACTION = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const ASKED = '2026-11-15T12:00:00.000Z'
const QUESTION: ApprovalQuestion = {
  actionId: ACTION,
  proposalDigest: 'sha256:p',
  resultDigest: 'sha256:r',
  askedAt: ASKED,
  needed: 2,
}

function answer(
  who: string,
  more: Partial<Confirmation> = {},
  kind: Principal['kind'] = 'human',
): RecordedAnswer {
  return {
    principal: { kind, id: who, namespace: 'local' },
    confirmation: {
      action_id: ACTION,
      proposal_digest: 'sha256:p',
      result_digest: 'sha256:r',
      answer: 'APPROVED',
      assurance: 'passphrase',
      level: 'seatbelt',
      asked_at: ASKED,
      answered_at: '2026-11-15T12:01:00.000Z',
      expires_at: '2026-11-15T12:15:00.000Z',
      proof: { key: `key of ${who}`, signature: '' },
      ...more,
    },
  }
}

const NO_STARTERS: ReadonlySet<string> = new Set()
const given = (
  answers: readonly RecordedAnswer[],
  isProven = () => true,
  starters = NO_STARTERS,
): readonly string[] =>
  countApprovals(QUESTION, answers, starters, isProven).given.map(({ by }) => by)

describe('a yes counts', () => {
  it('of each human once', () => {
    expect(given([answer('ann'), answer('ann'), answer('bob')])).toEqual([
      'human:ann@local',
      'human:bob@local',
    ])
  })

  it('not of the human who started the run or session; an unread evaluation may be of one', () => {
    const { principal } = answer('ann')
    const of = (evaluation: object | null) =>
      // What is not looked at does not matter.
      startersOf([{ principal, evaluation: evaluation as never }])
    const answers = [answer('ann'), answer('bob')]
    const started = of({ held: {} })
    expect(given(answers, undefined, started)).toEqual(['human:bob@local'])
    expect(given(answers, undefined, of({ session: {} }))).toEqual(['human:bob@local'])
    expect(given(answers, undefined, of(null))).toEqual(['human:bob@local'])
    expect(given(answers, undefined, of({}))).toHaveLength(2)
    const denied = answer('ann', { answer: 'DENIED' })
    expect(given([answer('bob'), denied], undefined, started)).toEqual([])
  })

  it('of each credential once, no matter who shows it', () => {
    const borrowed = answer('bob', { proof: { key: 'key of ann', signature: '' } })
    expect(given([answer('ann'), borrowed])).toEqual(['human:ann@local'])
  })

  it.each<[string, RecordedAnswer]>([
    ['an actor', answer('bot', {}, 'ai')],
    ['a script', answer('bot', {}, 'script')],
    ['another proposal', answer('ann', { proposal_digest: 'sha256:x' })],
    ['another result', answer('ann', { result_digest: 'sha256:x' })],
    ['another asking', answer('ann', { asked_at: '2026-11-15T11:00:00.000Z' })],
    ['another act', answer('ann', { action_id: '11111111-1111-4111-8111-111111111111' })],
  ])('not when it is of %s', (_, one) => {
    expect(given([one])).toEqual([])
  })

  it('not without a signature, as the plain yes has none', () => {
    const { proof: _proof, ...bare } = answer('ann').confirmation
    const plain = { ...answer('ann'), confirmation: { ...bare, assurance: 'terminal' as const } }
    expect(given([plain])).toEqual([])
  })

  it('not with a signature that is not the human’s', () => {
    expect(given([answer('ann')], () => false)).toEqual([])
  })

  it('not behind a no, and nothing before it counts either', () => {
    for (const end of ['DENIED', 'EXPIRED'] as const) {
      const no = answer('bob', { answer: end, assurance: 'none' })
      expect(given([answer('ann'), no, answer('cid')])).toEqual([])
    }
  })

  it('also when a no about something else comes between', () => {
    const no = answer('cid', { answer: 'DENIED', asked_at: '2026-11-15T11:00:00.000Z' })
    expect(given([answer('ann'), no, answer('bob')])).toHaveLength(2)
  })

  it('and what comes behind the last one changes nothing', () => {
    const no = answer('cid', { answer: 'DENIED' })
    expect(given([answer('ann'), answer('bob'), no])).toHaveLength(2)
  })
})

describe('the question', () => {
  const decision = {
    action_id: ACTION,
    proposal_digest: 'sha256:p',
    result_digest: 'sha256:r',
    decision: 'CONFIRM',
    decided_at: ASKED,
    approvals: 2,
  } as Decision

  it('is that of a decision which asks several humans', () => {
    expect(approvalQuestion(decision)).toEqual(QUESTION)
    expect(approvalQuestion({ ...decision, decision: 'PROMOTE' })).toBe(null)
    const { approvals: _one, ...single } = decision
    expect(approvalQuestion(single)).toBe(null)
  })

  it('is signed for act, proposal, result and asking', () => {
    const texts = [
      QUESTION,
      { ...QUESTION, actionId: 'x' },
      { ...QUESTION, proposalDigest: 'x' },
      { ...QUESTION, resultDigest: 'x' },
      { ...QUESTION, askedAt: 'x' },
    ].map(approvalText)
    expect(new Set(texts).size).toBe(texts.length)
    expect(approvalText({ ...QUESTION, actionId: ACTION.toUpperCase() })).toBe(texts[0])
  })
})

describe('how many are asked', () => {
  const law = (approvals: number, more: Partial<LawOutcome> = {}): LawOutcome => ({
    policy_id: `LAW_${approvals}`,
    tier: 2,
    action: 'confirm',
    state: 'broken',
    reads_result: true,
    overridden: false,
    ...(approvals > 1 ? { approvals } : {}),
    ...more,
  })

  it('is the most of any law that asks', () => {
    expect(approvalsAsked([])).toBe(1)
    expect(approvalsAsked([law(1), law(3), law(2)])).toBe(3)
    expect(approvalsAsked([law(3, { action: 'alert' }), law(2)])).toBe(2)
    expect(approvalsAsked([law(3, { action: 'alert', state: 'error' })])).toBe(3)
  })
})

const HUMANS = ['ann', 'bob', 'cid', 'dee']
const anAnswer = fc
  .record({
    who: fc.constantFrom(...HUMANS),
    key: fc.constantFrom(...HUMANS),
    kind: fc.constantFrom<Principal['kind']>('human', 'human', 'human', 'ai'),
    answer: fc.constantFrom<Confirmation['answer']>('APPROVED', 'APPROVED', 'APPROVED', 'DENIED'),
    about: fc.constantFrom('sha256:r', 'sha256:r', 'sha256:r', 'sha256:x'),
    asked: fc.constantFrom(ASKED, ASKED, ASKED, '2026-11-15T11:00:00.000Z'),
    isProven: fc.boolean(),
  })
  .map(({ who, key, kind, about, asked, isProven, ...rest }) =>
    answer(
      who,
      {
        ...rest,
        result_digest: about,
        asked_at: asked,
        proof: { key, signature: isProven ? 'good' : 'bad' },
      },
      kind,
    ),
  )
const isGood = ({ confirmation }: RecordedAnswer): boolean =>
  confirmation.proof?.signature === 'good'

/** Written from the words alone: the shortest beginning that holds enough, and no no before its end. */
function naive(answers: readonly RecordedAnswer[], needed: number): boolean {
  const own = answers.filter(
    ({ confirmation: c }) => c.result_digest === 'sha256:r' && c.asked_at === ASKED,
  )
  for (let length = 0; length <= own.length; length++) {
    const begun = own.slice(0, length)
    if (begun.some(({ confirmation }) => confirmation.answer === 'DENIED')) return false
    const humans: string[] = []
    const keys: string[] = []
    for (const one of begun) {
      const key = one.confirmation.proof?.key ?? ''
      if (one.principal.kind !== 'human' || !isGood(one)) continue
      if (humans.includes(one.principal.id) || keys.includes(key)) continue
      humans.push(one.principal.id)
      keys.push(key)
    }
    if (humans.length >= needed) return true
  }
  return false
}

describe('for any answers', () => {
  it('the count is complete exactly when the words say so', () => {
    fc.assert(
      fc.property(
        fc.array(anAnswer, { maxLength: 12 }),
        fc.integer({ min: 2, max: 4 }),
        (answers, needed) => {
          const approvals = countApprovals({ ...QUESTION, needed }, answers, NO_STARTERS, isGood)
          expect(isComplete(approvals)).toBe(naive(answers, needed))
          expect(new Set(approvals.given.map(({ by }) => by)).size).toBe(approvals.given.length)
          expect(approvals.given.length).toBeLessThanOrEqual(needed)
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it('an act is let through once one more human has approved, and never by fewer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), (needed) => {
        const all = Array.from({ length: needed }, (_, index) => answer(`human-${index}`))
        const question = { ...QUESTION, needed }
        const isDone = (count: number): boolean =>
          isComplete(countApprovals(question, all.slice(0, count), NO_STARTERS, () => true))
        expect(isDone(needed)).toBe(true)
        expect(isDone(needed - 1)).toBe(false)
      }),
    )
  })

  it('what the fold keeps open is what the count has not completed, while all are proven', () => {
    fc.assert(
      fc.property(fc.array(anAnswer, { maxLength: 12 }), (answers) => {
        const proven = answers.filter(isGood)
        let open: ReturnType<typeof stillOpen> = { needed: 2, given: [] }
        const taken: RecordedAnswer[] = []
        for (const one of proven) {
          // The host records no denial of another question while this one is open.
          const isOther =
            one.confirmation.answer === 'DENIED' && one.confirmation.asked_at !== ASKED
          if (
            isOther ||
            (one.confirmation.answer === 'DENIED' && one.confirmation.result_digest === 'sha256:x')
          )
            continue
          taken.push(one)
          open = stillOpen({ ...QUESTION, approvals: open }, one.confirmation, one.principal)
          const counted = countApprovals(QUESTION, taken, NO_STARTERS, () => true)
          const isDenied = one.confirmation.answer === 'DENIED'
          expect(open === null).toBe(isDenied || isComplete(counted))
          if (open === null) return
          expect(open.given).toEqual(counted.given)
        }
      }),
      { numRuns: runs(1_000) },
    )
  })
})
