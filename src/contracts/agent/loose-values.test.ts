/** How loose values are read. */
import { describe, expect, it } from 'vitest'
import {
  cutText,
  firstFilled,
  firstLine,
  isBlank,
  isIsoTime,
  isStringList,
  readInteger,
  readWord,
  spellsInteger,
} from './loose-values.ts'

describe('readInteger', () => {
  it.each([
    [7, 7],
    [-3, -3],
    ['7', 7],
    [' +7\n', 7],
    ['-0', 0],
    ['007', 7],
    [7.5, null],
    ['7.0', null],
    ['1e3', null],
    ['0x10', null],
    ['', null],
    [' ', null],
    ['9007199254740993', null],
    [1e300, null],
    [true, null],
    [null, null],
    [[7], null],
  ])('reads %j as %j', (value, want) => {
    expect(Object.is(readInteger(value), want)).toBe(true)
  })

  it('tells a number that is too large from none', () => {
    expect(spellsInteger('9007199254740993')).toBe(true)
    expect(spellsInteger('many')).toBe(false)
    expect(spellsInteger(7)).toBe(false)
  })
})

describe('texts', () => {
  it.each([
    ['\n \r\n  Build it  \nmore', 'Build it'],
    ['one\rtwo', 'one'],
    ['one\u2028two', 'one'],
    ['', null],
    [' \n\t', null],
    [5, null],
    [undefined, null],
  ])('the first line of %j is %j', (text, want) => {
    expect(firstLine(text)).toBe(want)
  })

  it('cuts between characters, never inside one', () => {
    expect(cutText('abc', 3)).toBe('abc')
    expect(cutText('abcd', 3)).toBe('abc')
    expect(cutText('😀😀😀', 2)).toBe('😀😀')
    expect(cutText('a😀😀', 2)).toBe('a😀')
    expect(cutText('😀'.repeat(200), 120)).toBe('😀'.repeat(120))
  })

  it('knows blank from filled', () => {
    for (const value of ['', ' \n\u00a0', null, 5, undefined, ['a']]) {
      expect(isBlank(value)).toBe(true)
    }
    expect(isBlank(' a ')).toBe(false)
    expect(firstFilled(null, ' ', ' a ', 'b')).toBe(' a ')
    expect(firstFilled(null, 5)).toBeNull()
  })

  it('reads words as enumerations spell them', () => {
    expect(readWord(' depends_on\n')).toBe('DEPENDS_ON')
    expect(readWord(5)).toBeNull()
  })

  it('takes a list of strings for one only if all are', () => {
    expect(isStringList([])).toBe(true)
    expect(isStringList(['a', ''])).toBe(true)
    expect(isStringList(['a', 1])).toBe(false)
    expect(isStringList('a')).toBe(false)
  })
})

describe('isIsoTime', () => {
  it.each([
    '2026-01-31',
    '2026-01-31T08:00',
    '2026-01-31T08:00:00',
    '2026-01-31T08:00:00.123456',
    '2026-01-31T08:00:00Z',
    '2026-01-31T08:00:00+02:00',
  ])('%s is', (text) => {
    expect(isIsoTime(text)).toBe(true)
  })

  it.each(['', 'now', '2026-02-30', '2026-01-31 08:00', '31.01.2026', '1760000000', 'T08:00Z'])(
    '%j is not',
    (text) => {
      expect(isIsoTime(text)).toBe(false)
    },
  )
})
