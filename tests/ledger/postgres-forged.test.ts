/** Facts that an appender of PostgreSQL adds without the key of the ledger. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { faultCode } from '../../src/base/index.ts'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { taskDraft } from './entries.ts'
import { createRoles, postgresLedger, postgresLedgerAt } from './postgres-ledger.ts'
import { KEY } from './test-ledger.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
}, 180_000)

afterAll(() => server.stop())

it('are not signed by a process that wrote to the stream before and goes on', async () => {
  const made = await postgresLedger(server)
  const store = await made.open()
  await store.append([taskDraft('one')])
  // All that a role of the server has: the public key, and no signature by it.
  const unsigned = { ...KEY, sign: () => new Uint8Array(64) }
  const keys = { find: () => unsigned, current: () => unsigned }
  const forger = await postgresLedgerAt(made.place, { keys })
  await forger.append([taskDraft('forged')])
  await forger.close()
  const refused = await store.append([taskDraft('two')]).catch(faultCode)
  expect(refused).toBe('ledger.signature_invalid')
  await store.close()
})
