/** Ledgers in PostgreSQL that the tests throw away; each in a schema of its own. */
import pg from 'pg'
import {
  createPostgresLedger,
  openPostgresStore,
  type PostgresPlace,
  type PostgresStoreOptions,
  ringOf,
} from '../../src/store/index.ts'
import type { PostgresServer } from '../../tools/postgres.mjs'
import type { TestLedger } from './store-suite.ts'
import { KEY, NAME, verifierOf } from './test-ledger.ts'

export const APPENDER = 'writ_appender'
/** Logs in with the appender's rights and no others. */
export const WRITER = 'writ_writer'

/** Once for each server. */
export async function createRoles(server: PostgresServer): Promise<void> {
  await asOwner(server, (client) =>
    client.query(
      `CREATE ROLE ${APPENDER} NOLOGIN; CREATE ROLE ${WRITER} LOGIN IN ROLE ${APPENDER}`,
    ),
  )
}

/** Does something past the store, with every right. */
export async function asOwner<T>(
  server: PostgresServer,
  work: (client: pg.Client) => Promise<T>,
  user = server.connection.user,
): Promise<T> {
  const client = new pg.Client({ ...server.connection, user })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

let made = 0

/** Opens a ledger that exists. */
export function postgresLedgerAt(
  place: PostgresPlace,
  options: Partial<PostgresStoreOptions> = {},
) {
  return openPostgresStore({ ...place, keys: ringOf(KEY), ...options })
}

export async function postgresLedger(
  server: PostgresServer,
  options: Partial<PostgresStoreOptions> = {},
): Promise<TestLedger & { readonly owner: PostgresPlace; readonly place: PostgresPlace }> {
  const schema = `ledger_${made++}`
  const owner = { connection: server.connection, schema }
  const place = { connection: { ...server.connection, user: WRITER }, schema }
  await createPostgresLedger(owner, NAME, APPENDER)
  return {
    owner,
    place,
    open: () => postgresLedgerAt(place, options),
    verifier: verifierOf,
    remove: async () => undefined,
  }
}
