/** What is learned from answers: only what humans always approved, and no wider than they saw. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AnsweredChange, type AnsweredQuestion, learnGrants } from './learned-grants.ts'

function answered(index: number, more: Partial<AnsweredQuestion> = {}): AnsweredQuestion {
  return {
    action_id: `act-${index}`,
    agent: 'claude',
    answer: 'yes',
    isMeant: true,
    at: `2026-11-${String(10 + (index % 4)).padStart(2, '0')}T08:00:00Z`,
    session: `session-${index % 3}`,
    isPlain: true,
    changes: [{ path: `docs/api/page${index}.md`, kind: 'change', isDeferred: false }],
    ...more,
  }
}

const FIVE = [0, 1, 2, 3, 4]

describe('learning from answers', () => {
  it('proposes a directory that a human always approved, with its support', () => {
    const { grants, refused } = learnGrants(FIVE.map((index) => answered(index)))
    expect(grants).toMatchObject([
      {
        agent: 'claude',
        kind: 'change',
        glob: 'docs/api/*',
        support: { answers: 5, days: 4, sessions: 3 },
      },
    ])
    expect(refused).toEqual([])
  })

  it.each<[string, (index: number) => Partial<AnsweredQuestion>]>([
    ['four answers', (index) => (index === 4 ? { agent: 'other' } : {})],
    ['two days', (index) => ({ at: `2026-11-1${index % 2}T08:00:00Z` })],
    ['one session', () => ({ session: 'one' })],
    ['yes given with the call', () => ({ isMeant: false })],
    ['other reasons to ask', () => ({ isPlain: false })],
    ['deletions', () => ({ changes: [{ path: 'docs/a', kind: 'delete', isDeferred: false }] })],
    [
      'what runs later',
      () => ({ changes: [{ path: 'docs/a', kind: 'create', isDeferred: true }] }),
    ],
    ['dot paths', () => ({ changes: [{ path: '.github/x', kind: 'create', isDeferred: false }] })],
    [
      'credentials',
      () => ({ changes: [{ path: 'keys/id_rsa', kind: 'create', isDeferred: false }] }),
    ],
  ])('proposes nothing from %s', (_name, more) => {
    expect(learnGrants(FIVE.map((index) => answered(index, more(index)))).grants).toEqual([])
  })

  it('names the denials that speak against it', () => {
    const no = answered(9, {
      answer: 'no',
      changes: [{ path: 'docs/api/secret.md', kind: 'create', isDeferred: false }],
    })
    const { grants, refused } = learnGrants([...FIVE.map((index) => answered(index)), no])
    expect(grants).toEqual([])
    expect(refused).toMatchObject([{ glob: 'docs/api/*', counter_examples: ['act-9'] }])
  })

  it('proposes nothing where a human denied an act whose paths are no longer kept', () => {
    const no = answered(9, { answer: 'no', changes: null })
    const { grants, refused } = learnGrants([...FIVE.map((index) => answered(index)), no])
    expect([grants, refused[0]?.counter_examples]).toEqual([[], ['act-9']])
  })

  it('never covers an answer of no, and is never wider than what was approved', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
      .map((names) => names.join('/'))
    const change: fc.Arbitrary<AnsweredChange> = fc.record({
      path,
      kind: fc.constantFrom('create', 'change', 'delete'),
      isDeferred: fc.boolean(),
    })
    const question = fc.record({
      answer: fc.constantFrom('yes', 'yes', 'yes', 'yes', 'yes', 'no'),
      index: fc.nat(20),
      changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    })
    const parent = (one: string): string => one.slice(0, Math.max(0, one.lastIndexOf('/')))
    const covers = (glob: string, one: string): boolean =>
      glob.endsWith('/*') ? parent(one) === glob.slice(0, -2) : one === glob
    let learned = 0
    fc.assert(
      fc.property(fc.array(question, { minLength: 20, maxLength: 60 }), (rows) => {
        const history = rows.map(({ answer, index, changes }) =>
          answered(index, { answer: answer as 'yes' | 'no', changes }),
        )
        for (const { glob, kind } of learnGrants(history).grants) {
          learned++
          const denied = history
            .filter(({ answer }) => answer === 'no')
            .flatMap((one) => one.changes ?? [])
          expect(denied.some((one) => covers(glob, one.path))).toBe(false)
          const approved = history
            .filter(({ answer }) => answer === 'yes')
            .flatMap((one) => one.changes ?? [])
          expect(approved.some((one) => covers(glob, one.path) && one.kind === kind)).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
    expect(learned).toBeGreaterThan(0)
  })
})
