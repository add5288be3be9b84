/** The SQLite store passes the suite of all stores. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLedgerFile, InlineWriter, ringOf, SqliteStore } from '../../src/store/index.ts'
import { taskDraft } from './entries.ts'
import { storeSuite } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

storeSuite('SQLite', async ({ nowMs }) => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  return {
    open: async () => new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), nowMs })),
    verifier: verifierOf,
    remove: async () => remove(),
  }
})

it('callers of one turn of the event loop share a commit, however many awaits come first', async () => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  let commits = 0
  const onStep = (step: string, moment: string): void => {
    if (step === 'commit' && moment === 'after') commits++
  }
  const store = new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), onStep }))
  const caller = async (awaits: number): Promise<void> => {
    for (let index = 0; index < awaits; index++) await null
    await store.append([taskDraft(`caller ${awaits}`)])
  }
  await Promise.all(Array.from({ length: 20 }, (_, awaits) => caller(awaits)))
  expect(commits).toBe(1)
  await store.close()
  remove()
})
