/** Digests: the form, and that they are taken over the canonical bytes. */
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical.ts'
import { digestBytes, digestDocument, isDigest } from './hash.ts'

describe('digests', () => {
  it('are `sha256:` and lower hex of the bytes', () => {
    // SHA-256 of the empty message and of "abc", as FIPS 180 publishes them.
    expect(digestBytes('')).toBe(
      'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    )
    expect(digestBytes(new TextEncoder().encode('abc'))).toBe(
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('of a document do not depend on key order or on how a number was written', () => {
    const left = digestDocument(JSON.parse('{"a":1.0,"b":[2]}'))
    expect(left).toBe(digestDocument(JSON.parse('{"b":[2e0],"a":1}')))
    expect(left).toBe(digestBytes('{"a":1,"b":[2]}'))
    expect(left).not.toBe(digestDocument({ a: 1, b: [3] }))
  })

  it('are the same for a document that is written in pieces', () => {
    for (const length of [0, 256, 257, 513]) {
      const items = Array.from({ length }, (_, index) => ({ b: index, a: ['播种', '\\ud', index] }))
      const document = { title: 'x', items, '9': items, '10': [], z: { items } }
      expect(digestDocument(document)).toBe(digestBytes(canonicalJson(document)))
      expect(digestDocument({ items })).toBe(digestBytes(canonicalJson({ items })))
    }
  })

  it('take a text as its UTF-8 bytes', () => {
    expect(digestBytes('播种😀')).toBe(digestBytes(new TextEncoder().encode('播种😀')))
  })

  it('are recognised by shape', () => {
    expect(isDigest(digestBytes('x'))).toBe(true)
    expect(isDigest(digestBytes('x').toUpperCase())).toBe(false)
    expect(isDigest(`sha256:${'a'.repeat(63)}`)).toBe(false)
    expect(isDigest(`${digestBytes('x')}\n`)).toBe(false)
  })
})
