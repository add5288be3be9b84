/** Key files next to a ledger: the facts name the keys, and the files only follow. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fingerprint } from '../../src/ledger/index.ts'
import {
  createKey,
  createLedger,
  type Ledger,
  openLedger,
  recordedKeys,
  verifyLedger,
} from '../../src/store/index.ts'
import { ANN, entry } from './entries.ts'
import { NAME, scratch } from './test-ledger.ts'

const ACTOR = { principal: ANN, source: 'test' } as const

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, ACTOR)
  ledger = await openLedger({ directory })
  await ledger.record(entry('t'))
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

const keys = () => join(directory, 'keys')
const current = () => readFileSync(join(keys(), 'current'), 'utf8').trim()
const verify = () => verifyLedger({ directory }, { contracts: true, kept: true })

it('a `current` that names a retired key is found, and no later key follows from it', async () => {
  const retired = current()
  await ledger.rotateKey(ACTOR)
  const inUse = current()
  writeFileSync(join(keys(), 'current'), `${retired}\n`)
  expect(await verify()).toMatchObject({ ok: false, problems: [{ code: 'ledger.key_current' }] })
  await ledger.close()
  ledger = await openLedger({ directory })
  await ledger.record(entry('n', { stream: 'north' }))
  expect((await recordedKeys(ledger.store)).keys.map((key) => fingerprint(key.publicKey))).toEqual([
    retired,
    inUse,
  ])
  await ledger.rotateKey(ACTOR)
  expect(await verify()).toMatchObject({ ok: true, problems: [] })
})

it('a `current` that names a key of no fact is found and overcome', async () => {
  const stray = fingerprint(createKey(keys(), NAME).publicKey)
  writeFileSync(join(keys(), 'current'), `${stray}\n`)
  expect((await verify()).problems.map(({ code }) => code)).toEqual(['ledger.key_current'])
  await ledger.rotateKey(ACTOR)
  expect(await verify()).toMatchObject({ ok: true, problems: [] })
})

it.each([
  ['a retired key', (retired: string) => writeFileSync(join(keys(), 'current'), `${retired}\n`)],
  ['no key', () => writeFileSync(join(keys(), 'current'), 'ffff\n')],
  ['nothing', () => rmSync(join(keys(), 'current'))],
])('a `current` that names %s changes neither what is signed nor the seal', async (_, change) => {
  const retired = current()
  const early = await ledger.seal()
  await ledger.rotateKey(ACTOR)
  await ledger.close()
  change(retired)
  ledger = await openLedger({ directory })
  const seal = await ledger.seal()
  const signature = seal.sign('x')
  expect(seal.isOwn('x', signature)).toBe(true)
  expect(early.isOwn('x', signature)).toBe(false)
  expect(seal.isOwn('x', early.sign('x'))).toBe(false)
  await ledger.record(entry('later', { stream: 'north' }))
  const { problems } = await verify()
  expect(problems.map(({ code }) => code)).toEqual(['ledger.key_current'])
})

it('what a killed rotation left is set aside by the next one, and not lost', async () => {
  const orphan = fingerprint(createKey(keys(), NAME).publicKey)
  await ledger.rotateKey(ACTOR)
  expect(readdirSync(keys())).not.toContain(`${orphan}.key`)
  expect(readdirSync(join(keys(), 'unused')).sort()).toEqual([`${orphan}.key`, `${orphan}.pub`])
  await ledger.close()
  ledger = await openLedger({ directory })
  await ledger.record(entry('u'))
  expect(await verify()).toMatchObject({ ok: true, problems: [] })
})
