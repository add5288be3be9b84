/** Edits of configurations: what changes, what stays byte for byte, and what is refused by name. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
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

interface Vector {
  readonly id: string
  readonly note: string
  readonly format: ConfigurationFormat
  readonly text: string
  readonly set?: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[]
  readonly want?: string
  readonly wantFault?: string
}

const { cases } = JSON.parse(readFileSync('spec/vectors/configuration/edits.json', 'utf8')) as {
  readonly cases: readonly Vector[]
}

describe('configuration vectors', () => {
  it.each(cases.map((one) => [one.id, one.note, one] as const))(
    '%s: %s',
    async (_id, _note, { format, text, set = {}, unset = [], want, wantFault }) => {
      const edited = await edit(text, { format, set, unset })
      if (wantFault === undefined) expect(edited).toEqual({ ok: true, text: want })
      else expect(edited).toMatchObject({ ok: false, code: wantFault })
    },
  )

  it('are many, and each name is used once', () => {
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThanOrEqual(60)
  })
})

describe('what is not in the vectors', () => {
  it('half a character, and nesting without end', async () => {
    const half = await edit('a = 1\n', { format: 'toml', set: { b: '\ud800' } })
    expect(half).toMatchObject({ ok: false, code: 'config.value' })
    for (const format of ['json', 'yaml', 'toml'] as const) {
      const deep = await edit('['.repeat(20_000), { format, set: { b: 1 } })
      expect(deep).toMatchObject({ ok: false, code: 'config.syntax' })
    }
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
      { numRuns: runs(60) },
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
      { numRuns: runs(60) },
    )
  })
})
