/**
 * A ledger that is only read: for verification, proofs and export. It needs no key, and opens what a
 * writer would refuse, because a tampered file is there to be looked at; but not a server that has
 * fewer facts than this machine has seen, because answers would leave out what is known to have been,
 * nor one where another role than a machine of the home wrote last, because answers would be its own.
 * `writ ledger verify` reads both.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError, fault } from '../../base/index.ts'
import type { Store } from '../../ledger/index.ts'
import type { KeyRing } from '../keys/ed25519.ts'
import { openKeys } from '../keys/keys.ts'
import { MachineKeys } from '../keys/machine-keys.ts'
import { FileObjects, type ObjectStore } from '../objects/objects.ts'
import { HomeFiles } from '../postgres/home-files.ts'
import { openPostgresReader } from '../postgres/postgres-store.ts'
import { SqliteStore } from '../sqlite/sqlite-store.ts'
import type { Writer } from '../sqlite/writer.ts'
import type { LedgerPlace, ReadServer } from './ledger.ts'
import { refuseUnsound } from './signed-heads.ts'
import { postgresPlaceOf, readStoreSetting } from './store-setting.ts'

export interface LedgerReader {
  readonly store: Store
  readonly objects: ObjectStore
  /** Small files of the home that every machine needs; null where it has one machine. */
  readonly files: HomeFiles | null
  /** Null where the facts lie in a file. */
  readonly server: ReadServer | null
  /** The private keys here, and what facts say about those of other machines. */
  keys(): Promise<KeyRing>
  /** Fails, as opening it does, if what came meanwhile is not to be read. For one that stays open. */
  compareHeads(): Promise<void>
  close(): Promise<void>
}

const REFUSING: Writer = {
  append: () => Promise.reject(readOnly()),
  rotate: () => Promise.reject(readOnly()),
  close: () => Promise.resolve(),
}

function readOnly(): FaultError {
  const reason = 'the ledger was opened for reading only'
  return new FaultError(fault('ledger.unreachable', '', { reason }))
}

/** Opens a ledger for reading, in the store that its setting names. */
export async function openHistory({ directory }: LedgerPlace): Promise<LedgerReader> {
  const setting = readStoreSetting(directory)
  if (setting.kind === 'sqlite') return openLedgerReader({ directory })
  const keysDirectory = join(directory, 'keys')
  const store = await openPostgresReader(postgresPlaceOf(setting), keysDirectory)
  const open = async (): Promise<MachineKeys> => {
    const ring = new MachineKeys(openKeys(keysDirectory), keysDirectory)
    await refuseUnsound(directory, store, ring)
    return ring
  }
  const ring = await open().catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const compareHeads = (): Promise<void> => refuseUnsound(directory, store, ring)
  const keys = async (): Promise<MachineKeys> => {
    await store.refresh(ring)
    return ring
  }
  const objects = store.objects(join(directory, 'objects'))
  const { schema } = postgresPlaceOf(setting)
  const isSealed: ReadServer['isSealed'] = async (text, seal) =>
    (await keys()).hasSigned(text, seal)
  const files = new HomeFiles(store.queries, schema, {
    seal: () => Promise.reject(readOnly()),
    isSealed,
  })
  const server = { schema, queries: store.queries, isSealed }
  const close = (): Promise<void> => store.close()
  return { store, objects, files, server, keys, compareHeads, close }
}

/**
 * Returns which file the facts lie in, as the system knows it; null where there is none. A reader goes
 * on with the file that it opened, also when another one was put into its place.
 */
export function ledgerFileId({ directory }: LedgerPlace): string | null {
  const found = statSync(join(directory, 'ledger.db'), { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}/${found.ino}`
}

/** For a ledger in SQLite. */
export function openLedgerReader({ directory }: LedgerPlace): LedgerReader {
  const store = new SqliteStore(join(directory, 'ledger.db'), REFUSING)
  const objects = new FileObjects(join(directory, 'objects'))
  const keys = async (): Promise<KeyRing> => openKeys(join(directory, 'keys'))
  const compareHeads = async (): Promise<void> => undefined
  const close = (): Promise<void> => store.close()
  return { store, objects, files: null, server: null, keys, compareHeads, close }
}
