/** What a note of a rotation leads to, which may have failed long ago. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fingerprint } from '../../ledger/index.ts'
import { createKey, noteEnding, readEnding } from '../keys/keys.ts'
import type { MachineKeys } from '../keys/machine-keys.ts'
import type { HomeFiles } from '../postgres/home-files.ts'
import { signLeftFiles } from './ended-key.ts'

let directory = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'writ-ended-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

it.each([
  ['signs the files again that a rotation left', true],
  ['signs nothing of a key that a human removed', false],
])('%s', async (_what, isRotated) => {
  const [old, own] = [createKey(directory, 'writ/home'), createKey(directory, 'writ/home')]
  noteEnding(directory, old)
  const name = fingerprint(old.publicKey)
  let asked = 0
  // What the function looks at.
  const keys = {
    machines: [{ fingerprint: name, removedAt: '2026-11-20T00:00:00Z', key: old }],
    own: () => own,
    newestOf: (id: string) => (isRotated ? fingerprint(own.publicKey) : id),
  } as unknown as MachineKeys
  const files = {
    signAgain: async () => (asked++ === 0 && isRotated ? 1 : 0),
  } as unknown as HomeFiles
  await signLeftFiles(directory, keys, files)
  expect([asked, readEnding(directory)]).toEqual([isRotated ? 2 : 0, null])
})
