/**
 * One file, two ways to SQLite: what this Node writes, another one verifies and goes on with. The
 * version of Node decides which driver it uses, so one side is `node:sqlite` and the other better-sqlite3
 * where this runs on Node 20.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createLedgerFile,
  InlineWriter,
  keyFromSeed,
  ringOf,
  SqliteStore,
} from '../../src/store/index.ts'
import { node24 } from '../node-24.ts'
import type { AppendInput } from './append.program.ts'
import { taskDraft } from './entries.ts'
import { programFile } from './program.ts'
import { allFacts, checkStream } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

const place = scratch()
const file = join(place.directory, 'ledger.db')

let other = ''

beforeAll(() => {
  other = node24()
}, 300_000)

afterAll(place.remove)

async function appendWith(node: string, names: readonly string[]): Promise<void> {
  const input: AppendInput = {
    file,
    seed: Buffer.from(KEY.seed).toString('hex'),
    drafts: names.map((name) => taskDraft(name, { idempotencyKey: name })),
    perCall: 1,
    callsAtOnce: 1,
  }
  const program = await programFile('tests/ledger/append.program.ts')
  const said = execFileSync(node, [program, JSON.stringify(input)], { encoding: 'utf8' })
  expect(said).not.toContain('failed')
}

it('each goes on where the other ended, and knows the keys that it used', async () => {
  createLedgerFile(file, NAME)
  await appendWith(process.execPath, ['a', 'b'])
  await appendWith(other, ['b', 'c'])
  await appendWith(process.execPath, ['c', 'd'])
  const keys = ringOf(keyFromSeed(KEY.seed))
  const store = new SqliteStore(file, new InlineWriter({ file, keys }))
  const ledger = { open: async () => store, verifier: verifierOf, remove: async () => undefined }
  expect(await allFacts(store)).toHaveLength(4)
  await checkStream(store, ledger)
  await store.close()
}, 120_000)
