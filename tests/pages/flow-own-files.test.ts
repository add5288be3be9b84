/** docs/flow-own-files.md: each way is walked in a directory of its own, every command with its output. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { filesIn, packedExamples, walkShown } from '../shown.ts'

const SECTIONS = readFileSync('docs/flow-own-files.md', 'utf8').split(/^## /m)

let place: Place
afterEach(() => place?.remove())

/** Walks the section that begins so. */
function walk(title: string): number {
  const section = SECTIONS.find((text) => text.startsWith(title))
  if (section === undefined) throw new Error(`there is no section ${title}`)
  place = new Place('flow-own-files')
  rmSync(join(place.project, '.git'), { recursive: true })
  for (const { name, text } of filesIn(section)) {
    mkdirSync(dirname(join(place.project, name)), { recursive: true })
    writeFileSync(join(place.project, name), text)
  }
  return walkShown(place, section, [], packedExamples(place), 400_000).length
}

it('runs a plan.json that its reader brings', { timeout: 300_000 }, () => {
  expect(walk('You have a plan.json')).toBe(7)
})

it('runs a table that its reader brings, past a stop and a rollback', { timeout: 500_000 }, () => {
  expect(walk('You have a 05d edge table')).toBe(13)
})
