/** The nearest name: what counts as near, and that guessing is cheap. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { nearest } from './nearest.ts'

describe('nearest', () => {
  it.each([
    ['one letter wrong', 'IRRIGATR', ['PLOW', 'IRRIGATE'], 'IRRIGATE'],
    ['two letters swapped', 'isseur', ['issuer', 'target'], 'issuer'],
    ['a letter missing', 'taget', ['target', 'type'], 'target'],
    ['a letter too many', 'metaa', ['meta', 'mode'], 'meta'],
    ['case only', 'plow', ['PLOW'], 'PLOW'],
    ['the nearer of two', 'start_t', ['start_at_ts', 'start_ts'], 'start_ts'],
    ['the first of two equally near', 'abcdef', ['abcdeg', 'abcdeh'], 'abcdeg'],
    ['nothing near', 'watering', ['PLOW', 'SEED'], null],
    ['a third of the name may differ, no more', 'abcdef', ['abcxyz'], null],
    ['an empty name', '', ['a'], null],
    ['no candidates', 'a', [], null],
    ['a name too long to be a slip', 'x'.repeat(65), ['x'.repeat(65)], null],
  ])('%s', (_, name, legal, want) => {
    expect(nearest(name, legal)).toBe(want)
  })

  it('agrees with a plain distance that looks at everything', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'D'), maxLength: 12 })
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 6 }), (wanted, legal) => {
        expect(nearest(wanted, legal)).toBe(plainNearest(wanted, legal))
      }),
      { numRuns: runs(2000) },
    )
  })

  it('finds none among names that are nowhere near', () => {
    const legal = Array.from({ length: 2_000 }, (_, index) => `${index}`.padStart(64, 'y'))
    expect(nearest('x'.repeat(64), legal)).toBeNull()
  })
})

function plainNearest(name: string, legal: readonly string[]): string | null {
  if (name.length === 0) return null
  const limit = Math.max(1, Math.floor(name.length / 3))
  let best: string | null = null
  let least = limit + 1
  for (const candidate of legal) {
    const distance = plainDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Optimal string alignment by its recursive definition. */
function plainDistance(left: string, right: string, seen = new Map<string, number>()): number {
  if (left === '' || right === '') return left.length + right.length
  const key = `${left.length}/${right.length}`
  const known = seen.get(key)
  if (known !== undefined) return known
  const [a, b] = [left.slice(0, -1), right.slice(0, -1)]
  const options = [
    plainDistance(a, right, seen) + 1,
    plainDistance(left, b, seen) + 1,
    plainDistance(a, b, seen) + (left.at(-1) === right.at(-1) ? 0 : 1),
  ]
  if (left.length > 1 && left.at(-1) === right.at(-2) && left.at(-2) === right.at(-1)) {
    options.push(plainDistance(left.slice(0, -2), right.slice(0, -2), seen) + 1)
  }
  const least = Math.min(...options)
  seen.set(key, least)
  return least
}
