/** Edits of configurations: what changes, what stays byte for byte, and what is refused by name. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConfigurationChange, type ConfigurationFormat, editConfiguration } from './index.ts'

async function edit(text: string, change: Partial<ConfigurationChange>) {
  return editConfiguration(text, { format: 'json', set: {}, unset: [], ...change })
}

async function textAfter(text: string, change: Partial<ConfigurationChange>): Promise<string> {
  const edited = await edit(text, change)
  return edited.ok ? edited.text : `${edited.code} ${edited.message}`
}

const JSON_TEXT = `{
  // what it is called
  "name": "shop", /* short */
  "ports": [80, 443],
  "deep": {
    "er": true
  }
}
`
const YAML_TEXT = `# settings
name:   "shop"   # short
ports: [80, 443]

deep:
    # the switch
    er: true
    text: |
      one
      two

list:
- a: 1
  b: 2
- z
`
const TOML_TEXT = `# settings
name = 'shop' # short
ratio = 1.0

[deep]
er   =   true
"a.b" = 1

[deep.inner]
list = [
  1, # first
  2,
]

[[fruit]]
name = "apple"

[[fruit]]
name = "pear"
`

describe('a value is replaced where it stands, and nothing else changes', () => {
  it.each<[ConfigurationFormat, string, Record<string, unknown>, string, string]>([
    ['json', JSON_TEXT, { name: 'market' }, '"shop"', '"market"'],
    ['json', JSON_TEXT, { 'deep.er': null }, 'true', 'null'],
    ['json', JSON_TEXT, { 'ports.1': 8443 }, '443', '8443'],
    ['yaml', YAML_TEXT, { name: 'market' }, '"shop"', '"market"'],
    ['yaml', YAML_TEXT, { 'deep.er': false }, 'true', 'false'],
    ['yaml', YAML_TEXT, { 'ports.0': 8080 }, '80,', '8080,'],
    ['yaml', YAML_TEXT, { 'list.0.b': 'x' }, 'b: 2', 'b: x'],
    ['yaml', YAML_TEXT, { 'deep.text': 'one' }, '|\n      one\n      two', 'one'],
    ['toml', TOML_TEXT, { name: 'market' }, "'shop'", "'market'"],
    ['toml', TOML_TEXT, { ratio: 2 }, '1.0', '2.0'],
    ['toml', TOML_TEXT, { '/deep/a.b': 'x' }, '"a.b" = 1', '"a.b" = "x"'],
    ['toml', TOML_TEXT, { 'deep.inner.list.0': 7 }, '1, #', '7, #'],
    ['toml', TOML_TEXT, { 'fruit.1.name': 'plum' }, 'pear', 'plum'],
  ])('%s %#', async (format, text, set, old, wanted) => {
    expect(await textAfter(text, { format, set })).toBe(text.replace(old, wanted))
  })
})

describe('a new key follows the others and is laid out like them', () => {
  it.each<[ConfigurationFormat, string, Record<string, unknown>, string]>([
    ['json', '{\n\t"a": 1 // one\n}', { b: [1] }, '{\n\t"a": 1, // one\n\t"b": [\n\t\t1\n\t]\n}'],
    ['json', '{"a":1}', { b: { c: 2 } }, '{"a":1,"b":{"c":2}}'],
    ['json', '{ "a": 1 }\n', { b: 2 }, '{ "a": 1, "b": 2 }\n'],
    [
      'json',
      '{\r\n  "a": 1\r\n}\r\n',
      { 'b.c': 2 },
      '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n',
    ],
    ['json', '{\n  "a": 1,\n}\n', { b: 2 }, '{\n  "a": 1,\n  "b": 2,\n}\n'],
    ['json', '{}', { a: 1 }, '{\n  "a": 1\n}'],
    ['json', '[1]', { '-': 2 }, '[1,2]'],
    ['yaml', 'a: 1\n# end\n', { b: 2 }, 'a: 1\nb: 2\n# end\n'],
    ['yaml', 'a: 1', { b: 2 }, 'a: 1\nb: 2'],
    [
      'yaml',
      'a: 1\r\nb:\r\n  c: 1\r\n',
      { 'b.d': [1, 2] },
      'a: 1\r\nb:\r\n  c: 1\r\n  d:\r\n    - 1\r\n    - 2\r\n',
    ],
    ['yaml', '# empty\n', { 'a.b': 1 }, '# empty\na:\n  b: 1\n'],
    ['yaml', 'l:\n- a: 1\n', { 'l.-': { a: 2, b: 3 } }, 'l:\n- a: 1\n- a: 2\n  b: 3\n'],
    ['yaml', 'a: {b: 1}\n', { 'a.c': 'x y' }, 'a: {b: 1, c: "x y"}\n'],
    ['yaml', 'a:\n', { a: { b: 1 } }, 'a:\n  b: 1\n'],
    ['toml', '# c\n[a]\nx = 1\n', { y: 1 }, 'y = 1\n\n# c\n[a]\nx = 1\n'],
    [
      'toml',
      '[a]\nx = 1 # one\n\n[b]\n',
      { 'a.y': [1, 'z'] },
      '[a]\nx = 1 # one\ny = [1, "z"]\n\n[b]\n',
    ],
    ['toml', 'x = 1', { 'a.b.c': true }, 'x = 1\n\n[a.b]\nc = true\n'],
    ['toml', 'a.b = 1\n', { 'a.c': 2 }, 'a.b = 1\na.c = 2\n'],
    ['toml', 'a = { b = 1 }\n', { 'a.c': 'd' }, 'a = { b = 1, c = "d" }\n'],
    ['toml', '', { a: { b: 1 } }, 'a = { b = 1 }\n'],
  ])('%s %#', async (format, text, set, wanted) => {
    expect(await textAfter(text, { format, set })).toBe(wanted)
  })
})

describe('what is unset takes its lines and no others', () => {
  it.each<[ConfigurationFormat, string, readonly string[], string]>([
    ['json', JSON_TEXT, ['ports'], JSON_TEXT.replace('  "ports": [80, 443],\n', '')],
    ['json', JSON_TEXT, ['deep'], JSON_TEXT.replace(',\n  "deep": {\n    "er": true\n  }', '')],
    ['json', JSON_TEXT, ['ports.0'], JSON_TEXT.replace('80, ', '')],
    ['json', JSON_TEXT, ['deep.er'], JSON_TEXT.replace('{\n    "er": true\n  }', '{}')],
    ['json', '{"a":1,"b":2,"c":3}', ['b', 'c'], '{"a":1}'],
    [
      'yaml',
      YAML_TEXT,
      ['deep.text'],
      YAML_TEXT.replace('    text: |\n      one\n      two\n', ''),
    ],
    ['yaml', YAML_TEXT, ['list.0.a'], YAML_TEXT.replace('a: 1\n  b', 'b')],
    ['yaml', YAML_TEXT, ['list.1'], YAML_TEXT.replace('- z\n', '')],
    ['yaml', YAML_TEXT, ['name'], YAML_TEXT.replace('name:   "shop"   # short\n', '')],
    ['yaml', 'a:\n  b: 1\nc: 2\n', ['a.b'], 'a: {}\nc: 2\n'],
    ['toml', TOML_TEXT, ['name'], TOML_TEXT.replace("name = 'shop' # short\n", '')],
    ['toml', TOML_TEXT, ['/deep/a.b'], TOML_TEXT.replace('"a.b" = 1\n', '')],
    ['toml', TOML_TEXT, ['fruit.1'], TOML_TEXT.replace('\n[[fruit]]\nname = "pear"\n', '')],
    ['toml', 'a.b = 1\nc = 2', ['c'], 'a.b = 1'],
  ])('%s %#', async (format, text, unset, wanted) => {
    expect(await textAfter(text, { format, unset })).toBe(wanted)
  })
})

describe('what cannot be done is refused by name', () => {
  it.each<[ConfigurationFormat, string, Partial<ConfigurationChange>, string]>([
    ['json', '{"a":1}', { set: { 'a.b': 1 } }, 'config.type'],
    ['json', '{"a":[1]}', { set: { 'a.5': 1 } }, 'config.type'],
    ['json', '{"a":1}', { unset: ['b'] }, 'config.nothing'],
    ['json', '{"a":1,"a":2}', { set: { b: 1 } }, 'config.duplicate'],
    ['json', '{"a":1', { set: { b: 1 } }, 'config.syntax'],
    ['json', '', { set: { b: 1 } }, 'config.syntax'],
    ['json', '['.repeat(100_000), { set: { b: 1 } }, 'config.syntax'],
    ['yaml', 'a: 1\na: 2\n', { set: { b: 1 } }, 'config.duplicate'],
    ['yaml', 'a: 1\n---\nb: 2\n', { set: { b: 1 } }, 'config.syntax'],
    ['yaml', 'a: [1\n', { set: { b: 1 } }, 'config.syntax'],
    ['yaml', 'a: &x {b: 1}\nc: *x\n', { set: { 'c.b': 2 } }, 'config.shared'],
    ['yaml', 'a: &x 1\nc: *x\n', { unset: ['a'] }, 'config.inexact'],
    ['yaml', 'a: text\n', { set: { 'a.b': 2 } }, 'config.type'],
    ['yaml', '[a, b]\n', { unset: ['2'] }, 'config.nothing'],
    ['toml', 'a = 1\na = 2\n', { set: { b: 1 } }, 'config.duplicate'],
    ['toml', 'a = \n', { set: { b: 1 } }, 'config.syntax'],
    ['toml', 'a = 1\n', { set: { b: null } }, 'config.value'],
    ['toml', 'a = 1\n', { set: { 'a.b': 1 } }, 'config.type'],
    ['toml', 'a = 1\n', { unset: ['b'] }, 'config.nothing'],
    ['toml', 'a = 1\n', { set: { b: '\ud800' } }, 'config.value'],
  ])('%s %#', async (format, text, change, code) => {
    expect(await edit(text, { format, ...change })).toMatchObject({ ok: false, code })
  })
})

it('a byte order mark stays, and names of prototypes are names', async () => {
  expect(await textAfter('\ufeff{"a":1}', { set: { a: 2 } })).toBe('\ufeff{"a":2}')
  const set = JSON.parse('{"__proto__.x": 1, "constructor": 2}') as Record<string, unknown>
  expect(await textAfter('{"a":1}', { set })).toBe('{"a":1,"__proto__":{"x":1},"constructor":2}')
  expect(await textAfter('{"a":1}', { unset: ['toString'] })).toContain('config.nothing')
})

const plain = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.toWellFormed()),
  fc.integer(),
  fc.boolean(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((number) => (Object.is(number, -0) ? 0 : number)),
)
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plain,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), tie('any'), { maxKeys: 3 }),
  ),
})).any
const TEXTS: Readonly<Record<ConfigurationFormat, string>> = {
  json: JSON_TEXT,
  yaml: YAML_TEXT,
  toml: TOML_TEXT,
}
const places = fc.constantFrom('name', 'new', 'deep.er', 'deep.new', 'deep.far.new', '/a.b')

describe.each<ConfigurationFormat>(['json', 'yaml', 'toml'])('any value, %s', (format) => {
  const text = TEXTS[format]

  it('is read back as it was set, and all lines of others are there as they were', async () => {
    await fc.assert(
      fc.asyncProperty(places, value, fc.boolean(), async (path, wanted, windows) => {
        const before = windows ? text.replaceAll('\n', '\r\n') : text
        const edited = await edit(before, { format, set: { [path]: wanted } })
        // The door compares what is read back; it must not have to refuse.
        expect(edited, JSON.stringify(edited)).toMatchObject({ ok: true })
        if (!edited.ok) return
        const key = path.split('.').at(-1) ?? ''
        const others = before.split(/\r?\n/).filter((line) => !line.includes(key))
        for (const line of others) expect(edited.text).toContain(line.trim())
        if (windows) expect(edited.text.replaceAll('\r\n', '')).not.toContain('\n')
      }),
      { numRuns: 150 },
    )
  })

  it('set where there was nothing and unset again leaves the text as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('new', 'deep.new', '/x.y'), value, async (path, wanted) => {
        const set = await edit(text, { format, set: { [path]: wanted } })
        expect(set.ok).toBe(true)
        if (!set.ok) return
        expect(await textAfter(set.text, { format, unset: [path] })).toBe(text)
      }),
      { numRuns: 150 },
    )
  })
})
