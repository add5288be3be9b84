/** docs/library.md: every example is a whole program that prints what the page says. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { filesIn, walkShown } from '../shown.ts'

const PAGE = readFileSync('docs/library.md', 'utf8')
const place = new Place('library-page')
beforeAll(() => {
  mkdirSync(join(place.project, 'node_modules'))
  symlinkSync(process.cwd(), join(place.project, 'node_modules', 'writ'))
}, 180_000)
afterAll(() => place.remove())

it('shows programs that print what it says', () => {
  for (const { name, text } of filesIn(PAGE)) writeFileSync(join(place.project, name), text)
  expect(walkShown(place, PAGE).length).toBeGreaterThanOrEqual(6)
})

it('names every door of the package', () => {
  const { exports: doors } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const door of Object.keys(doors).filter((one) => one !== './package.json')) {
    expect(PAGE).toContain(`\`${door.replace('.', 'writ')}\``)
    expect(PAGE).toContain(`from '${door.replace('.', 'writ')}'`)
  }
})
