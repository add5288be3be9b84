/** The SQLite store passes the suite of all stores. */
import { join } from 'node:path'
import { createLedgerFile, InlineWriter, ringOf, SqliteStore } from '../../src/store/index.ts'
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
