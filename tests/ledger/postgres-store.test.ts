/** The PostgreSQL store passes the suite of all stores, on a real server. */
import { afterAll, beforeAll } from 'vitest'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { createRoles, postgresLedger } from './postgres-ledger.ts'
import { storeSuite } from './store-suite.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  await createRoles(server)
})

afterAll(async () => {
  await server.stop()
})

storeSuite('PostgreSQL', ({ nowMs }) => postgresLedger(server, { nowMs }))
