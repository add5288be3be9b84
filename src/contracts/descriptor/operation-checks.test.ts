/** Key paths and their overlaps. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { overlappingKeyPaths, parseKeyPath } from './operation-checks.ts'

describe('a key path', () => {
  it.each([
    ['a', ['a']],
    ['a.b.c', ['a', 'b', 'c']],
    ['/a.b/c', ['a.b', 'c']],
    ['/a~1b/~0', ['a/b', '~']],
    ['__proto__.x', ['__proto__', 'x']],
    ['', null],
    ['.', null],
    ['a.', null],
    ['/', null],
    ['/a//b', null],
    ['/a~2', null],
    ['a\0b', null],
    ['x'.repeat(1_025), null],
  ])('%j', (text, want) => {
    expect(parseKeyPath(text)).toEqual(want)
  })

  it('overlaps exactly with what equals it or lies above it', () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(fc.option(keys), { maxLength: 6 }), (paths) => {
        const overlapping = overlappingKeyPaths(paths)
        for (const [index, path] of paths.entries()) {
          const isBelow = paths.some(
            (other, position) =>
              path !== null &&
              other !== null &&
              position !== index &&
              other.every((key, depth) => path[depth] === key) &&
              (other.length < path.length || position < index),
          )
          expect(overlapping.has(index)).toBe(isBelow)
        }
      }),
    )
  })
})
