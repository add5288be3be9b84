/** What a message may show of a value: escaped, cut, and never a secret. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../tests/arbitrary/runs.ts'
import { isSecretPlace, show, showName } from './show.ts'

describe('show', () => {
  it.each([
    ['a string in its quotation marks', 'ann', '`"ann"`'],
    ['a number', 1.5, '`1.5`'],
    ['true', true, '`true`'],
    ['null', null, '`null`'],
    ['an empty list', [], '`[]`'],
    ['a list by its length', [1, 2], '`[2 items]`'],
    ['a list of one', ['a'], '`[1 item]`'],
    ['an empty object', {}, '`{}`'],
    ['an object of one', { a: 1 }, '`{1 key}`'],
    ['an object by its size', { a: 1, b: 2, c: 3 }, '`{3 keys}`'],
    ['a backtick', 'a`b', '`"a\\u0060b"`'],
    ['a line break', 'a\nb', '`"a\\nb"`'],
    ['a right-to-left override', 'a\u202eb', '`"a\\u202eb"`'],
    ['a zero-width space', 'a\u200bb', '`"a\\u200bb"`'],
    ['a terminal escape', '\u001b[2J', '`"\\u001b[2J"`'],
    ['half of a pair', '\ud800', '`"\\ud800"`'],
    ['a whole pair', '😀播', '`"😀播"`'],
  ])('shows %s', (_, value, want) => {
    expect(show(value, '/a')).toBe(want)
  })

  it('cuts to 80 characters, and says that it did', () => {
    expect(show('x'.repeat(78), '')).toBe(`\`"${'x'.repeat(78)}"\``)
    expect(show('x'.repeat(79), '')).toBe(`\`"${'x'.repeat(78)}…\``)
    expect(show('😀'.repeat(78), '')).toBe(`\`"${'😀'.repeat(78)}"\``)
    expect(show('😀'.repeat(100), '')).toBe(`\`"${'😀'.repeat(78)}…\``)
    expect(showName('')).toBe('`""`')
    expect(showName('k'.repeat(81))).toBe(`\`${'k'.repeat(79)}…\``)
  })

  it('is one line of at most 80 characters between its backticks, and well formed', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('a', '\n', '`', '😀', '\ud83d', '\udc00', '"'),
          maxLength: 300,
        }),
        (text) => {
          for (const shown of [show(text, ''), showName(text)]) {
            expect(shown).toMatch(/^`[^`\n]*`$/)
            expect([...shown].length).toBeLessThanOrEqual(82)
            expect(shown.isWellFormed()).toBe(true)
          }
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  it('does not cost more for a long text than for a short one', () => {
    const long = 'x'.repeat(8_000_000)
    for (let round = 0; round < 10_000; round++) expect(show(long, '').length).toBeLessThan(1000)
  })
})

describe('secret places', () => {
  it.each([
    ['/env'],
    ['/env/TOKEN'],
    ['/operation/headers/authorization'],
    ['/stdin'],
    ['/content'],
    ['/files/0/content_base64'],
    ['/contents/0'],
    ['/content\n2'],
    ['/request/body/0/x'],
    ['/nodes/0/executor/secrets/0'],
  ])('%s is one', (pointer) => {
    expect(isSecretPlace(pointer)).toBe(true)
    expect(show('hunter2', pointer)).not.toContain('hunter2')
  })

  it.each([
    ['/environment'],
    ['/header'],
    ['/Content'],
    ['/bodyguard'],
    ['/antibody'],
    ['/discontent'],
    [''],
  ])('%s is none', (pointer) => {
    expect(isSecretPlace(pointer)).toBe(false)
    expect(show('ann', pointer)).toContain('ann')
  })
})
