/**
 * Making a home: `.writ/` with what may be shared (`laws.yaml`, `rules/`, `id`), and its state, which
 * is not (`ledger.db` or `store.json`, `objects/`, `keys/`, `principals.json`, `journal/`,
 * `standing/`).
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fault, showName } from '../../base/index.ts'
import { StoreFailure } from '../../ledger/index.ts'
import { type Actor, createLedger, type NewStore } from '../ledger/ledger.ts'
import { connectionOf, readStoreSetting, SQLITE, STORE_FILE } from '../ledger/store-setting.ts'
import { homeFailure } from './failure.ts'
import { makeFolder, syncFolder, writeWhole } from './file.ts'
import { GITIGNORE } from './first-files.ts'
import { describeHome, type KnownHome } from './known-home.ts'
import { findHome, newHome, type Surroundings, stateRoot } from './place.ts'
import { readTrusted, type TrustedHome, trustHome } from './trust.ts'

/** Registers a home again, with the laws it has now. */
export function registerHome(surroundings: Surroundings, given: string | null): TrustedHome {
  const directory = findHome(surroundings, given)
  const now = describeHome(directory)
  const root = stateRoot(surroundings)
  if (now === null || !existsSync(join(root, now.id, 'keys'))) {
    const message = `the home ${showName(directory)} has no ledger on this machine`
    throw homeFailure('home.missing', directory, message, '`writ init` makes one')
  }
  trustHome(root, now)
  return now
}

/** A PostgreSQL server for the facts of a new home, each home in a schema of its own. */
export interface HomeStore {
  readonly url: string
  /** The role that makes and owns the tables; the one that the URL names when absent. */
  readonly owner?: string
}

export interface MadeHome {
  readonly home: KnownHome
  /** Every file and folder that was not there before. */
  readonly created: readonly string[]
}

/** Makes what is missing of a home and registers it. What is there stays as it is. */
export async function makeHome(
  surroundings: Surroundings,
  given: string | null,
  actor: Actor,
  server?: HomeStore,
): Promise<MadeHome> {
  // A wrong one leaves nothing half made.
  if (server !== undefined) connectionOf(server.url)
  // Loaded here, since most commands open a home and never make one.
  const { DEFAULT_LAWS } = await import('../../policy/index.ts')
  const wanted = newHome(surroundings, given)
  const root = stateRoot(surroundings)
  const created: string[] = []
  addFolder(wanted, 0o755, created)
  const directory = realpathSync(wanted)
  refuseChanged(root, directory)
  addFile(join(directory, 'id'), `${randomUUID()}\n`, created)
  addFile(join(directory, '.gitignore'), GITIGNORE, created)
  addFile(join(directory, 'laws.yaml'), DEFAULT_LAWS, created)
  addFolder(join(directory, 'rules'), 0o755, created)
  const now = describeHome(directory)
  if (now === null) throw homeFailure('home.malformed', directory, 'the file `id` is gone')
  const state = join(root, now.id)
  try {
    await makeState(state, now.id, actor, created, storeOf(now.id, server))
  } catch (error) {
    takeBack(created)
    throw error
  }
  trustHome(root, now)
  const home = { directory, id: now.id, state, laws: now.laws, registeredLaws: now.laws }
  return { home, created }
}

/** Removes the files and empty folders that this call made, the last one first. */
function takeBack(created: readonly string[]): void {
  for (const path of [...created].reverse()) {
    try {
      if (lstatSync(path).isDirectory()) rmdirSync(path)
      else rmSync(path)
    } catch {
      // A folder that is in use meanwhile stays.
    }
  }
}

/** A known home whose laws changed is not taken again by the way: that is what `writ trust` is for. */
function refuseChanged(root: string, directory: string): void {
  const known = readTrusted(root).find(({ path }) => path === directory)
  const now = known === undefined ? null : describeHome(directory)
  if (known === undefined || now === null || (now.id === known.id && now.laws === known.laws)) {
    return
  }
  const message = `the laws or the id of ${showName(directory)} changed since it was registered`
  throw homeFailure('home.untrusted', directory, message, 'read them, then `writ trust`')
}

/** The ledger is made beside its place and moved there whole, so that a crash leaves none or all. */
async function makeState(
  state: string,
  id: string,
  actor: Actor,
  created: string[],
  store: NewStore,
): Promise<void> {
  if (existsSync(state)) refuseOtherStore(state, store)
  else {
    const draft = `${state}.${process.pid}.tmp`
    rmSync(draft, { recursive: true, force: true })
    makeFolder(draft, 0o700)
    try {
      await createLedger({ directory: draft }, `writ/${id}`, actor, store)
    } catch (error) {
      rmSync(draft, { recursive: true, force: true })
      throw error
    }
    const file = store.kind === 'sqlite' ? 'ledger.db' : STORE_FILE
    if (moveInto(draft, state)) created.push(state, join(state, file), join(state, 'keys'))
  }
  chmodSync(state, 0o700)
  for (const name of ['objects', 'journal']) addFolder(join(state, name), 0o700, created)
}

function storeOf(id: string, server: HomeStore | undefined): NewStore {
  if (server === undefined) return SQLITE
  return { kind: 'postgres', schema: `writ_${id.replaceAll('-', '_')}`, ...server }
}

/** A ledger stays where it was made. */
function refuseOtherStore(state: string, store: NewStore): void {
  if (store.kind === 'sqlite') return
  const found = readStoreSetting(state)
  if (found.kind === 'postgres' && found.url === store.url) return
  const message = 'this home has its ledger elsewhere already'
  throw new StoreFailure(fault('ledger.exists', state, null, { message }))
}

/** False when another process was first; its ledger stays. */
function moveInto(draft: string, state: string): boolean {
  try {
    renameSync(draft, state)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (existsSync(state)) return false
    throw error
  }
  syncFolder(dirname(state))
  return true
}

function addFolder(folder: string, mode: number, created: string[]): void {
  if (makeFolder(folder, mode)) created.push(folder)
}

function addFile(file: string, text: string, created: string[]): void {
  if (existsSync(file)) return
  writeWhole(file, text, 0o644)
  created.push(file)
}
