/** The kept reading of laws: used while it is signed and of these laws, and otherwise never. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { digestBytes } from '../../base/index.ts'
import { keyFromSeed, newSeed, sealOf } from '../../store/keys/ed25519.ts'
import { keepReading, keptReading } from './law-book.ts'

let folder = ''
const file = () => join(folder, 'laws.json')
const DIGEST = digestBytes('laws: []\n')
const OWN = sealOf(keyFromSeed(newSeed()))
const READING = { laws: [{ policy_id: 'NO_CRITICAL' }] }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-law-cache-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

it('is used for the laws it was read from, and for no others', () => {
  keepReading(file(), DIGEST, READING, OWN)
  expect(keptReading(file(), DIGEST, OWN)).toEqual(READING)
  expect(keptReading(file(), digestBytes('laws: [1]\n'), OWN)).toBeUndefined()
})

it('is not used when its document was changed, or says another digest', () => {
  keepReading(file(), DIGEST, READING, OWN)
  const kept = JSON.parse(readFileSync(file(), 'utf8'))
  const empty = { ...kept, document: JSON.stringify({ laws: [] }) }
  const moved = { ...kept, digest: digestBytes('another') }
  for (const changed of [empty, { ...empty, seal: undefined }, { ...kept, seal: 'AAAA' }]) {
    writeFileSync(file(), JSON.stringify(changed))
    expect(keptReading(file(), DIGEST, OWN)).toBeUndefined()
  }
  writeFileSync(file(), JSON.stringify(moved))
  expect(keptReading(file(), digestBytes('another'), OWN)).toBeUndefined()
})

it('is not used when an earlier version wrote it, and not when another key signed it', () => {
  writeFileSync(file(), JSON.stringify({ digest: DIGEST, document: READING }))
  expect(keptReading(file(), DIGEST, OWN)).toBeUndefined()
  keepReading(file(), DIGEST, READING, sealOf(keyFromSeed(newSeed())))
  expect(keptReading(file(), DIGEST, OWN)).toBeUndefined()
})
