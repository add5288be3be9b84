/** JSON Pointers: the RFC's examples, own properties only, and code-point order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { at, compareCodePoints, pointerSteps, readPointer } from './pointer.ts'

describe('readPointer', () => {
  // The document of RFC 6901, section 5.
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  }

  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
    ['/foo/2', undefined],
    ['/foo/0/x', undefined],
  ])('%j', (pointer, want) => {
    expect(readPointer(document, pointer)).toEqual(want)
  })

  it('reads own properties only', () => {
    expect(readPointer({}, '/constructor')).toBeUndefined()
    expect(readPointer({}, '/__proto__/toString')).toBeUndefined()
    expect(readPointer(JSON.parse('{"__proto__":{"a":1}}'), '/__proto__/a')).toBe(1)
  })

  const step = fc.string({ unit: fc.constantFrom('a', '/', '~', '0', '1', 'é', '😀') })

  it('undoes what `at` writes', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const pointer = steps.reduce<string>((parent, step) => at(parent, step), '')
        expect(pointerSteps(pointer)).toEqual(steps)
      }),
    )
  })

  it('tells `~1` from `~01`', () => {
    expect(at('', '~1')).toBe('/~01')
    expect(pointerSteps('/~01')).toEqual(['~1'])
    expect(at('/a', 3)).toBe('/a/3')
    expect(at('/a', 'b/c~')).toBe('/a/b~1c~0')
  })
})

describe('compareCodePoints', () => {
  it('puts astral characters after every other', () => {
    // By UTF-16 units the pair of U+1F600 would come before U+FFFD.
    expect(compareCodePoints('/\u{1f600}', '/\ufffd')).toBeGreaterThan(0)
    expect(compareCodePoints('/\ue000', '/\u{10000}')).toBeLessThan(0)
    expect(compareCodePoints('/a', '/a/b')).toBeLessThan(0)
    expect(compareCodePoints('/a/10', '/a/9')).toBeLessThan(0)
  })

  it('orders as a comparison of code point by code point does', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(Math.sign(compareCodePoints(left, right))).toBe(plainOrder(left, right))
      }),
      { numRuns: runs(1000) },
    )
  })
})

function plainOrder(left: string, right: string): number {
  const [a, b] = [[...left], [...right]]
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return Math.sign(difference)
  }
  return Math.sign(a.length - b.length)
}
