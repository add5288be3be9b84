/** Ledgers in directories that the tests throw away. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Verifier, verifierFor } from '../../src/ledger/index.ts'
import { keyFromSeed, publicKeyOf } from '../../src/store/index.ts'

export const NAME = 'example.org/writ/test'
/** A key that everybody knows: of no use but in tests. */
export const KEY = keyFromSeed(new Uint8Array(32).fill(42))

export function scratch(): { readonly directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'writ-ledger-'))
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export function verifierOf(origin: string, key = KEY): Verifier {
  const verifier = verifierFor(publicKeyOf(key, origin))
  if (verifier === null) throw new Error('no verifier')
  return verifier
}
