/** Tests of the text form: the tree of each text, the place of each error, and the round trip. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { guard, rulesetAround } from '../../../tests/arbitrary/guard.ts'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { validate } from '../kernel/validate.ts'
import type { Guard } from './guard.ts'
import { printGuard } from './guard-print.ts'
import { readGuardText, type SyntaxProblem } from './guard-text.ts'
import { ruleset } from './ruleset.ts'

function tree(source: string): unknown {
  const reading = readGuardText(source)
  if (!reading.ok) throw new Error(reading.problem.message)
  return reading.syntax.tree
}

function problem(source: string, valuesMax?: number): SyntaxProblem {
  const reading = readGuardText(source, valuesMax)
  if (reading.ok) throw new Error(`${source} was read`)
  return reading.problem
}

const a = { op: 'EXISTS', field: 'a' }
const b = { op: 'EXISTS', field: 'b' }
const c = { op: 'EXISTS', field: 'c' }
const [A, B, C] = ['EXISTS(a)', 'EXISTS(b)', 'EXISTS(c)']

describe('reading', () => {
  it.each([
    ['a call', 'EQ(x.y, "v")', { op: 'EQ', field: 'x.y', value: 'v' }],
    ['a set in brackets', 'IN(x, ["A", "B"])', { op: 'IN', field: 'x', set: ['A', 'B'] }],
    ['a set in braces', 'IN(x,{"A","B"})', { op: 'IN', field: 'x', set: ['A', 'B'] }],
    [
      'paths with brackets',
      'INTERSECTS(p.q[], r[].s)',
      { op: 'INTERSECTS', left: 'p.q[]', right: 'r[].s' },
    ],
    [
      'a set on the left',
      'INTERSECTS({"A"}, p[])',
      { op: 'INTERSECTS', left: ['A'], right: 'p[]' },
    ],
    ['an index, to be refused later', 'EXISTS(p[0].q[*])', { op: 'EXISTS', field: 'p[0].q[*]' }],
    ['WINDOW_MATCH()', 'WINDOW_MATCH()', { op: 'WINDOW_MATCH' }],
    ['WINDOW_MATCH alone', 'WINDOW_MATCH', { op: 'WINDOW_MATCH' }],
    ['WINDOW_MATCH(window)', 'WINDOW_MATCH( window )', { op: 'WINDOW_MATCH' }],
    ['an AND chain as one node', `${A} AND ${B} AND ${C}`, { op: 'AND', args: [a, b, c] }],
    [
      'AND before OR',
      `${A} OR ${B} AND ${C}`,
      { op: 'OR', args: [a, { op: 'AND', args: [b, c] }] },
    ],
    [
      'AND before OR, from the left',
      `${A} AND ${B} OR ${C}`,
      { op: 'OR', args: [{ op: 'AND', args: [a, b] }, c] },
    ],
    ['NOT before AND', `NOT ${A} AND ${B}`, { op: 'AND', args: [{ op: 'NOT', arg: a }, b] }],
    ['parentheses first', `NOT (${A} AND ${B})`, { op: 'NOT', arg: { op: 'AND', args: [a, b] } }],
    [
      'parentheses as a node of their own',
      `(${A} AND ${B}) AND ${C}`,
      { op: 'AND', args: [{ op: 'AND', args: [a, b] }, c] },
    ],
    ['parentheses that change nothing', `((${A}))`, a],
    ['NOT NOT', `NOT NOT ${A}`, { op: 'NOT', arg: { op: 'NOT', arg: a } }],
    ['NOT as a call', `NOT(${A})`, { op: 'NOT', arg: a }],
    [
      'AND as a call',
      `AND(${A}, ${B} OR ${C})`,
      { op: 'AND', args: [a, { op: 'OR', args: [b, c] }] },
    ],
    ['a chain of one', `OR(${A})`, { op: 'OR', args: [a] }],
    [
      'infix before a call',
      `${A} AND AND(${B})`,
      { op: 'AND', args: [a, { op: 'AND', args: [b] }] },
    ],
    ['a chain of none, to be refused later', 'AND()', { op: 'AND', args: [] }],
    ['an empty set, to be refused later', 'IN(x, [])', { op: 'IN', field: 'x', set: [] }],
    ['a number, to be refused later', 'EQ(x, -1.5e3)', { op: 'EQ', field: 'x', value: -1500 }],
    ['null, to be refused later', 'EQ(x, null)', { op: 'EQ', field: 'x', value: null }],
    ['true, to be refused later', 'IN(x, [true])', { op: 'IN', field: 'x', set: [true] }],
    ['JSON escapes', 'EQ(x, "\\u0041\\n\\"\\\\")', { op: 'EQ', field: 'x', value: 'A\n"\\' }],
    ['white space', '\tEXISTS\r\n(\na )\n', a],
    ['__proto__ as a path', 'EXISTS(__proto__)', { op: 'EXISTS', field: '__proto__' }],
  ])('%s', (_, source, want) => {
    expect(tree(source)).toEqual(want)
  })
})

describe('a text that is no guard', () => {
  it.each([
    ['nothing', '', 1, 1, 'the end of the guard', null],
    ['a missing operand', 'EQ(x)', 1, 5, 'expected `,`', null],
    ['an operand too many', 'EXISTS(x, y)', 1, 9, 'expected `)`', null],
    ['a bare value', 'EQ(x, HIGH)', 1, 7, 'in double quotes', 'write `"HIGH"`'],
    ['a string for a path', 'EQ("x", "y")', 1, 4, 'expected a path', null],
    ['a string for a side', 'INTERSECTS(x, "y")', 1, 15, 'a path or a set', null],
    ['single quotes', "EQ(x, 'y')", 1, 7, "`'`", 'double quotes'],
    ['an open string', 'EQ(x, "y\n")', 1, 7, 'not closed', null],
    ['a strange escape', 'EQ(x, "\\q")', 1, 7, 'JSON', null],
    ['half a pair', 'EQ(x, "\\ud83d")', 1, 7, 'JSON', null],
    ['a raw tab', 'EQ(x, "\t")', 1, 7, 'JSON', null],
    ['a nested set', 'IN(x, [["A"]])', 1, 8, 'double quotes', null],
    ['a comma too many', 'IN(x, ["A",])', 1, 12, 'double quotes', null],
    ['the wrong bracket', 'IN(x, ["A"})', 1, 11, 'expected `,`', null],
    ['the second line', 'EXISTS(a)\n  AND COUNT(b)', 2, 7, '`COUNT` is no operator', null],
    ['columns in code points', 'EQ(x, "😀") AND ?', 1, 16, '`?`', null],
    ['lower case', 'exists(a)', 1, 1, 'is no operator', 'did you mean `EXISTS`?'],
    ['a misspelt operator', 'INTERSECT(a, b)', 1, 1, 'is no operator', '`INTERSECTS`'],
    ['two conditions', 'EXISTS(a) EXISTS(b)', 1, 11, 'AND, OR or the end', null],
    ['an open group', '(EXISTS(a)', 1, 11, 'expected `)`', null],
    ['a path alone', 'problem_state.confidence', 1, 1, 'is no operator', null],
    ['a comparison', 'x.y >= 3', 1, 5, '`>=` is not part', null],
    ['equality', 'x == "y"', 1, 3, '`==`', 'EQ(path, "value")'],
    ['inequality', 'x != "y"', 1, 3, '`!=`', 'NOT EQ'],
    ['signs for words', 'EXISTS(a) && EXISTS(b)', 1, 11, '`&&`', 'AND'],
    ['signs for NOT', '!EXISTS(a)', 1, 1, '`!`', 'NOT'],
    ['an arrow', 'EXISTS(a) -> EXISTS(b)', 1, 11, '`->`', null],
    ['a comment', 'EXISTS(a) // b', 1, 11, '`//`', null],
    ['an astral sign', '😀', 1, 1, '`😀`', null],
    ['NOT of two', 'NOT(EXISTS(a), EXISTS(b))', 1, 14, 'expected `)`', null],
    ['a window of numbers', 'WINDOW_MATCH(1)', 1, 14, 'expected `)`', null],
  ])('%s', (_, source, line, column, words, hint) => {
    const { place, message, hint: given } = problem(source)
    expect([place.line, place.column]).toEqual([line, column])
    expect(message).toContain(words)
    if (hint === null) expect(given).toBeNull()
    else expect(given).toContain(hint)
  })
})

describe('places', () => {
  it('finds every member of a tree in the source', () => {
    const source = 'EXISTS(a) AND\n NOT IN(b.c, ["X", "Y"])'
    const reading = readGuardText(source)
    if (!reading.ok) throw new Error('unread')
    const found = (pointer: string): string =>
      source.slice(reading.syntax.locate(pointer).offset).split(/[,)\n (]/)[0] ?? ''
    expect(found('')).toBe('EXISTS')
    expect(found('/args/0/field')).toBe('a')
    expect(found('/args/1')).toBe('NOT')
    expect(found('/args/1/arg/op')).toBe('IN')
    expect(found('/args/1/arg/field')).toBe('b.c')
    expect(found('/args/1/arg/set')).toBe('["X"')
    expect(found('/args/1/arg/set/1')).toBe('"Y"]')
    expect(found('/args/1/arg/nothing')).toBe('IN')
    expect(reading.syntax.locate('/args/1')).toEqual({ offset: 15, line: 2, column: 2 })
  })
})

describe('bounds', () => {
  const deep = (levels: number): string => `${'NOT '.repeat(levels)}EXISTS(a)`

  it('nests as deep as a tree in a document may, and no deeper', () => {
    expect(tree(deep(60))).toBeDefined()
    expect(problem(deep(61)).message).toContain('nests deeper')
    const inTree = (levels: number): Guard =>
      levels === 0
        ? { op: 'EXISTS', field: 'permission_set.scale' }
        : { op: 'NOT', arg: inTree(levels - 1) }
    expect(validate(ruleset, rulesetAround(inTree(60))).valid).toBe(true)
    expect(validate(ruleset, rulesetAround(inTree(61))).violations[0]?.code).toBe(
      'document.too_deep',
    )
  })

  it.each([
    ['NOT', 'NOT '.repeat(1_000_000)],
    ['parentheses', '('.repeat(1_000_000)],
    ['calls', 'AND('.repeat(1_000_000)],
  ])('refuses absurd nesting of %s at once', (_, source) => {
    expect(problem(source).message).toContain('nests deeper')
  })

  it('counts values as a document does', () => {
    const reading = readGuardText('EQ(a, "b") AND IN(c, ["d", "e"]) OR INTERSECTS(f, ["g"])')
    expect(reading.ok && reading.syntax.values).toBe(
      valuesIn(tree('EQ(a, "b") AND IN(c, ["d", "e"]) OR INTERSECTS(f, ["g"])')),
    )
  })

  it('holds no more values than it is given', () => {
    expect(readGuardText('EQ(a, "b")', 4).ok).toBe(true)
    expect(problem('EQ(a, "b")', 3).message).toContain('more values')
    expect(problem('IN(a, ["b", "c"])', 5).message).toContain('more values')
    expect(problem('INTERSECTS(a, b) AND WINDOW_MATCH', 8).message).toContain('more values')
  })

  it('is linear in hostile sources of megabytes', () => {
    const size = 4_000_000
    for (const source of [
      `EQ(a, "${'x'.repeat(size)}")`,
      `EQ(a, "${'\\'.repeat(size)}`,
      `"${'"'.repeat(size)}`,
      ' '.repeat(size),
      'a.'.repeat(size / 2),
      'a[1'.repeat(size / 3),
      '1'.repeat(size),
      '>'.repeat(size),
      `EXISTS(a)${' AND EXISTS(a)'.repeat(size / 14)}`,
      `IN(a, [${'"x",'.repeat(size / 4)}`,
    ]) {
      readGuardText(source)
    }
  })
})

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1)
}

describe('printing', () => {
  it.each([
    'EQ(problem_state.problem_type, "EVIDENCE_CONFLICT") AND NOT EXISTS(problem_state.subjectRef.blockId)',
    'IN(problem_state.confidence, ["LOW", "UNKNOWN"])',
    'INTERSECTS(["TIME_GAPS"], problem_state.uncertainty_sources[])',
    'WINDOW_MATCH()',
    'AND(WINDOW_MATCH())',
    'NOT NOT WINDOW_MATCH()',
    'NOT (WINDOW_MATCH() OR WINDOW_MATCH())',
    '(WINDOW_MATCH() AND WINDOW_MATCH()) OR OR(WINDOW_MATCH() OR WINDOW_MATCH())',
  ])('leaves the canonical text as it is: %s', (source) => {
    expect(printGuard(tree(source) as Guard)).toBe(source)
  })

  it('has one text for each guard', () => {
    const texts = [
      '((WINDOW_MATCH))AND(NOT(WINDOW_MATCH(window)))',
      'WINDOW_MATCH AND NOT WINDOW_MATCH',
    ]
    for (const text of texts) {
      expect(printGuard(tree(text) as Guard)).toBe('WINDOW_MATCH() AND NOT WINDOW_MATCH()')
    }
  })

  it('is read back as the same guard', () => {
    fc.assert(
      fc.property(guard, (made) => {
        expect(tree(printGuard(made))).toEqual(made)
      }),
      { numRuns: runs(500) },
    )
  })

  it('is never longer than the tree, so that a text fits wherever its tree did', () => {
    fc.assert(
      fc.property(guard, (made) => {
        expect(printGuard(made).length).toBeLessThanOrEqual(JSON.stringify(made).length)
      }),
    )
  })
})

describe('any text', () => {
  const piece = fc.constantFrom(
    ...['EQ', 'IN', 'AND', 'OR', 'NOT', 'EXISTS', 'INTERSECTS', 'WINDOW_MATCH', '(', ')', '[', ']'],
    ...[
      '{',
      '}',
      ',',
      '"',
      '"a"',
      'a.b',
      'c[]',
      ' ',
      '\n',
      '1',
      '-',
      '\\',
      '😀',
      '\ud800',
      '>',
      'null',
    ],
  )
  const source = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
  )

  it('gives an answer with a place inside the text', () => {
    fc.assert(
      fc.property(source, (text) => {
        const reading = readGuardText(text)
        if (reading.ok) {
          expect(tree(printGuard(reading.syntax.tree as Guard))).toEqual(reading.syntax.tree)
        } else {
          const { offset, line, column } = reading.problem.place
          expect(offset).toBeLessThanOrEqual(text.length)
          expect(line).toBeGreaterThan(0)
          expect(column).toBeGreaterThan(0)
        }
      }),
      { numRuns: runs(1000) },
    )
  })
})
