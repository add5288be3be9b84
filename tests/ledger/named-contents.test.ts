/** Laws, lists and lists of changes that facts name by digest: verified, exported, missed by replay. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Digest, digestBytes } from '../../src/base/index.ts'
import { NotedObjects } from '../../src/cli/history/decision-walk.ts'
import { formatVerifierKey, namedContents } from '../../src/ledger/index.ts'
import {
  createLedger,
  exportBundle,
  type Ledger,
  openLedger,
  recordedKeys,
  verifyLedger,
} from '../../src/store/index.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { ANN, entry } from './entries.ts'
import { codeOf } from './store-suite.ts'
import { NAME, scratch } from './test-ledger.ts'

const LAWS = Buffer.from('laws: []\n')
const LISTS = Buffer.from('{"hidden":[]}')

let place: ReturnType<typeof scratch>
let directory: string
let ledger: Ledger

beforeEach(async () => {
  place = scratch()
  directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, { principal: ANN, source: 'test' })
  ledger = await openLedger({ directory })
  for (const bytes of [LAWS, LISTS]) {
    await ledger.objects.put({ digest: digestBytes(bytes), bytes })
  }
  const [laws, lists] = [digestBytes(LAWS), digestBytes(LISTS)]
  const payload = { laws, body: laws, lists, accepted_at: '2026-11-15T08:00:00.000Z' }
  await record('laws_v1', payload)
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

async function record(type: string, payload: unknown): Promise<void> {
  const recorded = await ledger.record(entry('', { stream: 'host', record: { type, payload } }))
  if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations))
}

const fileOf = (digest: Digest) => join(directory, 'objects', digest.slice(7, 9), digest.slice(9))
const codes = async () =>
  (await verifyLedger({ directory }, { contracts: true })).problems.map(({ code, seq }) => [
    code,
    seq,
  ])

it.each([
  ['laws', LAWS],
  ['lists', LISTS],
])('%s that are altered or gone are named', async (_, bytes) => {
  expect(await codes()).toEqual([])
  writeFileSync(fileOf(digestBytes(bytes)), 'something else')
  expect(await codes()).toEqual([['body.altered', 1]])
  rmSync(fileOf(digestBytes(bytes)))
  expect(await codes()).toEqual([['body.missing', 1]])
})

it('what a fact says was dropped is not missing, neither to verification nor to replay', async () => {
  const digest = digestBytes(LISTS)
  const objects = new NotedObjects(ledger.objects)
  rmSync(fileOf(digest))
  expect(await codeOf(objects.get(digest))).toBe('body.missing')
  expect(await objects.unexplained(ledger)).toEqual([digest])
  const dropped_at = '2026-11-15T08:00:00Z'
  await record('body_dropped_v1', { body: digest, bytes: 13, rule: 'purge', dropped_at })
  expect(await codes()).toEqual([])
  expect(await objects.unexplained(ledger)).toEqual([])
})

it('go into a bundle with its bodies, and are checked there', async () => {
  const bundle = join(place.directory, 'bundle')
  await exportBundle(ledger, bundle, { stream: 'host', bodies: true })
  const keys = (await recordedKeys(ledger.store)).keys.map(formatVerifierKey)
  expect(verifyBundle(bundle, { keys })).toMatchObject({ ok: true, problems: [] })
  expect(existsSync(join(bundle, 'objects', digestBytes(LAWS).slice(7)))).toBe(true)
})

it('are found in every kind of record that names some', () => {
  const [a, b, c] = [digestBytes('a'), digestBytes('b'), digestBytes('c')]
  const steps = [{ action_id: 'x', manifest: c }]
  expect(namedContents('evaluation_v1', { laws: a, lists: b, comparison: { steps } })).toEqual([
    a,
    b,
    c,
  ])
  expect(namedContents('evaluation_v1', { laws: a, lists: a, comparison: null })).toEqual([a])
  expect(namedContents('sandbox_result_v1', { diff: { manifest: a } })).toEqual([a])
  expect(namedContents('flow_started_v1', { flow_digest: a })).toEqual([a])
  expect(namedContents('ao_act_task_v0', { laws: a })).toEqual([])
})
