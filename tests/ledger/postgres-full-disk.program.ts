/**
 * A PostgreSQL server whose tables lie on a small disk: fills it with facts until the ledger says that
 * it is full, frees some room, goes on, and opens it once more. Says three lines of JSON.
 */

import { chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { FaultError } from '../../src/base/index.ts'
import { Audit, encodeHex, type FactDraft } from '../../src/ledger/index.ts'
import {
  createPostgresLedger,
  keyFromSeed,
  openPostgresStore,
  type PostgresStore,
  ringOf,
} from '../../src/store/index.ts'
import { startPostgres } from '../../tools/postgres.mjs'
import { readInput } from './program-input.ts'

const { directory, draft } = readInput<{ readonly directory: string; readonly draft: FactDraft }>()
const schema = 'small'
const keys = ringOf(keyFromSeed(new Uint8Array(32).fill(42)))
const say = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
const sizeOf = async (store: PostgresStore): Promise<number> =>
  (await store.head('main'))?.size ?? 0

const server = await startPostgres()
try {
  await main()
} finally {
  await server.stop()
}

async function main(): Promise<void> {
  await useSmallDisk()
  const ballast = join(directory, 'ballast')
  writeFileSync(ballast, Buffer.alloc(1_000_000))
  const place = { connection: server.connection, schema }
  await createPostgresLedger(place, 'example.org/writ/test', 'writ_appender')
  const open = (): Promise<PostgresStore> =>
    openPostgresStore({ ...place, keys, isIndexing: false })
  const store = await open()
  const { acknowledged, code } = await fill(store)
  say({ code, acknowledged, size: await sizeOf(store) })
  rmSync(ballast)
  await store.append([draft])
  say({ size: await sizeOf(store) })
  await store.close()
  const again = await open()
  await again.append([draft])
  say({ size: await sizeOf(again), isSound: await isSound(again) })
  await again.close()
}

/** Tables and their indexes go there; the server's log of writes does not. */
async function useSmallDisk(): Promise<void> {
  const space = join(directory, 'space')
  mkdirSync(space)
  const { uid, gid } = statSync(server.connection.host)
  chownSync(space, uid, gid)
  const client = new pg.Client(server.connection)
  await client.connect()
  try {
    await client.query(`CREATE TABLESPACE small LOCATION '${space}'`)
    await client.query('ALTER ROLE postgres SET default_tablespace = small')
  } finally {
    await client.end()
  }
}

async function fill(store: PostgresStore) {
  for (let acknowledged = 0; ; acknowledged++) {
    try {
      await store.append([draft])
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      return { acknowledged, code: error.fault.code }
    }
  }
}

async function isSound(store: PostgresStore): Promise<boolean> {
  const audit = new Audit()
  for (const { text, chain } of await store.read('main', 0, 1_000_000)) {
    if (!audit.take(text, chain)) return false
  }
  const head = await store.head('main')
  return head !== null && encodeHex(head.root) === encodeHex(audit.root())
}
