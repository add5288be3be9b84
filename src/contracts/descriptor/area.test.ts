/** The area of a scope: what lies inside it, path by path and glob by glob. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import {
  type Area,
  coversGlob,
  coversPath,
  coversRoot,
  createArea,
  hostPlace,
  hostRoot,
  readArea,
} from './area.ts'
import { type Glob, matchesPath, newEffort, parseGlob } from './glob.ts'

function glob(text: string): Glob {
  const parsed = parseGlob(text)
  if (parsed === null) throw new Error(`${text} is no glob`)
  return parsed
}

function area(recursive: boolean, ...roots: string[]): Area {
  return createArea(roots.map(glob), recursive)
}

/** G-2, read aloud: the root, and below it everything or the direct entries. */
function naiveCovers(recursive: boolean, roots: readonly string[], path: string): boolean {
  return roots.some((root) => {
    const parents = ancestors(path)
    return recursive
      ? parents.some((parent) => matchesPath(glob(root), parent))
      : parents.slice(0, 2).some((parent) => matchesPath(glob(root), parent))
  })
}

/** The path itself, its directory, and so on up to the root. */
function ancestors(path: string): readonly string[] {
  const all = [path]
  for (let next = path; next !== '/'; ) {
    next = next.slice(0, next.lastIndexOf('/')) || '/'
    all.push(next)
  }
  return all
}

const names = fc.array(fc.constantFrom('a', 'b', 'ab', 'z'), { maxLength: 5 })
const path = names.map((segments) => `/${segments.join('/')}`)
const segment = fc.constantFrom('a', 'b', 'a', 'b', '*', 'a*', '**')
const pattern = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)

describe('an area', () => {
  it('holds the paths that its definition says', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(pattern, { maxLength: 3 }), path, (flag, roots, text) => {
        const want = naiveCovers(flag, roots, text)
        expect(coversPath(area(flag, ...roots), text)).toBe(want)
      }),
      { numRuns: runs(1_500) },
    )
  })

  it('holds a glob only if it holds every path of the glob', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(pattern, { maxLength: 3 }),
        pattern,
        path,
        (flag, roots, text, sample) => {
          if (!coversGlob(area(flag, ...roots), glob(text))) return
          if (matchesPath(glob(text), sample)) {
            expect(naiveCovers(flag, roots, sample)).toBe(true)
          }
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it('holds another area only if it holds every path of it', () => {
    fc.assert(
      fc.property(
        fc.tuple(fc.boolean(), fc.array(pattern, { maxLength: 2 })),
        fc.tuple(fc.boolean(), pattern),
        path,
        ([outerFlag, outer], [innerFlag, inner], sample) => {
          if (!coversRoot(area(outerFlag, ...outer), glob(inner), innerFlag)) return
          if (naiveCovers(innerFlag, [inner], sample)) {
            expect(naiveCovers(outerFlag, outer, sample)).toBe(true)
          }
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it.each([
    [true, ['/d'], '/d/**', true],
    [true, ['/d'], '/d/*/x', true],
    [true, ['/d'], '/e', false],
    [true, ['/d'], '/*', false],
    [true, ['/d/*/e'], '/d/a/e/f/**', true],
    [true, ['/d/*'], '/d/**/x', true],
    [true, ['/d/*'], '/d/**', false],
    [true, ['/'], '/**', true],
    [false, ['/d'], '/d', true],
    [false, ['/d'], '/d/*.log', true],
    [false, ['/d'], '/d/**', false],
    [false, ['/d'], '/d/*/x', false],
    [false, ['/d/*'], '/d/a/b', true],
    [false, [], '/d', false],
  ])('recursive %s %j and %s: %s', (recursive, roots, text, want) => {
    expect(coversGlob(area(recursive, ...roots), glob(text))).toBe(want)
  })

  it('is not read from a scope of which a part is broken', () => {
    const scope = (filesystem: unknown): unknown => ({ filesystem })
    expect(readArea(scope({ paths: ['/d/e'], recursive: true }))?.roots).toHaveLength(1)
    expect(readArea(scope({ paths: [], recursive: false }))?.roots).toEqual([])
    for (const broken of [
      undefined,
      null,
      scope(7),
      scope({ paths: ['/d/e'] }),
      scope({ paths: '/d', recursive: true }),
      scope({ paths: ['d'], recursive: true }),
      scope({ paths: ['/d', 7], recursive: true }),
    ]) {
      expect(readArea(broken)).toBeNull()
    }
  })

  it('is fast over many literal roots and stops over many patterns', () => {
    const literal = area(true, ...Array.from({ length: 30_000 }, (_, index) => `/d/r${index}`))
    const patterns = area(true, ...Array.from({ length: 30_000 }, (_, index) => `/d/*${index}/x`))
    const effort = newEffort()
    for (let index = 0; index < 30_000; index++) {
      coversGlob(literal, glob(`/d/r${index}/x`), effort)
      coversGlob(patterns, glob('/d/y'), effort)
    }
    expect(coversGlob(literal, glob('/d/r29999/x'), effort)).toBe(true)
    expect(effort.steps).toBeLessThan(0)
  })
})

const globOf = (text: string): Glob => parseGlob(text) as Glob

describe('the host', () => {
  it.each([
    ['/proc', '/proc'],
    ['/proc/1/mem', '/proc'],
    ['/sys/x', '/sys'],
    ['/dev/shm/x', '/dev'],
    ['/boot/x', '/boot'],
    ['/d*/x', '/dev'],
    ['/*/x', '/proc'],
    ['/**/x', '/proc'],
    ['/home/ann/.writ/id', '.writ'],
    ['/home/ann/.writ', '.writ'],
    ['/home/ann/.writ/laws.yaml', null],
    ['/home/ann/.writ/rules/a.json', null],
    ['/home/ann/.writ/rules/.writ/id', '.writ'],
    ['/home/ann/.local/state/writ', '.local/state/writ'],
    ['/home/ann/proc', null],
    ['/home/ann/.local/state/other/writ', null],
    ['/home/ann/.*', null],
    ['/h*/x', null],
    ['/etc/passwd', null],
    ['/', null],
  ])('%s: %s', (text, want) => {
    expect(hostPlace(globOf(text))).toBe(want)
  })

  it.each([
    ['/', '/'],
    ['/**', '/'],
    ['/home', 'a top-level directory'],
    ['/*', 'a top-level directory'],
    ['/home/**', 'a top-level directory'],
    ['/proc/x', '/proc'],
    ['/home/*', null],
    ['/home/ann', null],
  ])('the root %s: %s', (text, want) => {
    expect(hostRoot(globOf(text))).toBe(want)
  })
})
