/** What is held, when that ends, and what an act may be promoted on. */
import { describe, expect, it } from 'vitest'
import { type BaseStanding, footingOf, HeldFold } from './held.ts'

const A = '0f9f3a52-6a0b-4f63-8a0e-5d1f6b7c8d90'
const B = '1f9f3a52-6a0b-4f63-8a0e-5d1f6b7c8d90'

// biome-ignore lint/suspicious/noExplicitAny: only these parts of the records are read
type Loose = any

function held(asked = false): HeldFold {
  const fold = new HeldFold()
  fold.takeEvaluation({ action_id: A, held: { asked, bases: [] } } as Loose)
  return fold
}

describe('what is held', () => {
  it('is known by its evaluation, no matter the case of its id', () => {
    expect(held().markOf(A.toUpperCase())).toEqual({ asked: false, bases: [] })
    expect([held().markOf(B), held().actionIds()]).toEqual([null, [A]])
  })

  it.each<[string, (fold: HeldFold) => void, boolean]>([
    ['a block', (fold) => fold.takeDecision({ action_id: A, decision: 'BLOCK' } as Loose), false],
    [
      'a question',
      (fold) => fold.takeDecision({ action_id: A, decision: 'CONFIRM' } as Loose),
      true,
    ],
    ['a no', (fold) => fold.takeConfirmation({ action_id: A, answer: 'DENIED' } as Loose), false],
    [
      'silence',
      (fold) => fold.takeConfirmation({ action_id: A, answer: 'EXPIRED' } as Loose),
      false,
    ],
    ['a yes', (fold) => fold.takeConfirmation({ action_id: A, answer: 'APPROVED' } as Loose), true],
    [
      'a promotion',
      (fold) => fold.takePromotion({ action_id: A, status: 'APPLIED' } as Loose),
      false,
    ],
    [
      'a promotion that was taken back',
      (fold) => fold.takePromotion({ action_id: A, status: 'REVERTED' } as Loose),
      true,
    ],
  ])('after %s', (_, take, isHeld) => {
    const fold = held()
    take(fold)
    expect(fold.markOf(A) !== null).toBe(isHeld)
  })
})

describe('the footing', () => {
  const bases = [
    { action_id: A, manifest: 'sha256:a' },
    { action_id: B, manifest: 'sha256:b' },
  ]
  const sound: BaseStanding = { isHeld: false, promoted: 'sha256:a' }
  it.each<[string, BaseStanding, BaseStanding, string]>([
    ['all promoted as they were seen', sound, { isHeld: false, promoted: 'sha256:b' }, 'sound'],
    ['one is held', sound, { isHeld: true, promoted: null }, 'waiting'],
    ['one is gone', sound, { isHeld: false, promoted: null }, 'void'],
    ['one was promoted otherwise', sound, { isHeld: false, promoted: 'sha256:c' }, 'void'],
    [
      'one waits and another is gone',
      { isHeld: true, promoted: null },
      { isHeld: false, promoted: null },
      'void',
    ],
  ])('%s', (_, first, second, state) => {
    const answer = footingOf(bases, (id) => (id === A ? first : second))
    expect(answer.state).toBe(state)
  })

  it('is sound for an act without bases', () => {
    expect(footingOf([], () => sound)).toEqual({ state: 'sound', base: '' })
  })
})
