/** The narrowest directory for the answer "always". */
import { expect, it } from 'vitest'
import { narrowGlob } from './offered-grant.ts'

it.each([
  [['/w/docs/a'], 'docs/*'],
  [['/w/docs/a', '/w/docs/b'], 'docs/*'],
  [['/w/docs/a', '/w/docs/x/b'], 'docs/**'],
  [['/w/docs/x/a', '/w/docs/y/b'], 'docs/**'],
  [['/w/docs/x/y/a', '/w/docs/x/y/b'], 'docs/x/y/*'],
  [['/w/top.txt'], 'top.txt'],
  [['/w/top.txt', '/w/other.txt'], null],
  [['/w/a/x', '/w/b/x'], null],
  [['/w/docs/a', '/elsewhere/b'], null],
  [['/wide/docs/a'], null],
  [['/w/[x]/a'], null],
  [[], null],
])('%j is %s', (paths, glob) => {
  expect(narrowGlob(paths, '/w')).toBe(glob)
})
