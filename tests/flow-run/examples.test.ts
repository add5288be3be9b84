/** The examples run as their pages show them: every command, every line. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { walkPage } from '../shown.ts'

vi.setConfig({ testTimeout: 180_000 })

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

it.each(['two-agents', 'phased'])('%s', (name) => {
  const place = new Place(name)
  try {
    execFileSync('rm', ['-r', join(place.project, '.git')])
    expect(walkPage(place, join('flows', name)).length).toBeGreaterThan(3)
  } finally {
    place.remove()
  }
})
