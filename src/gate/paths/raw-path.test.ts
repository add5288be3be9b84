/** Tests of paths as bytes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesOfRaw,
  displayOfRaw,
  isBelow,
  joinRaw,
  nameOfRaw,
  parentOfRaw,
  rawOfBytes,
  rawOfText,
  textOfRaw,
} from './raw-path.ts'

describe('raw paths', () => {
  it('keep every byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20_000 }), (bytes) => {
        expect(bytesOfRaw(rawOfBytes(bytes))).toEqual(bytes)
      }),
    )
  })

  it('give back the text they were made from', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const wellFormed = text.toWellFormed()
        expect(textOfRaw(rawOfText(wellFormed))).toBe(wellFormed)
        expect(displayOfRaw(rawOfText(wellFormed))).toBe(wellFormed)
      }),
    )
  })

  it('spell no text when they are not UTF-8, and still have a form for people', () => {
    const path = rawOfBytes(Uint8Array.of(0x2f, 0xff, 0x61))
    expect(textOfRaw(path)).toBeNull()
    expect(displayOfRaw(path)).toBe('/\ufffda')
  })

  it('are ordered by their bytes', () => {
    const texts = ['/z', '/é', '/a/\u{10000}', '/a/\uffff']
    const raws = texts.map(rawOfText).sort()
    const bytes = texts.map((text) => Buffer.from(text)).sort(Buffer.compare)
    expect(raws.map((raw) => Buffer.from(bytesOfRaw(raw)))).toEqual(bytes)
  })

  it('are cut and joined as paths are', () => {
    const path = rawOfText('/a/b')
    expect(parentOfRaw(path)).toBe('/a')
    expect(parentOfRaw(rawOfText('/a'))).toBe('/')
    expect(nameOfRaw(path)).toBe('b')
    expect(joinRaw(rawOfText('/'), rawOfText('a'))).toBe('/a')
    expect(joinRaw(rawOfText('/a'), rawOfText('b'))).toBe('/a/b')
  })

  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/', true],
    ['/', '/a', false],
  ])('%s below %s: %s', (path, directory, answer) => {
    expect(isBelow(rawOfText(path), rawOfText(directory))).toBe(answer)
  })
})
