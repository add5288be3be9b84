/** UUIDs: by shape, and time-ordered ones from given time and chance. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BrokenInvariant } from './fault.ts'
import { isUuid, uuidV7 } from './ids.ts'

const random = fc.uint8Array({ minLength: 10, maxLength: 10 })
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

describe('isUuid', () => {
  it.each([
    ['8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11', true],
    ['8F4D0C9E-6F0E-4B43-9F0A-3A1C2E5D7B11', true],
    ['00000000-0000-0000-0000-000000000000', true],
    ['8f4d0c9e6f0e4b439f0a3a1c2e5d7b11', false],
    ['{8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11}', false],
    ['8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b1g', false],
    ['8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11\n', false],
    ['', false],
  ])('%j is %s', (text, want) => {
    expect(isUuid(text)).toBe(want)
  })
})

describe('uuidV7', () => {
  it('lays time, version, chance, variant and chance out as RFC 9562 says', () => {
    const bytes = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    expect(uuidV7(0x0123456789ab, bytes)).toBe('01234567-89ab-7fff-bfff-ffffffffffff')
    expect(uuidV7(0, new Uint8Array(10))).toBe('00000000-0000-7000-8000-000000000000')
  })

  it('is a UUID of version 7 and the RFC variant, no matter the chance', () => {
    fc.assert(
      fc.property(time, random, (nowMs, bytes) => {
        const id = uuidV7(nowMs, bytes)
        expect(isUuid(id)).toBe(true)
        expect(id[14]).toBe('7')
        expect('89ab').toContain(id[19])
      }),
    )
  })

  it('sorts by time', () => {
    fc.assert(
      fc.property(time, time, random, random, (left, right, a, b) => {
        fc.pre(left < right)
        expect(uuidV7(left, a) < uuidV7(right, b)).toBe(true)
      }),
    )
  })

  it('uses 74 bits of chance', () => {
    const seen = new Set<string>()
    for (let bit = 0; bit < 80; bit++) {
      const bytes = new Uint8Array(10)
      bytes[bit >> 3] = 0x80 >> (bit & 7)
      seen.add(uuidV7(0, bytes))
    }
    // Six of the eighty bits give way to version and variant and leave the id of no chance at all.
    seen.delete(uuidV7(0, new Uint8Array(10)))
    expect(seen.size).toBe(74)
  })

  it.each([
    ['too little chance', 0, 9],
    ['a fraction of a millisecond', 0.5, 10],
    ['a time before 1970', -1, 10],
    ['a time past 48 bits', 2 ** 48, 10],
  ])('refuses %s as a bug', (_, nowMs, length) => {
    expect(() => uuidV7(nowMs, new Uint8Array(length))).toThrow(BrokenInvariant)
  })
})
