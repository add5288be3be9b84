/** The sieve against asking each rule in turn, over more rules than it has bits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import type { InputValue, Projection } from './projection.ts'
import { type Condition, type Sifted, sieveOf } from './sieve.ts'

/** Slots 0 and 1 hold a word or a moment, slots 2 and 3 a set. */
const scalar = fc.constantFrom<InputValue | undefined>('a', 'b', 'c', 1, undefined)
const set = fc.option(fc.array(fc.constantFrom<unknown>('a', 'b', 'c', 7), { maxLength: 3 }), {
  nil: undefined,
})
const projections: fc.Arbitrary<Projection> = fc.tuple(scalar, scalar, set, set)

const words = fc
  .uniqueArray(fc.constantFrom<InputValue>('a', 'b', 1), { minLength: 1, maxLength: 2 })
  .map((list) => new Set(list))

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    slot: fc.constantFrom(0, 1),
    words: fc.option(words),
    isSet: fc.constant(false),
    isNegated: fc.boolean(),
  }),
  fc.record({
    slot: fc.constantFrom(2, 3),
    words,
    isSet: fc.constant(true),
    isNegated: fc.constant(false),
  }),
  fc.record({
    slot: fc.constantFrom(2, 3),
    words: fc.constant(null),
    isSet: fc.constant(false),
    isNegated: fc.boolean(),
  }),
)

const conditions = fc
  .array(condition, { maxLength: 4 })
  .map((list) =>
    list.filter(
      (one, index) =>
        !one.isSet || list.findIndex((two) => two.isSet && two.slot === one.slot) === index,
    ),
  )

const rests = fc.constantFrom<Sifted['rest']>(
  null,
  (seen) => seen[0] === 'a',
  (seen) => seen[3] !== undefined,
)

function holds({ slot, words, isSet, isNegated }: Condition, seen: Projection): boolean {
  const value = seen[slot]
  const plain =
    value !== undefined &&
    (words === null ||
      (isSet ? (value as readonly InputValue[]).some((word) => words.has(word)) : words.has(value)))
  return plain !== isNegated
}

function firstMatch(rules: readonly Sifted[], seen: Projection): number {
  return rules.findIndex(
    (rule) => rule.conditions.every((one) => holds(one, seen)) && rule.rest?.(seen) !== false,
  )
}

describe('the sieve', () => {
  it('finds the rule that asking each in turn finds', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ conditions, rest: rests }), { maxLength: 100, size: 'max' }),
        fc.array(projections, { minLength: 20, maxLength: 20 }),
        (rules, worlds) => {
          const sieve = sieveOf(rules)
          for (const seen of worlds) expect(sieve(seen)).toBe(firstMatch(rules, seen))
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('reaches every bit of every part', () => {
    const rules = Array.from({ length: 100 }, (_, index) => ({
      conditions: [{ slot: 0, words: new Set([`w${index}`]), isSet: false, isNegated: false }],
      rest: null,
    }))
    const sieve = sieveOf(rules)
    rules.forEach((_, index) => {
      expect(sieve([`w${index}`])).toBe(index)
    })
    expect(sieve(['other'])).toBe(-1)
    expect(sieve([undefined])).toBe(-1)
    expect(sieveOf([])([undefined])).toBe(-1)
  })
})
