/** The marker is a moment of the filesystem's own clock, and leaves nothing behind. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changedSince, identityOf, isSameRoot, makeMarker, untrustedClock } from './marker.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-marker-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function ctimeOf(name: string): bigint {
  writeFileSync(join(folder, name), name)
  return statSync(join(folder, name), { bigint: true }).ctimeNs
}

it('lies between what was written before and what is written after', () => {
  const before = ctimeOf('before')
  const marker = makeMarker(join(folder, 'place'), 'one', [folder], () => 0)
  const after = ctimeOf('after')
  expect(before <= marker.ctimeNs && marker.ctimeNs <= after).toBe(true)
  expect(changedSince(marker, 0)(after)).toBe(true)
  expect(readdirSync(join(folder, 'place'))).toEqual([])
})

it('counts its own tick unless the command began in a later one', () => {
  const marker = { ctimeNs: 100n, madeAtMs: 50, roots: [] }
  const [early, late] = [changedSince(marker, 59), changedSince(marker, 60)]
  expect([99n, 100n, 101n].map(early)).toEqual([false, true, true])
  expect([99n, 100n, 101n].map(late)).toEqual([false, false, true])
})

it('knows a root again, and another one in its place', () => {
  const root = join(folder, 'root')
  mkdirSync(root)
  const identity = identityOf(root)
  expect(isSameRoot(identity)).toBe(true)
  mkdirSync(join(folder, 'other'))
  rmSync(root, { recursive: true })
  expect(isSameRoot(identity)).toBe(false)
  expect(isSameRoot({ ...identityOf(join(folder, 'other')), root })).toBe(false)
})

it('trusts the clock of a local disk', () => {
  expect(untrustedClock(folder)).toBeNull()
})
