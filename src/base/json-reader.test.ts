/**
 * The strict reader against JSON.parse and against a naive strict parser written only here.
 *
 * The guard over values that did not come from a text: the same refusals, the same places.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { DOCUMENT_LIMITS, type JsonLimits } from './json-limits.ts'
import { guardValue, isRefusal, readJson, utf8Length } from './json-reader.ts'
import { at } from './pointer.ts'

const SMALL: JsonLimits = { depthMax: 4, valuesMax: 24, bytesMax: 400 }

describe('readJson', () => {
  it.each([
    ['null', null],
    [' {"a" : [ 1 , -2.5e1 , "x" ] }\r\n\t', { a: [1, -25, 'x'] }],
    ['"\\ud83d\\ude00"', '😀'],
    ['[9007199254740991,-9007199254740991]', [9007199254740991, -9007199254740991]],
    ['[1e-400,0.1,9007199254740.5]', [0, 0.1, 9007199254740.5]],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}', { a: { a: { a: 1 } }, b: [{ a: 1 }, { a: 2 }] }],
    ['{"a:\\"b\\\\:":{"\\\\":":"}}', { 'a:"b\\:': { '\\': ':' } }],
  ])('reads %s', (text, value) => {
    expect(readJson(text, DOCUMENT_LIMITS)).toEqual({ ok: true, value })
  })

  it('keeps the names of Object.prototype as own keys', () => {
    const reading = readJson('{"__proto__":{"x":1},"constructor":2}', DOCUMENT_LIMITS)
    expect(reading.ok && Object.keys(reading.value as object)).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it.each([
    ['nothing', '', 'document.not_json', ''],
    ['a bare word', 'hello', 'document.not_json', ''],
    ['a byte order mark', '\ufeff{}', 'document.not_json', ''],
    ['a trailing comma', '{"a":1,}', 'document.not_json', ''],
    ['a comment', '{} // x', 'document.not_json', ''],
    ['two documents', '{} {}', 'document.not_json', ''],
    ['single quotation marks', "{'a':1}", 'document.not_json', ''],
    ['NaN', '[NaN]', 'document.not_json', ''],
    ['a leading zero', '[01]', 'document.not_json', ''],
    ['a leading plus', '[+1]', 'document.not_json', ''],
    ['a bare line break in a string', '"a\nb"', 'document.not_json', ''],
    ['an unknown escape', '"\\x41"', 'document.not_json', ''],
    ['no end', '{"a":[1,2', 'document.not_json', ''],
    ['a key twice', '{"a":1,"b":2,"a":3}', 'document.duplicate_key', '/a'],
    ['a key twice at depth', '{"m":[0,{"x":{"k":1,"k":1}}]}', 'document.duplicate_key', '/m/1/x/k'],
    ['a key twice through an escape', '{"a":1,"\\u0061":2}', 'document.duplicate_key', '/a'],
    ['`__proto__` twice', '{"__proto__":1,"__proto__":2}', 'document.duplicate_key', '/__proto__'],
    ['an infinite number', '{"a":[1e999]}', 'document.bad_number', '/a/0'],
    ['an infinite negative number', '-1e999', 'document.bad_number', ''],
    ['an integer past 2^53-1', '[9007199254740992]', 'document.bad_number', '/0'],
    ['an integer in exponent form', '[1e16]', 'document.bad_number', '/0'],
    ['an integer by rounding', '[9007199254740993.5]', 'document.bad_number', '/0'],
    ['a bad number under a key given twice', '{"a":1e999,"a":1}', 'document.bad_number', '/a'],
    ['half of a pair in a value', '{"a":"x\\ud800y"}', 'document.lone_surrogate', '/a'],
    ['the other half', '["\\udc00"]', 'document.lone_surrogate', '/0'],
    ['a raw half', '["\ud800"]', 'document.lone_surrogate', '/0'],
    ['half of a pair in a key', '{"a":{"b":1,"\\ud800":1}}', 'document.lone_surrogate', '/a'],
  ])('refuses %s', (_, text, code, path) => {
    const reading = readJson(text, DOCUMENT_LIMITS)
    expect(reading).toMatchObject({ ok: false, refusal: { code, path } })
  })

  it('says where a text stops being JSON', () => {
    const reading = readJson('{\n  "a": [1,\n    oops]\n}', DOCUMENT_LIMITS)
    expect(reading).toMatchObject({
      refusal: { message: 'found `o` where a value was expected (line 3, column 5)' },
    })
  })
})

describe('limits', () => {
  const nest = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  it('takes 64 levels and refuses the 65th where it opens', () => {
    expect(readJson(nest(64), DOCUMENT_LIMITS).ok).toBe(true)
    expect(readJson(nest(65), DOCUMENT_LIMITS)).toMatchObject({
      refusal: { code: 'document.too_deep', path: '/0'.repeat(64) },
    })
  })

  it('survives absurd nesting, closed or not', () => {
    for (const text of [nest(1_000_000), '['.repeat(1_000_000), '{"a":'.repeat(500_000)]) {
      expect(readJson(text, DOCUMENT_LIMITS)).toMatchObject({
        refusal: { code: 'document.too_deep' },
      })
    }
  })

  it('takes 100,000 values and refuses one more', () => {
    const list = (values: number): string =>
      `[${Array(values - 1)
        .fill('0')
        .join(',')}]`
    expect(readJson(list(100_000), DOCUMENT_LIMITS).ok).toBe(true)
    expect(readJson(list(100_001), DOCUMENT_LIMITS)).toMatchObject({
      refusal: { code: 'document.too_large', path: '/99999' },
    })
  })

  it('takes 8 MiB and refuses one byte more, counted in UTF-8', () => {
    const bytes = 8 * 1024 * 1024
    expect(readJson(`"${'x'.repeat(bytes - 2)}"`, DOCUMENT_LIMITS).ok).toBe(true)
    expect(readJson(`"${'é'.repeat(bytes / 2 - 1)}"`, DOCUMENT_LIMITS).ok).toBe(true)
    for (const text of [`"${'x'.repeat(bytes - 1)}"`, `"${'é'.repeat(bytes / 2 - 1)}" `]) {
      expect(readJson(text, DOCUMENT_LIMITS)).toMatchObject({
        refusal: { code: 'document.too_large', path: '' },
      })
    }
  })
})

describe('secrets', () => {
  it.each([
    ['half of a pair', '{"env":{"A":"hunter2\\ud800"}}'],
    ['a bad number', '{"body":[12345678901234567890]}'],
    ['what is no JSON', '{"content":§}'],
  ])('are not shown for %s', (_, text) => {
    const reading = readJson(text, DOCUMENT_LIMITS)
    expect(reading.ok).toBe(false)
    expect(JSON.stringify(reading)).not.toMatch(/hunter2|1234567890|§/)
  })
})

/** Texts that are nearly JSON: written from JSON values and then damaged. */
const token = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"b"',
    '"\\u0061"',
    '"\\ud800"',
    '1',
    '-0',
    '1e999',
  ],
  ...[
    '9007199254740992',
    'true',
    'null',
    ' ',
    '\n',
    '\\',
    '0',
    '.5',
    'e5',
    '"__proto__"',
    '\u0000',
  ],
)

