/** The tables of speed in the READMEs are the ones that bench/results gives. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { withFigures } from '../tools/figures.mjs'

it.each([
  ['README.md', 'en'],
  ['README.zh-CN.md', 'zh'],
])('%s tells the measured ratios (`npm run figures` writes them)', (file, language) => {
  const readme = readFileSync(file, 'utf8')
  expect(withFigures(readme, language)).toBe(readme)
})

it('sees a ratio that was edited by hand', () => {
  const readme = readFileSync('README.md', 'utf8')
  const edited = readme.replace(/(\| `node -e 0` \| )[\d.]+/, '$19.9')
  expect(edited).not.toBe(readme)
  expect(withFigures(edited, 'en')).toBe(readme)
})
