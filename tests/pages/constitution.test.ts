/** docs/constitution.md: its first ruleset works as shown, and its tables of words are current. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ACTION_CODES, GUARD_PATHS, pathRow } from '../../src/contracts/index.ts'
import { Place } from '../cli-gate/place.ts'
import { filesIn, walkShown } from '../shown.ts'

const PAGE = readFileSync('docs/constitution.md', 'utf8')
const place = new Place('constitution-page', { runs: 'warm' })
afterAll(() => place.remove())

it('shows a first ruleset that works as shown', () => {
  for (const { name, text } of filesIn(PAGE)) {
    const file = join(place.project, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  expect(walkShown(place, PAGE).length).toBeGreaterThanOrEqual(5)
})

it('lists the words of every field that has a vocabulary', () => {
  const rows = GUARD_PATHS.flatMap((path) => {
    const { vocabulary } = pathRow(path)
    const words = vocabulary === 'registry' ? ACTION_CODES : vocabulary
    return words === null
      ? []
      : [`| \`${path}\` | ${words.map((word) => `\`${word}\``).join(' ')} |`]
  })
  expect(PAGE).toContain(['| path | words |', '|---|---|', ...rows].join('\n'))
})
