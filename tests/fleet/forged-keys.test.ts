/** A key that a person kept vouches for what it signed, and not for a history that names it. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatVerifierKey, parseVerifierKey, verifierKey } from '../../src/ledger/index.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { Fleet, type FleetMachine } from './fleet-rig.ts'

let fleet: Fleet
let first: FleetMachine

beforeAll(async () => {
  fleet = await Fleet.start()
  first = fleet.first('alpha')
}, 120_000)
afterAll(() => fleet.stop())

it('vouches for no history that only names its key', () => {
  const foreign = fleet.first('foreign')
  const [key = ''] = first.must(['ledger', 'key']).keys as string[]
  const [own = ''] = foreign.must(['ledger', 'key']).keys as string[]
  const [victim, forger] = [parseVerifierKey(key), parseVerifierKey(own)]
  if (victim === null || forger === null) throw new Error('a printed key is a key')
  // Under the name of the forger's ledger, as a machine of it would print the key.
  const { type, publicKey } = victim
  const named = formatVerifierKey(verifierKey(forger.name, type, publicKey))
  foreign.must(['machine', 'admit', 'victim', named])
  const directory = join(fleet.folder, 'bundle-forged')
  foreign.must(['ledger', 'export', directory, '--stream', 'host', '--bodies'])
  expect(verifyBundle(directory, { keys: [own] }).ok).toBe(true)
  expect(verifyBundle(directory, { keys: [key] }).problems).toEqual([
    'none of the pinned keys has signed',
  ])
  expect(foreign.writ(['ledger', 'verify', '--key', key]).json.ok).toBe(false)
})
