/** The law files under examples/ can be read over the default laws, and nothing about them is odd. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LAYERED, loadLaws } from '../../src/policy/index.ts'

const FILES = readdirSync('examples/laws').filter((name) => name.endsWith('.yaml'))

it('are there', () => {
  expect(FILES.length).toBeGreaterThan(0)
})

it.each(FILES)('%s', async (name) => {
  const reading = await loadLaws(readFileSync(`examples/laws/${name}`, 'utf8'), LAYERED)
  expect(reading.ok ? reading.warnings : reading.faults).toEqual([])
})
