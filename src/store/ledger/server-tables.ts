/** Makes the tables of a ledger on a server, and brings those of an older writ up to date. */
import { join } from 'node:path'
import { openKeys } from '../keys/keys.ts'
import { MachineKeys } from '../keys/machine-keys.ts'
import { FileObjects } from '../objects/objects.ts'
import { HomeFiles } from '../postgres/home-files.ts'
import {
  createPostgresLedger,
  tryLogin,
  upgradePostgresLedger,
} from '../postgres/postgres-connection.ts'
import { keyFactsIn } from '../postgres/postgres-keys.ts'
import { PostgresObjects } from '../postgres/postgres-objects.ts'
import { postgresPlaceOf, type StoreSetting, writeStoreSetting } from './store-setting.ts'

/** Where a new ledger keeps its facts, and who makes the tables when they are PostgreSQL's. */
export type NewStore = StoreSetting & {
  /** A role that may do so; else the one that appends, which then owns what it appends to. */
  readonly owner?: string
}

type NewServer = Extract<NewStore, { kind: 'postgres' }>

/** The role that may append; every ledger of a server shares it. */
const APPENDER = 'writ_appender'

export async function createTables(
  directory: string,
  name: string,
  { owner, kind, url, schema }: NewServer,
): Promise<void> {
  const { connection } = postgresPlaceOf({ kind, url, schema })
  const { user: login } = connection
  const isApart = owner !== undefined && owner !== login
  // Both roles have to get in before anything is made: a home that no one opens would stay on the server.
  if (isApart) await tryLogin({ schema, connection })
  await createPostgresLedger(
    { schema, connection: isApart ? { ...connection, user: owner } : connection },
    name,
    APPENDER,
    isApart ? login : undefined,
  )
  writeStoreSetting(directory, { kind, url, schema })
}

/**
 * Brings the tables of an older writ up to date in one transaction. The bodies that lay in this state
 * directory go along, and this machine signs the files that it finds: a human trusts them by this command.
 */
export async function upgradeLedger(
  { directory }: { readonly directory: string },
  { owner, kind, url, schema }: NewServer,
): Promise<void> {
  const { connection } = postgresPlaceOf({ kind, url, schema })
  const user = owner ?? connection.user
  const place = { schema, connection: { ...connection, ...(user === undefined ? {} : { user }) } }
  await upgradePostgresLedger(place, APPENDER, async (client) => {
    const scratch = join(directory, 'objects')
    const objects = new PostgresObjects(client, schema, scratch)
    const files = new FileObjects(scratch)
    for (const digest of files.all()) await objects.put({ digest, bytes: await files.get(digest) })
    const keys = new MachineKeys(openKeys(join(directory, 'keys')), join(directory, 'keys'))
    await keys.refresh(keyFactsIn(client, schema))
    const signer = {
      seal: async (text: string) => keys.seal(text),
      isSealed: async (text: string, seal: Parameters<MachineKeys['hasSigned']>[1]) =>
        keys.hasSigned(text, seal),
    }
    await new HomeFiles(client, schema, signer).signAll()
  })
}
