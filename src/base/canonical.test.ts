/** Canonical JSON against RFC 8785: numbers, key order, escapes, and the fixed point. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, isCanonicalText, isSurelyCanonical } from './canonical.ts'
import { BrokenInvariant } from './fault.ts'
import { DOCUMENT_LIMITS } from './json-limits.ts'
import { guardValue, isRefusal } from './json-reader.ts'

describe('numbers are written as ECMAScript writes them', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['-0.0e5', '0'],
    ['10.0', '10'],
    ['1E3', '1000'],
    ['0.1', '0.1'],
    ['-1.50', '-1.5'],
    ['1e-6', '0.000001'],
    ['1e-7', '1e-7'],
    ['0.00000123', '0.00000123'],
    ['123456789012345680000.5', '123456789012345680000'],
    ['1e21', '1e+21'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['5e-324', '5e-324'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['9007199254740991', '9007199254740991'],
    ['333333333.33333329', '333333333.3333333'],
  ])('%s becomes %s', (text, want) => {
    expect(canonicalJson(JSON.parse(text))).toBe(want)
  })
})

describe('strings are escaped no more than they must be', () => {
  it.each([
    ['quotation mark and backslash', '"\\', String.raw`"\"\\"`],
    ['the five short escapes', '\b\t\n\f\r', String.raw`"\b\t\n\f\r"`],
    [
      'other control characters in lower hex',
      '\u0000\u000b\u001f',
      String.raw`"\u0000\u000b\u001f"`,
    ],
    ['no escape for a solidus', 'a/b', '"a/b"'],
    [
      'no escape for delete, line separators or astral characters',
      '\u007f\u2028😀',
      '"\u007f\u2028😀"',
    ],
    ['no normalisation', 'A\u030a', '"A\u030a"'],
  ])('%s', (_, text, want) => {
    expect(canonicalJson(text)).toBe(want)
  })
})

describe('keys are sorted by UTF-16 units', () => {
  it('puts an astral key before U+FFFD, and digits as text', () => {
    const object = { '\ufffd': 1, '😀': 2, é: 3, b: 4, B: 5, '10': 6, '9': 7, '': 8, '\n': 9 }
    expect(canonicalJson(object)).toBe(
      '{"":8,"\\n":9,"10":6,"9":7,"B":5,"b":4,"é":3,"😀":2,"\ufffd":1}',
    )
  })

  it('sorts at every depth and leaves lists in order', () => {
    expect(canonicalJson({ b: [{ z: null, a: true }, 3, 1], a: {} })).toBe(
      '{"a":{},"b":[{"a":true,"z":null},3,1]}',
    )
  })

  it('treats the names of Object.prototype as data', () => {
    const text = '{"__proto__":{"toString":1},"constructor":2}'
    expect(canonicalJson(JSON.parse(text))).toBe(text)
  })
})

describe('what is no JSON value is a bug', () => {
  it.each([
    ['undefined', undefined],
    ['a bigint', 1n],
    ['not a number', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['half of a pair', '\ud800'],
    ['half of a pair in a key', { '\udc00': 1 }],
  ])('%s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(BrokenInvariant)
  })
})

describe('laws', () => {
  const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 })

  it('is a fixed point and keeps the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
        // JSON.stringify writes -0 as 0 as well, so both sides lost the sign alike.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('does not depend on the order of insertion', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), json), (object) => {
        const reversed = Object.fromEntries(Object.entries(object).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson(object))
      }),
    )
  })
})

describe('a text is canonical or not', () => {
  const exactly = (text: string) => canonicalJson(JSON.parse(text)) === text

  it.each([
    '{"a":1,"b":2}',
    '{"b":1,"a":2}',
    '{"a":{"c":1,"b":2}}',
    '{"10":1,"9":2}',
    '{"9":1,"10":2}',
    '{"a":1,"a":1}',
    '{"a ":1,"a":2}',
    '{"a":1,"a ":2}',
    '{"a":1,"a!":2,"aa":3}',
    '{"":1,"a":2}',
    '{"a":[],"b":{},"c":[{}],"d":[true,false,null,-1.5,1e-7]}',
    '{"a" :1}',
    '{"a":1 }',
    ' 1',
    '1 ',
    '[1 ]',
    '1E3',
    '1e3',
    '12345678901234567890',
    '{"a":1,\n"b":2}',
    '[1, 2]',
    '1.0',
    '-0',
    '{"__proto__":1,"a":2}',
    '"\\u0061"',
  ])('%s', (text) => {
    expect(isCanonicalText(text, JSON.parse(text))).toBe(exactly(text))
  })

  it('as the exact writer tells it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.boolean(), (value, sorted) => {
        const text = sorted ? canonicalJson(value) : JSON.stringify(value)
        expect(isCanonicalText(text, JSON.parse(text))).toBe(exactly(text))
      }),
    )
  })
})

describe('what is seen at a glance is sound', () => {
  const { depthMax } = DOCUMENT_LIMITS
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

  it.each([
    '1e+21',
    '9007199254740992',
    '-9007199254740993',
    '1e+400',
    '"\\ud800"',
    '["\ud800"]',
    '{"\ud800":1}',
    nested(depthMax + 1),
  ])('not %s', (text) => {
    expect(isSurelyCanonical(text, depthMax)).toBe(false)
  })

  it.each(['{"a":[1,2.5,-3],"b":null}', '"ä𝄞"', '9007199254740991', nested(depthMax)])(
    'but %s',
    (text) => {
      expect(isSurelyCanonical(text, depthMax)).toBe(true)
    },
  )

  it('everything it says yes to, the guard and the exact writer accept', () => {
    const options = { noUnicodeString: false, maxDepth: 8 }
    fc.assert(
      fc.property(fc.jsonValue(options), fc.integer({ min: 0, max: 8 }), (value, depth) => {
        const text = canonicalJson(JSON.parse(JSON.stringify(value)))
        if (!isSurelyCanonical(text, depth)) return
        const read: unknown = JSON.parse(text)
        expect(canonicalJson(read)).toBe(text)
        expect(isRefusal(guardValue(read, { ...DOCUMENT_LIMITS, depthMax: depth }))).toBe(false)
      }),
    )
  })
})

describe('the quick writer and the exact one', () => {
  /** As RFC 8785 says it, with nothing of ours. */
  function naive(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(naive).join(',')}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${naive(item)}`).join(',')}}`
  }

  it('agree on every value, no matter the keys', () => {
    const key = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('__proto__', 'toJSON', '0', '10', '9', 'a', 'B', '\\ud', '-1', 'constructor'),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constant('\\ud83d'),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    }))
    fc.assert(
      fc.property(value, (given) => {
        expect(canonicalJson(given)).toBe(naive(given))
      }),
    )
  })

  it('agree on lists whose items have the same keys in another order, or more, or fewer', () => {
    const keys = fc.shuffledSubarray(['b', 'a', 'c', 'd', '1'])
    const item = keys.map((names) =>
      Object.fromEntries(names.map((name) => [name, [{ [name]: 1 }]])),
    )
    fc.assert(
      fc.property(fc.array(item), (items) => {
        expect(canonicalJson(items)).toBe(naive(items))
      }),
    )
  })

  it('refuse half a pair and what is no JSON at any depth', () => {
    for (const broken of ['\ud83d', undefined, Number.NaN, 1n, () => 1]) {
      expect(() => canonicalJson({ b: [1, { a: broken }], a: 1 })).toThrow(BrokenInvariant)
    }
    expect(() => canonicalJson({ '\udc00': 1 })).toThrow(BrokenInvariant)
  })
})
