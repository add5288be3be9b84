/** Globs: matching and inclusion against definitions written down naively, over all small cases. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import {
  type Glob,
  includesGlob,
  matchesPath,
  newEffort,
  parseGlob,
  withDescendants,
  withEntries,
} from './glob.ts'

function glob(text: string): Glob {
  const parsed = parseGlob(text)
  if (parsed === null) throw new Error(`${text} is no glob`)
  return parsed
}

/** G-2 as it is written: `*` is any run within a name, `**` any number of names. */
function naiveMatch(pattern: readonly string[], names: readonly string[]): boolean {
  const [segment, ...others] = pattern
  if (segment === undefined) return names.length === 0
  if (segment === '**') {
    return (
      names.some((_, taken) => naiveMatch(others, names.slice(taken))) || naiveMatch(others, [])
    )
  }
  const [name, ...rest] = names
  return name !== undefined && naiveName(segment, name) && naiveMatch(others, rest)
}

function naiveName(segment: string, name: string): boolean {
  if (segment === '') return name === ''
  if (segment[0] !== '*')
    return segment[0] === name[0] && naiveName(segment.slice(1), name.slice(1))
  for (let taken = 0; taken <= name.length; taken++) {
    if (naiveName(segment.slice(1), name.slice(taken))) return true
  }
  return false
}

function words(alphabet: readonly string[], lengthMax: number): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [[]]
  let last: (readonly string[])[] = [[]]
  for (let length = 1; length <= lengthMax; length++) {
    last = last.flatMap((word) => alphabet.map((letter) => [...word, letter]))
    all.push(...last)
  }
  return all
}

const path = (names: readonly string[]): string => `/${names.join('/')}`

describe('parsing', () => {
  it.each(['relative', '', '/a/', '//a', '/a/../b', '/a/.', '/a\0b'])('refuses %j', (text) => {
    expect(parseGlob(text)).toBeNull()
  })

  it.each(['/a**', '/**a/b', '/a/***'])('refuses %s: `**` shares its segment', (text) => {
    expect(parseGlob(text)).toBeNull()
  })

  it.each(['/', '/a', '/a b/…', '/a/*', '/a/**/b', '/.git/*.log'])('reads %s', (text) => {
    expect(parseGlob(text)?.text).toBe(text)
  })

  it('keeps patterns short, and paths as long as they are', () => {
    expect(parseGlob(`${'/a'.repeat(63)}/*`)).not.toBeNull()
    expect(parseGlob(`${'/a'.repeat(64)}/*`)).toBeNull()
    expect(parseGlob('/a'.repeat(2_000))).not.toBeNull()
  })

  it('takes nothing else for special', () => {
    expect(matchesPath(glob('/a?[b]{c}\\'), '/a?[b]{c}\\')).toBe(true)
    expect(matchesPath(glob('/a?'), '/ab')).toBe(false)
  })
})

describe('matching', () => {
  it.each([
    ['/d/**', '/d', true],
    ['/d/**', '/d/a/b', true],
    ['/d/**', '/dd', false],
    ['/d/*', '/d', false],
    ['/d/*', '/d/.hidden', true],
    ['/d/*', '/d/a/b', false],
    ['/d/*.log', '/d/.log', true],
    ['/d/**/x', '/d/x', true],
    ['/d/**/x', '/d/.a/b/x', true],
    ['/**', '/', true],
    ['/', '/', true],
    ['/d/a*b*c', '/d/abbc', true],
    ['/d/ab*ba', '/d/aba', false],
    ['/d/*', '/d/../e', false],
    ['/d/*', 'd/a', false],
  ])('%s and %s', (pattern, text, want) => {
    expect(matchesPath(glob(pattern), text)).toBe(want)
  })

  it('agrees with the definition on every small case', () => {
    const patterns = words(['a', 'b*', '*a', '**'], 4)
    const paths = words(['a', 'b', 'ba'], 5)
    for (const pattern of patterns) {
      const parsed = glob(path(pattern))
      for (const names of paths) {
        if (matchesPath(parsed, path(names)) !== naiveMatch(pattern, names)) {
          expect.fail(`${path(pattern)} and ${path(names)}`)
        }
      }
    }
  })

  it('agrees with the definition on names of any letters', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', 'é', '*'), maxLength: 8 })
    fc.assert(
      fc.property(letters, letters, (segment, name) => {
        fc.pre(segment !== '' && !segment.includes('**') && !/^\.{1,2}$/.test(segment))
        fc.pre(name !== '' && !/^\.{1,2}$/.test(name))
        expect(matchesPath(glob(`/${segment}`), `/${name}`)).toBe(
          segment.includes('*') ? naiveName(segment, name) : segment === name,
        )
      }),
    )
  })
})

