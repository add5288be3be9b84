/** The walk through examples/laws runs as its page shows it: every command, every line. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { walkPage } from '../shown.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  place = new Place('example')
  execFileSync('rm', ['-r', join(place.project, '.git')])
}, 180_000)

afterAll(() => place?.remove())

it('runs as shown', () => {
  expect(walkPage(place, 'laws').length).toBeGreaterThan(10)
})
