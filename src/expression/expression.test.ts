/** What holds for every expression: it never throws, it costs little, and what decides, decides. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { Chance } from '../../tests/expression/chance.ts'
import { ENVIRONMENT, Generator, makeValues } from '../../tests/expression/generated.ts'
import { compileExpression, type Environment, type Expression, evaluate } from './index.ts'

const OPEN: Environment = {
  variables: {
    v: { fields: { a: 'string', b: 'string', list: { list: 'any' }, x: 'any', i: 'int' } },
  },
}

function load(source: string, environment: Environment = OPEN): Expression {
  const compiled = compileExpression(source, environment)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults))
  return compiled.expression
}

describe('loading', () => {
  it('answers any text with an expression or with places inside it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (source) => {
        const compiled = compileExpression(source, OPEN)
        if (compiled.ok) return
        expect(compiled.faults.length).toBeGreaterThan(0)
        for (const { offset, line, column } of compiled.faults) {
          expect(offset).toBeLessThanOrEqual(source.length)
          expect(line).toBeLessThanOrEqual(source.split('\n').length)
          expect(column).toBeGreaterThan(0)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('is quick to refuse what is built to be slow', () => {
    const hostile = [
      '('.repeat(4096),
      '['.repeat(4096),
      '!'.repeat(4096),
      '-'.repeat(4096),
      'a.'.repeat(2048),
      'a[a['.repeat(1000),
      'true?'.repeat(800),
      'a->'.repeat(1300),
      `${'v.zzzzzzzzzzzzzzzz&&'.repeat(200)}true`,
      `${'nobody&&'.repeat(500)}true`,
      '"'.repeat(4095),
      `'${'\\x4'.repeat(1000)}'`,
      'x'.repeat(1_000_000),
    ]
    for (const source of hostile) expect(compileExpression(source, OPEN).ok).toBe(false)
  })

  it('names the variables and functions that occur', () => {
    const environment: Environment = {
      ...OPEN,
      functions: { ask: { prepare: (argument) => ({ ok: true, argument }) } },
    }
    const { names } = load("v.i > 1 && ask('x') || v.list.exists(e, e == 1)", environment)
    expect([...names].sort()).toEqual(['ask', 'e', 'v'])
  })

  it('takes only own fields of its tables', () => {
    for (const source of [
      'constructor == 1',
      'v.toString == 1',
      'toString()',
      'hasOwnProperty(v)',
    ]) {
      expect(compileExpression(source, OPEN).ok).toBe(false)
    }
  })
})

describe('evaluating', () => {
  it('never throws, no matter what the values are', () => {
    const chance = new Chance(11)
    const expressions = Array.from({ length: 60 }, () => {
      const compiled = compileExpression(new Generator(chance).condition(3)[0], ENVIRONMENT)
      return compiled.ok ? [compiled.expression] : []
    }).flat()
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (state, turn) => {
        const expression = expressions[turn % expressions.length] as Expression
        const { value, reasons } = evaluate(expression, { state })
        expect([true, false, 'undetermined']).toContain(value)
        expect(reasons.length > 0).toBe(value === 'undetermined')
      }),
    )
    for (const state of [undefined, Object.create({ b: true }), () => true, Symbol('s')]) {
      for (const expression of expressions) evaluate(expression, { state })
    }
  })

  it('reads own properties only', () => {
    const inherited = Object.create({ i: 1 }) as Record<string, unknown>
    expect(evaluate(load('v.i == 1'), { v: inherited }).value).toBe('undetermined')
    expect(evaluate(load('v.i == 1'), Object.create({ v: { i: 1 } })).value).toBe('undetermined')
  })

  it('is decided by the values that it lists', () => {
    const chance = new Chance(5)
    const generator = new Generator(chance)
    let checked = 0
    for (let run = 0; run < runs(1200); run++) {
      const compiled = compileExpression(generator.condition(1 + chance.below(3))[0], ENVIRONMENT)
      if (!compiled.ok) continue
      const values = makeValues(chance)
      const { value, deciding } = evaluate(compiled.expression, values)
      if (value === 'undetermined') continue
      const state = values['state'] as Readonly<Record<string, unknown>>
      const kept = Object.keys(state).filter((name) =>
        deciding.some(({ path }) => new RegExp(`\\bstate\\.${name}\\b`).test(path)),
      )
      const rest = { state: Object.fromEntries(kept.map((name) => [name, state[name]])) }
      const again = evaluate(compiled.expression, rest)
      expect({ source: compiled.expression.source, value: again.value }).toEqual({
        source: compiled.expression.source,
        value,
      })
      checked++
    }
    expect(checked).toBeGreaterThan(300)
  })

  it.each([
    ['v.a.contains(v.b)', true],
    [Array.from({ length: 90 }, () => 'v.a < v.a').join('||'), false],
    [Array.from({ length: 90 }, () => 'size(v.a) < 1').join('||'), false],
    [Array.from({ length: 60 }, () => 'v.x == v.list && false').join('||'), false],
    [Array.from({ length: 60 }, () => 'v.list.exists(e, e == -1)').join('||'), true],
    [Array.from({ length: 60 }, () => 'v.a + v.a == v.b').join('||'), true],
  ])('stops where it would take too long, and only there: %.60s', (source, isTooCostly) => {
    const long = 'a'.repeat(1_000_000)
    const list = Array.from({ length: 100_000 }, (_, index) => index)
    const values = { v: { a: long, b: `${long.slice(0, 500_000)}b`, list, x: list, i: 1 } }
    const { value, reasons } = evaluate(load(source), values)
    const want = isTooCostly ? ['undetermined', 'expression.cost'] : [false, undefined]
    expect([value, reasons[0]?.code]).toEqual(want)
  })

  it('lists no more reasons than can be read', () => {
    const source = Array.from({ length: 100 }, (_, index) => `v.x.f${index}`).join('||')
    expect(evaluate(load(source), { v: { x: {} } }).reasons.length).toBe(16)
  })
})

describe('what an expression needs', () => {
  const environment: Environment = {
    variables: { d: { fields: { t: 'string', u: 'string', b: 'bool' } } },
  }
  it.each([
    ["d.t == 'a'", 'd.t', ['a']],
    ["'a' == d.t", 'd.t', ['a']],
    ["d.t in ['a', 'b']", 'd.t', ['a', 'b']],
    ["d.b && d.t == 'a'", 'd.t', ['a']],
    ["d.t == 'a' || d.t == 'b'", 'd.t', ['a', 'b']],
    ["d.u in ['a', 'b'] && d.t == 'c'", 'd.t', ['c']],
  ])('%s', (source, path, words) => {
    const { needs } = load(source, environment)
    expect([needs?.path, [...(needs?.words ?? [])]]).toEqual([path, words])
  })

  it.each([
    "d.t != 'a'",
    "!(d.t == 'a')",
    "d.t == 'a' || d.u == 'a'",
    "d.t == 'a' || d.b",
    "d.t == 'a' -> d.b",
    "d.b ? d.t == 'a' : d.b",
    "d.t.startsWith('a')",
  ])('nothing: %s', (source) => {
    expect(load(source, environment).needs).toBe(null)
  })
})
