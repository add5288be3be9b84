/** The page of requirements names every one, and only tests that are there. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** How many of each family the specification has. */
const FAMILIES = { C: 6, K: 7, A: 4, G: 24, F: 14, L: 9 }
const BESIDE = ['G-13a', 'G-15a']

const PAGE = readFileSync('docs/requirements.md', 'utf8')

it('names every requirement once', () => {
  const headings = [...PAGE.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading)
  const named = headings.flatMap((heading) => heading.match(/\b[CKAGFL]-\d+a?\b/g) ?? [])
  const all = Object.entries(FAMILIES).flatMap(([family, count]) =>
    Array.from({ length: count }, (_, index) => `${family}-${index + 1}`),
  )
  expect(named.sort()).toEqual([...all, ...BESIDE].sort())
})

it('names tests that are there, at least one for each', () => {
  const missing: string[] = []
  for (const section of PAGE.split(/^### /m).slice(1)) {
    const rows = [...section.matchAll(/^- `([^`]+)`: (.+)$/gm)]
    if (rows.length === 0) missing.push(section)
    for (const [row, file = '', title = ''] of rows) {
      if (!existsSync(file) || !titlesIn(file).includes(title)) missing.push(row)
    }
  }
  expect(missing).toEqual([])
})

/** All that stands in quotation marks behind `it`, `describe` or a table of cases. */
function titlesIn(file: string): string {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/[(]\s*(['`])((?:(?!\1).)+)\1/g)].map(([, , title]) => title).join('\n')
}
