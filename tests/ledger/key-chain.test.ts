/** One key proves the others of a ledger: what a client of a service checks before it speaks to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  followKeyChain,
  formatVerifierKey,
  type KeyChain,
  type VerifierKey,
} from '../../src/ledger/index.ts'
import {
  createLedger,
  keyChainOf,
  type Ledger,
  openLedger,
  recordedKeys,
} from '../../src/store/index.ts'
import { ANN, entry } from './entries.ts'

const PERSON = { principal: ANN, source: 'test' } as const
const directory = mkdtempSync(join(tmpdir(), 'writ-chain-'))
let ledger: Ledger
let [before, after]: readonly VerifierKey[] = []

beforeAll(async () => {
  await createLedger({ directory }, 'writ/test', PERSON)
  ledger = await openLedger({ directory })
  await ledger.record(entry('one'))
  await ledger.rotateKey(PERSON)
  await ledger.record(entry('two'))
  const { keys } = await recordedKeys(ledger.store)
  ;[before, after] = keys
})

afterAll(async () => {
  await ledger.close()
  rmSync(directory, { recursive: true })
})

async function chainOf(stream: string): Promise<KeyChain> {
  const head = await ledger.store.head(stream)
  if (head === null) throw new Error('no stream')
  return keyChainOf(ledger.store, await ledger.keys(), head)
}

function proven(chain: KeyChain, key: VerifierKey | undefined): readonly string[] | string {
  const found = followKeyChain(chain, key === undefined ? [] : [key])
  if (!found.ok) return found.wrong.code
  return found.keys.map(({ publicKey }) => Buffer.from(publicKey).toString('hex'))
}

function hexOf(key: VerifierKey | undefined): string {
  return Buffer.from(key?.publicKey ?? []).toString('hex')
}

it.each(['host', 'main'])('follows a rotation in the stream %s', async (stream) => {
  const chain = await chainOf(stream)
  expect(proven(chain, before)).toEqual([hexOf(after)])
  expect(proven(chain, after)).toEqual([hexOf(after)])
  expect(proven(chain, undefined)).toBe('ledger.signers')
})

it('believes no change that is not in the signed trees, and none without a checkpoint', async () => {
  const chain = await chainOf('host')
  const [first, ...changes] = chain.changes
  if (first === undefined) throw new Error('no changes')
  const other = { ...first, fact: first.fact.replace('"seq":0', '"seq": 0') }
  expect(proven({ ...chain, changes: [other, ...changes] }, before)).toBe('ledger.signers')
  const main = await chainOf('main')
  const unkept = main.changes.map((change) => ({ ...change, kept: null }))
  expect(proven({ ...main, changes: unkept }, before)).toBe('ledger.signers')
  expect(proven({ ...main, changes: unkept }, after)).toEqual([hexOf(after)])
  expect(proven({ ...chain, changes: [...chain.changes].reverse() }, before)).toBe(
    'ledger.key_unfit',
  )
  expect(proven({ head: 'x', changes: [] }, before)).toBe('ledger.signers')
  expect(formatVerifierKey(after as VerifierKey)).toContain('writ/test')
})

it('believes no key of another ledger', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'writ-chain-'))
  await createLedger({ directory: elsewhere }, 'writ/test', PERSON)
  const other = await openLedger({ directory: elsewhere })
  const [foreign] = (await recordedKeys(other.store)).keys
  expect(proven(await chainOf('host'), foreign)).toBe('ledger.signers')
  await other.close()
  rmSync(elsewhere, { recursive: true })
})
