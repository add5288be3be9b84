/** The form of a path. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathFault, pathSegments } from './path.ts'

describe('the form of a path', () => {
  it.each([
    ['', 'path_not_absolute'],
    ['a', 'path_not_absolute'],
    ['./a', 'path_not_absolute'],
    ['~/a', 'path_not_absolute'],
    ['C:\\a', 'path_not_absolute'],
    ['/', null],
    ['/a', null],
    ['/a/…b', null],
    ['/...', null],
    ['/a\nb', null],
    ['//', 'path_not_normal'],
    ['/a/', 'path_not_normal'],
    ['/a//b', 'path_not_normal'],
    ['/.', 'path_not_normal'],
    ['/a/..', 'path_not_normal'],
    ['/a\0', 'path_not_normal'],
  ])('%j: %s', (path, want) => {
    expect(pathFault(path)).toBe(want)
  })

  it.each([
    ['a name of 255 bytes', `/${'x'.repeat(255)}`, null],
    ['a name of 256 bytes', `/${'x'.repeat(256)}`, 'path_not_normal'],
    ['a name of 256 bytes in 128 letters', `/${'é'.repeat(128)}`, 'path_not_normal'],
    ['4094 bytes', '/a'.repeat(2_047), null],
    ['4096 bytes', '/a'.repeat(2_048), 'path_not_normal'],
    ['3856 bytes in 1296 letters', `/${'字'.repeat(80)}`.repeat(16), null],
    ['4097 bytes in 1377 letters', `/${'字'.repeat(80)}`.repeat(17), 'path_not_normal'],
  ])('%s', (_, path, want) => {
    expect(pathFault(path)).toBe(want)
  })

  it('is normal exactly when its segments make it up again', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('/', '.', 'a'), maxLength: 8 }), (tail) => {
        const path = `/${tail}`
        const resolved = pathSegments(path).every((name) => !['', '.', '..'].includes(name))
        expect(pathFault(path) === null).toBe(path === '/' || resolved)
      }),
    )
  })
})