describe('inclusion', () => {
  /** Sets of the indices of the words that each pattern matches. */
  function languages(
    patterns: readonly (readonly string[])[],
    universe: readonly (readonly string[])[],
  ): readonly ReadonlySet<number>[] {
    return patterns.map(
      (pattern) =>
        new Set(universe.flatMap((names, index) => (naiveMatch(pattern, names) ? [index] : []))),
    )
  }

  function expectExact(
    patterns: readonly (readonly string[])[],
    universe: readonly (readonly string[])[],
  ): void {
    const sets = languages(patterns, universe)
    const globs = patterns.map((pattern) => glob(path(pattern)))
    for (const [outer, outerGlob] of globs.entries()) {
      for (const [inner, innerGlob] of globs.entries()) {
        const want = [...(sets[inner] ?? [])].every((word) => sets[outer]?.has(word))
        if (includesGlob(outerGlob, innerGlob, newEffort()) !== want) {
          expect.fail(`${innerGlob.text} in ${outerGlob.text}: expected ${want}`)
        }
      }
    }
  }

  it('is exact over all patterns of up to three segments', () => {
    // `z` and `az` stand for every other name and every other name that begins with an a.
    expectExact(words(['a', '*', 'a*', '**'], 3), words(['a', 'z', 'az'], 7))
  })

  it('is exact over longer patterns of wildcards', () => {
    expectExact(words(['a', '*', '**'], 4), words(['a', 'z'], 9))
  })

  it('is exact over all name patterns of up to four letters', () => {
    const names = (alphabet: readonly string[], lengthMax: number) =>
      words(alphabet, lengthMax)
        .map((letters) => letters.join(''))
        .filter((name) => name !== '' && !name.includes('**'))
        .map((name) => [name])
    expectExact(names(['a', 'b', '*'], 4), names(['a', 'b', 'z'], 6))
  })

  it('never says yes about a path that the outer glob does not match', () => {
    const segment = fc.constantFrom('a', 'b', '*', 'a*', '*b', 'a*b', '**')
    const segments = fc.array(segment, { maxLength: 7 })
    const names = fc.array(fc.constantFrom('a', 'b', 'ab', 'azb', 'z'), { maxLength: 9 })
    fc.assert(
      fc.property(segments, segments, names, (outer, inner, word) => {
        if (!includesGlob(glob(path(outer)), glob(path(inner)), newEffort())) return
        if (naiveMatch(inner, word)) expect(naiveMatch(outer, word)).toBe(true)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('holds for descendants and entries', () => {
    const directory = glob('/d')
    expect(withDescendants(directory).text).toBe('/d/**')
    expect(withEntries(glob('/')).text).toBe('/*')
    expect(includesGlob(withDescendants(directory), withEntries(directory), newEffort())).toBe(true)
    expect(includesGlob(withEntries(directory), withDescendants(directory), newEffort())).toBe(
      false,
    )
  })

  it('answers no once the effort is spent', () => {
    const outer = glob('/**/a/**')
    const inner = glob('/x/**/a')
    expect(includesGlob(outer, inner, newEffort())).toBe(true)
    expect(includesGlob(outer, inner, { steps: 3 })).toBe(false)
  })

  it('ends soon on hostile globs', () => {
    const outer = glob(`/${'**/a/*a*/'.repeat(21)}b`)
    const inner = glob(`/${'**/a/a*a/'.repeat(21)}c`)
    for (let round = 0; round < 20; round++) includesGlob(outer, inner, newEffort())
    const long = `/${'a/'.repeat(2_000)}b`
    for (let round = 0; round < 20; round++) matchesPath(outer, long)
  })
})
