/** docs/flow-tutorial.md: each way is walked in a directory of its own, every command with its output. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { filesIn, packedExamples, walkShown } from '../shown.ts'

const SECTIONS = readFileSync('docs/flow-tutorial.md', 'utf8').split(/^## /m)

let place: Place
afterEach(() => place?.remove())

/** Walks the section that begins so, with the program and the examples of the package. */
function walk(title: string): number {
  const section = SECTIONS.find((text) => text.startsWith(title))
  if (section === undefined) throw new Error(`there is no section ${title}`)
  place = new Place('flow-tutorial')
  rmSync(join(place.project, '.git'), { recursive: true })
  for (const { name, text } of filesIn(section)) {
    mkdirSync(dirname(join(place.project, name)), { recursive: true })
    writeFileSync(join(place.project, name), text)
  }
  return walkShown(place, section, [], packedExamples(place), 400_000).length
}

it('builds a flow of six nodes', { timeout: 300_000 }, () => {
  expect(walk('Six nodes')).toBeGreaterThanOrEqual(12)
})

it('runs a table of 146 rows', { timeout: 500_000 }, () => {
  expect(walk('You come with an edge table')).toBe(8)
})

it('runs a plan of an agent team', { timeout: 300_000 }, () => {
  expect(walk('You come with a plan.json')).toBe(4)
  const delivered = execFileSync('find', ['delivered', '-name', '*.md'], { cwd: place.project })
  expect(delivered.toString().trim().split('\n')).toHaveLength(2)
})
