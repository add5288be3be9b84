/** The guard over values that did not come from a text: the same refusals, the same places. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8Length } from './json-bytes.ts'
import { guardValue, isRefusal } from './json-guard.ts'
import { DOCUMENT_LIMITS, type JsonLimits } from './json-limits.ts'
import { readJson } from './json-reader.ts'

function refusal(value: unknown, limits: JsonLimits = DOCUMENT_LIMITS): string | null {
  const result = guardValue(value, limits)
  return isRefusal(result) ? `${result.code} at ${result.path}` : null
}

describe('guardValue', () => {
  const cycle: Record<string, unknown> = {}
  cycle['a'] = [cycle]

  it.each([
    ['undefined', undefined, 'document.not_json at '],
    ['a function', { a: () => 1 }, 'document.not_json at /a'],
    ['a symbol', [Symbol('x')], 'document.not_json at /0'],
    ['a bigint', [1n], 'document.not_json at /0'],
    ['a date', { a: [new Date(0)] }, 'document.not_json at /a/0'],
    ['a map', new Map(), 'document.not_json at '],
    ['undefined in a list', [1, undefined, 3], 'document.not_json at /1'],
    ['not a number', { a: Number.NaN }, 'document.bad_number at /a'],
    ['infinity', { a: Number.NEGATIVE_INFINITY }, 'document.bad_number at /a'],
    ['2^53', { a: 2 ** 53 }, 'document.bad_number at /a'],
    ['half of a pair', { a: ['\udc00'] }, 'document.lone_surrogate at /a/0'],
    ['half of a pair in a key', { a: { '\ud800': 1 } }, 'document.lone_surrogate at /a'],
    ['a cycle', cycle, `document.too_deep at ${'/a/0'.repeat(32)}`],
  ])('refuses %s', (_, value, want) => {
    expect(refusal(value)).toBe(want)
  })

  it('takes objects without a prototype', () => {
    expect(refusal(Object.assign(Object.create(null), { a: 1 }))).toBeNull()
  })

  it('refuses strings of more bytes than a document has, and no fewer', () => {
    const limits = { depthMax: 4, valuesMax: 10, bytesMax: 12 }
    expect(refusal({ ab: '播播播', c: 'd' }, limits)).toBe('document.too_large at ')
    expect(refusal({ a: '播播播', c: 'd' }, limits)).toBeNull()
    expect(refusal(['x'.repeat(13)], limits)).toBe('document.too_large at ')
    expect(refusal(['x'.repeat(12)], limits)).toBeNull()
  })

  it('hides values in secret places', () => {
    const result = guardValue({ headers: { a: 'hunter2\ud800' } }, DOCUMENT_LIMITS)
    expect(JSON.stringify(result)).toContain('lone_surrogate')
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })

  it('agrees with the reader on what a text of the value would give', () => {
    const limits = { depthMax: 3, valuesMax: 12, bytesMax: 1000 }
    const unit = fc.constantFrom('a', '\ud800', '😀')
    const number = fc.oneof(fc.integer(), fc.constantFrom(2 ** 53, -(2 ** 60), 1e300, 0.5))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        number,
        fc.string({ unit, maxLength: 3 }),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.string({ unit, maxLength: 3 }), tie('value'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(value, (document) => {
        const reading = readJson(JSON.stringify(document), limits)
        const want = reading.ok ? null : `${reading.refusal.code} at ${reading.refusal.path}`
        expect(refusal(document, limits)).toBe(want)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('utf8Length', () => {
  it('counts what an encoder writes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'é', '播', '😀', '\ud800', '\udc00') }),
        (text) => {
          expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
        },
      ),
    )
  })
})