const soup = fc.array(token, { maxLength: 14 }).map((tokens) => tokens.join(''))

const written = fc
  .jsonValue({ maxDepth: 5, stringUnit: fc.constantFrom('a', '"', '\\', '\ud800', ':', '😀') })
  .map((value) => JSON.stringify(value))

const member = fc.tuple(fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\udead"'), soup)

const objects = fc
  .array(member, { maxLength: 4 })
  .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`)

const damaged = fc
  .tuple(fc.oneof(written, objects), fc.nat(), fc.nat(2), token)
  .map(([text, where, length, filling]) => {
    const start = where % (text.length + 1)
    return text.slice(0, start) + filling + text.slice(start + length)
  })

const anyText = fc.oneof(soup, written, objects, damaged, fc.string({ unit: 'binary' }))

describe('differential', () => {
  it('accepts exactly what JSON.parse accepts and no rule forbids, with the same value', () => {
    let accepted = 0
    fc.assert(
      fc.property(anyText, (text) => {
        const reading = readJson(text, SMALL)
        const naive = new NaiveParser(text, SMALL).read()
        expect(reading.ok).toBe(naive.ok)
        if (reading.ok && naive.ok) {
          accepted++
          expect(reading.value).toEqual(JSON.parse(text))
          expect(reading.value).toEqual(naive.value)
        } else if (!reading.ok && !naive.ok) {
          expect({ code: reading.refusal.code, path: reading.refusal.path }).toEqual({
            code: naive.code,
            path: naive.path,
          })
          if (!parses(text)) return
          expect(naive.code).not.toBe('document.not_json')
        }
      }),
      { numRuns: runs(2000) },
    )
    expect(accepted).toBeGreaterThan(200)
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

type Naive =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly path: string }

/** A recursive parser written from RFC 8259 and C-3 alone; the first fault in the text wins. */
class NaiveParser {
  readonly #text: string
  readonly #limits: JsonLimits
  #index = 0
  #values = 0

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  read(): Naive {
    if (new TextEncoder().encode(this.#text).length > this.#limits.bytesMax) {
      return { ok: false, code: 'document.too_large', path: '' }
    }
    try {
      const value = this.#value('', 0)
      this.#space()
      if (this.#index < this.#text.length) this.#fail('not_json', '')
      return { ok: true, value }
    } catch (thrown) {
      if (thrown instanceof NaiveRefusal) return { ok: false, code: thrown.code, path: thrown.path }
      throw thrown
    }
  }

  #fail(code: string, path: string): never {
    throw new NaiveRefusal(`document.${code}`, code === 'not_json' ? '' : path)
  }

  #space(): void {
    while (' \t\n\r'.includes(this.#text[this.#index] ?? 'end')) this.#index++
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.#index)) return false
    this.#index += word.length
    return true
  }

  #value(path: string, depth: number): unknown {
    this.#space()
    if (++this.#values > this.#limits.valuesMax) this.#fail('too_large', path)
    const next = this.#text[this.#index]
    if ((next === '{' || next === '[') && depth === this.#limits.depthMax) {
      this.#fail('too_deep', path)
    }
    if (this.#take('{')) return this.#object(path, depth + 1)
    if (this.#take('[')) return this.#list(path, depth + 1)
    if (next === '"') {
      const text = this.#string()
      if (/\p{Surrogate}/u.test(text)) this.#fail('lone_surrogate', path)
      return text
    }
    if (this.#take('true')) return true
    if (this.#take('false')) return false
    if (this.#take('null')) return null
    return this.#number(path)
  }

  #object(path: string, depth: number): unknown {
    const members = new Map<string, unknown>()
    this.#space()
    if (this.#take('}')) return {}
    do {
      this.#space()
      const key = this.#string()
      if (/\p{Surrogate}/u.test(key)) this.#fail('lone_surrogate', path)
      const place = at(path, key)
      if (members.has(key)) this.#fail('duplicate_key', place)
      this.#space()
      if (!this.#take(':')) this.#fail('not_json', place)
      members.set(key, undefined)
      members.set(key, this.#value(place, depth))
      this.#space()
    } while (this.#take(','))
    if (!this.#take('}')) this.#fail('not_json', path)
    return Object.fromEntries(members)
  }

  #list(path: string, depth: number): unknown {
    const items: unknown[] = []
    this.#space()
    if (this.#take(']')) return items
    do {
      items.push(this.#value(at(path, items.length), depth))
      this.#space()
    } while (this.#take(','))
    if (!this.#take(']')) this.#fail('not_json', path)
    return items
  }

  #string(): string {
    const escapes: Record<string, string> = {
      '"': '"',
      '\\': '\\',
      '/': '/',
      b: '\b',
      f: '\f',
      n: '\n',
      r: '\r',
      t: '\t',
    }
    if (!this.#take('"')) this.#fail('not_json', '')
    let text = ''
    while (!this.#take('"')) {
      const unit = this.#text[this.#index++]
      if (unit === undefined || unit < ' ') return this.#fail('not_json', '')
      if (unit !== '\\') {
        text += unit
        continue
      }
      const letter = this.#text[this.#index++] ?? ''
      const hex = this.#text.slice(this.#index, this.#index + 4)
      if (letter === 'u' && /^[0-9a-f]{4}$/i.test(hex)) {
        text += String.fromCharCode(Number.parseInt(hex, 16))
        this.#index += 4
      } else if (Object.hasOwn(escapes, letter)) {
        text += escapes[letter]
      } else {
        return this.#fail('not_json', '')
      }
    }
    return text
  }

  #number(path: string): number {
    const match = /^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?/.exec(
      this.#text.slice(this.#index),
    )
    if (match === null) return this.#fail('not_json', path)
    this.#index += match[0].length
    const value = Number.parseFloat(match[0])
    const whole = Math.floor(value) === value
    if (!Number.isFinite(value) || (whole && Math.abs(value) > 2 ** 53 - 1)) {
      this.#fail('bad_number', path)
    }
    return value
  }
}

class NaiveRefusal extends Error {
  readonly code: string
  readonly path: string

  constructor(code: string, path: string) {
    super(code)
    this.code = code
    this.path = path
  }
}

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
      { numRuns: runs(1000) },
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
