/** Many globs at once answer as each of them alone. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import { matchesPath, parseGlob } from '../../contracts/index.ts'
import { PathSet, UNBOUNDED } from './path-set.ts'

const name = fc.constantFrom('a', 'b', 'ab', '.a', 'a.log')
const path = fc.array(name, { minLength: 0, maxLength: 4 }).map((names) => `/${names.join('/')}`)
const part = fc.oneof(name, fc.constantFrom('*', '**', 'a*', '*b', '*.log', 'a*b'))
const glob = fc.array(part, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`)

describe('a set of paths', () => {
  it('holds a path when one of its globs does, and says which', () => {
    fc.assert(
      fc.property(fc.array(glob, { maxLength: 6 }), path, (globs, one) => {
        const matching = globs.flatMap((text, index) => {
          const parsed = parseGlob(text)
          return parsed !== null && matchesPath(parsed, one) ? [index] : []
        })
        const found = new PathSet(globs, UNBOUNDED).find(one)
        if (matching.length === 0) expect(found).toBe(null)
        else expect(matching).toContain(found?.index)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it.each([
    ['/home/ann/.cache/**', '/home/ann/.cache/a/b', '/home/ann/.cache'],
    ['/**/__pycache__/**', '/w/a/__pycache__/b', '/w/a/__pycache__'],
    ['/**/node_modules/.cache/**', '/w/node_modules/.cache/a/b', '/w/node_modules/.cache'],
    ['/**/.eslintcache', '/w/.eslintcache', '/w/.eslintcache'],
    ['/w/*.log', '/w/a.log', '/w/a.log'],
  ])('%s of %s begins at %s', (text, one, root) => {
    const found = new PathSet([text], UNBOUNDED).find(one)
    expect(one.slice(0, found?.rootLength)).toBe(root)
  })

  it('matches nothing by trying once the effort is gone', () => {
    const effort = { steps: 0 }
    expect(new PathSet(['/w/*.log'], effort).find('/w/a.log')).toBe(null)
    expect(new PathSet(['/w/a.log'], effort).find('/w/a.log')).not.toBe(null)
  })
})
