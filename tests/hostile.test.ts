/**
 * Hostile documents never make writ throw or hang (C-3): arbitrary values, arbitrary texts, and
 * realistic documents with hostile parts, against every contract, scope and reader. The long form
 * runs a million of them.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DOCUMENT_LIMITS, readJson } from '../src/base/index.ts'
import {
  checkDocument,
  checkText,
  contractNames,
  normaliseAndValidate,
} from '../src/contracts/index.ts'
import { loadVectors } from './vectors/vector.ts'

const IS_LONG_FORM = process.env['WRIT_HOSTILE_RUNS'] !== undefined
const RUNS = Number(process.env['WRIT_HOSTILE_RUNS'] ?? 2000)
const names = contractNames()
const realistic = loadVectors('spec/vectors/contracts', 'contracts/1').flatMap(
  ({ document, as }) => (document === undefined ? [] : [{ document, as: as ?? 'record' }]),
)

const key = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'valueOf',
    'hasOwnProperty',
    'length',
    '',
    'a/b',
    'a~b',
    '\ud800',
    'type',
    'nodes',
    'edges',
    'rules',
  ),
  fc.string({ maxLength: 8 }),
)
const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_VALUE,
    -0,
    1e308,
    '',
    '\u0000',
    '\ud800',
    '\u202e',
    'sha256:',
    '**',
    '[]',
  ),
  fc.double(),
  fc.string({ unit: 'binary', maxLength: 12 }),
)
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(fromPairs),
  ),
})).value

function fromPairs(pairs: readonly (readonly [string, unknown])[]): unknown {
  const object = {}
  for (const [name, member] of pairs) {
    Object.defineProperty(object, name, {
      value: member,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return object
}

/** A realistic document with one place replaced by something hostile. */
const mutated = fc.tuple(fc.nat(), fc.nat(), value).map(([which, where, replacement]) => {
  const { document, as } = realistic[which % realistic.length] as (typeof realistic)[number]
  const copy = structuredClone(document)
  const places: [object, string][] = []
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const step of Object.keys(node)) {
      places.push([node, step])
      collect((node as Record<string, unknown>)[step])
    }
  }
  collect(copy)
  const place = places[where % Math.max(1, places.length)]
  if (place !== undefined)
    Object.defineProperty(place[0], place[1], {
      value: replacement,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return { document: copy, as }
})

const sources = () => ({ nowMs: 0, newId: () => '00000000-0000-4000-8000-000000000000' })

const LONG = ['ao_act_task_v0', 'action_descriptor', 'ruleset_v0', 'plan_json_v1']

/** One contract for each long text, by its name; every one in the long form. */
function contractsFor(name: string): readonly string[] {
  return IS_LONG_FORM ? LONG : LONG.filter((_, index) => index === name.length % LONG.length)
}

describe('hostile documents', () => {
  it(`are answered: ${RUNS} values against every contract in turn`, () => {
    let turn = 0
    fc.assert(
      fc.property(
        fc.oneof(
          value.map((document) => ({ document, as: names[turn++ % names.length] as string })),
          mutated,
        ),
        ({ document, as }) => {
          const answer = checkDocument(document, { as, context: { task: document } })
          expect(answer.valid).toBe(answer.violations.length === 0)
          normaliseAndValidate(as, document, {}, sources())
          checkDocument(document)
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('as texts are read or refused, never thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.json(),
          fc.json().map((text) => text.slice(0, -1)),
          fc.json().map((text) => `${text}${text}`),
        ),
        (text) => {
          const reading = readJson(text, DOCUMENT_LIMITS)
          expect(checkText(text).valid && !reading.ok).toBe(false)
        },
      ),
      { numRuns: Math.max(1000, RUNS / 10) },
    )
  })

  it.each([
    ['deep arrays', '['.repeat(500_000)],
    ['deep objects', '{"a":'.repeat(300_000)],
    ['a very long string', JSON.stringify('x'.repeat(7_000_000))],
    ['many keys', `{${Array.from({ length: 99_000 }, (_, index) => `"k${index}":1`).join()}}`],
    ['many equal keys', `{${'"k":1,'.repeat(99_000)}"k":1}`],
    [
      'many violations below a long key',
      `{"${'k'.repeat(1_000_000)}":[${'{"priority":1},'.repeat(20_000)}1]}`,
    ],
    ['a long number', '9'.repeat(1_000_000)],
    ['backslashes', `"${'\\\\'.repeat(1_000_000)}"`],
  ])(
    '%s',
    (name, text) => {
      // An answer at all is the point; the runner's own limit ends a hang.
      for (const as of contractsFor(name)) {
        expect(checkText(text, { as }).violations.length).toBeGreaterThan(0)
      }
    },
    120_000,
  )
})
