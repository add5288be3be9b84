/** Guards over lists that are long enough to be looked up instead of compared. */
import { describe, expect, it } from 'vitest'
import { naiveHolds } from '../../../tests/oracle/naive-kernel.ts'
import { GUARD_PATHS, type Guard } from '../../contracts/index.ts'
import { compileGuard } from './matcher.ts'
import { type Inputs, viewOf } from './projection.ts'

const ALL = viewOf(GUARD_PATHS)
const STATE = 'problem_state.uncertainty_sources[]'
const ENVELOPE = 'uncertainty_envelope.uncertainty_sources[]'

const words = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

function holds(guard: Guard, inputs: Inputs): boolean {
  const compiled = compileGuard(guard, ALL.slotOf)(ALL.project(inputs))
  expect(compiled).toBe(naiveHolds(guard, inputs))
  return compiled
}

describe('long lists', () => {
  const guard: Guard = { op: 'IN', field: 'problem_state.problem_type', set: words(20, 'w') }

  it('hold their words and no other', () => {
    for (const word of words(20, 'w')) {
      expect(holds(guard, { problem_state: { problem_type: word } })).toBe(true)
    }
    for (const problem_type of ['w20', '', null, 3, ['w1']])
      expect(holds(guard, { problem_state: { problem_type } })).toBe(false)
  })
})

describe('long sets', () => {
  const guard: Guard = { op: 'INTERSECTS', left: STATE, right: ENVELOPE }
  const inputs = (left: readonly unknown[], right: readonly unknown[]): Inputs => ({
    problem_state: { uncertainty_sources: left },
    uncertainty_envelope: { uncertainty_sources: right },
  })

  it('share a word at any position', () => {
    const [left, right] = [words(50, 'a'), words(50, 'b')]
    expect(holds(guard, inputs(left, right))).toBe(false)
    expect(holds(guard, inputs([...left, 'x'], ['x', ...right]))).toBe(true)
    expect(holds({ op: 'INTERSECTS', left: STATE, right: [...right, 'x'] }, inputs(left, []))).toBe(
      false,
    )
    expect(
      holds({ op: 'INTERSECTS', left: [...right, 'x'], right: STATE }, inputs(['x', ...left], [])),
    ).toBe(true)
  })

  it('share nothing that is no word', () => {
    const odd = [3, true, null]
    expect(holds(guard, inputs([...words(50, 'a'), ...odd], [...words(50, 'b'), ...odd]))).toBe(
      false,
    )
    expect(holds(guard, inputs(odd, odd))).toBe(false)
  })
})
