/**
 * How a machine comes to a ledger that others write: it finds the ledger on the server, makes a
 * key of its own, and notes the ledger's first key, from which every later one follows.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import { type Fact, fingerprint, HOST_STREAM, parseVerifierKey } from '../../ledger/index.ts'
import { makeFolder } from '../../machine/index.ts'
import type { LedgerKey } from '../keys/ed25519.ts'
import { createKey, makeCurrent } from '../keys/keys.ts'
import { newClient, postgresFailure } from '../postgres/postgres-connection.ts'
import { openPostgresReader } from '../postgres/postgres-store.ts'
import { connectionOf, writeStoreSetting } from './store-setting.ts'

/** A ledger on a server. */
interface FoundLedger {
  readonly schema: string
  /** The origin of its streams: `writ/` and the id of the home. */
  readonly name: string
}

/** Returns the ledgers that a role may read on a server. */
export async function findLedgers(url: string): Promise<readonly FoundLedger[]> {
  const connection = connectionOf(url)
  const client = await newClient(connection)
  try {
    await client.connect()
    const { rows } = await client.query<{ schema: string }>(
      `SELECT nspname AS schema FROM pg_namespace
        WHERE nspname LIKE 'writ\\_%' AND has_schema_privilege(oid, 'USAGE') ORDER BY nspname`,
    )
    const found: FoundLedger[] = []
    for (const { schema } of rows.filter((row) => /^writ_[0-9a-f_]{36}$/.test(row.schema))) {
      const { rows: names } = await client.query<{ name: string }>(
        `SELECT name FROM ${schema}.ledger`,
      )
      const [ledger] = names
      if (ledger !== undefined) found.push({ schema, name: ledger.name })
    }
    return found
  } catch (error) {
    throw postgresFailure(error, url, connection)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Makes what this machine keeps of a ledger: where it lies, a new key, and the ledger's first one. */
export async function joinState(
  directory: string,
  url: string,
  { schema, name }: FoundLedger,
): Promise<LedgerKey> {
  const first = await firstKey(url, schema)
  makeFolder(directory, 0o700)
  writeStoreSetting(directory, { kind: 'postgres', url, schema })
  const keys = join(directory, 'keys')
  const key = createKey(keys, name)
  makeCurrent(keys, key)
  const publicKey = parseVerifierKey(first)?.publicKey ?? new Uint8Array()
  writeFileSync(join(keys, `${fingerprint(publicKey)}.pub`), `${first}\n`, { mode: 0o644 })
  return key
}

async function firstKey(url: string, schema: string): Promise<string> {
  const store = await openPostgresReader({ connection: connectionOf(url), schema })
  try {
    const [row] = await store.read(HOST_STREAM, 0, 1)
    // The store returns texts of facts; what is in this one is looked at.
    const fact = row === undefined ? null : (JSON.parse(row.text) as Fact)
    const key = (fact?.record.payload as { readonly new_key?: unknown } | undefined)?.new_key
    if (typeof key === 'string' && parseVerifierKey(key) !== null) return key
    throw faultError(
      'ledger.tampered',
      `${HOST_STREAM}/0`,
      'the ledger does not name its first key',
    )
  } finally {
    await store.close()
  }
}
