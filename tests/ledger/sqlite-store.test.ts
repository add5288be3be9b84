/** The SQLite store passes the suite of all stores, with the writer in this thread and in its own. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Draft } from '../../src/ledger/index.ts'
import {
  createKey,
  createLedgerFile,
  InlineWriter,
  makeCurrent,
  openKeys,
  ringOf,
  SqliteStore,
  startWriter,
} from '../../src/store/index.ts'
import { taskDraft } from './entries.ts'
import { threadFile } from './program.ts'
import { codeOf, storeSuite } from './store-suite.ts'
import { KEY, NAME, scratch, verifierOf } from './test-ledger.ts'

storeSuite('SQLite, writer in the caller’s thread', async ({ nowMs }) => {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  createLedgerFile(file, NAME)
  return {
    open: async () => new SqliteStore(file, new InlineWriter({ file, keys: ringOf(KEY), nowMs })),
    verifier: verifierOf,
    remove: async () => remove(),
  }
})

async function threadedLedger() {
  const { directory, remove } = scratch()
  const file = join(directory, 'ledger.db')
  const keysDirectory = join(directory, 'keys')
  createLedgerFile(file, NAME)
  const key = createKey(keysDirectory, NAME)
  makeCurrent(keysDirectory, key)
  const start = async () => startWriter({ file, keysDirectory, threadFile: await threadFile() })
  return { file, keysDirectory, key, start, remove }
}

storeSuite(
  'SQLite, writer in a thread of its own',
  async () => {
    const { file, key, start, remove } = await threadedLedger()
    return {
      open: async () => new SqliteStore(file, await start()),
      verifier: (origin) => verifierOf(origin, key),
      remove: async () => remove(),
    }
  },
  { clock: 'system' },
)

it('a thread that cannot open the ledger says why', async () => {
  const { directory, remove } = scratch()
  const options = { file: join(directory, 'none.db'), keysDirectory: directory }
  const refused = startWriter({ ...options, threadFile: await threadFile() })
  expect(await codeOf(refused)).toBe('ledger.key_missing')
  makeCurrent(directory, createKey(directory, NAME))
  expect(await codeOf(startWriter({ ...options, threadFile: await threadFile() }))).toBe(
    'ledger.missing',
  )
  remove()
})

it('a thread that dies leaves its callers in doubt, and the next one goes on', async () => {
  const { file, start, keysDirectory, remove } = await threadedLedger()
  const writer = await start()
  await writer.append([taskDraft('one')])
  // No draft at all is a bug, and a bug ends the thread.
  const bug = writer.append([null as unknown as Draft])
  const beside = writer.append([taskDraft('two', { idempotencyKey: 'k' })])
  expect(await codeOf(bug)).toBe('ledger.unclear')
  expect(await codeOf(beside)).toBe('ledger.unclear')
  const [again] = await writer.append([taskDraft('two', { idempotencyKey: 'k' })])
  expect(again).toMatchObject({ seq: 1, repeated: false })
  await writer.close()
  expect(await codeOf(writer.append([taskDraft('late')]))).toBe('ledger.closed')
  const inline = new InlineWriter({ file, keys: openKeys(keysDirectory) })
  expect(await inline.append([taskDraft('three')])).toMatchObject([{ seq: 2 }])
  await inline.close()
  remove()
})
