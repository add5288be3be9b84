/** The SQLite store passes the suite of all stores, and has walls of its own. */
import { join } from 'node:path'
import { createLedgerFile, InlineWriter, ringOf, SqliteStore } from '../../src/host/index.ts'
import { storeSuite } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

storeSuite('SQLite, inline writer', async ({ nowMs }) => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  return {
    open: async () => new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), nowMs })),
    verifier: verifierOf,
    remove: async () => remove(),
  }
})
