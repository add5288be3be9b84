/** The PostgreSQL store passes the suite of all stores, on a real server. */
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type PostgresServer, startPostgres } from '../../tools/postgres.mjs'
import { APPENDER, postgresLedger, WRITER } from './postgres-ledger.ts'
import { storeSuite } from './store-suite.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await startPostgres()
  const client = new pg.Client(server.connection)
  await client.connect()
  await client.query(
    `CREATE ROLE ${APPENDER} NOLOGIN; CREATE ROLE ${WRITER} LOGIN IN ROLE ${APPENDER}`,
  )
  await client.end()
})

afterAll(async () => {
  await server.stop()
})

storeSuite('PostgreSQL', ({ nowMs }) => postgresLedger(server, { nowMs }))
