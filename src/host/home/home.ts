/**
 * A home: `.writ/` with what may be shared (`laws.yaml`, `rules/`, `id`), and its state, which is not
 * (`ledger.db` or `store.json`, `objects/`, `keys/`, `principals.json`, `journal/`).
 *
 * INVARIANT (a home is obeyed by registration): `openHome` returns only a home whose path, id and laws
 * a human registered. Anything else is `home.untrusted`, and nothing of it is read further.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { digestBytes, fault, isUuid, showName } from '../../base/index.ts'
import { StoreFailure } from '../../ledger/index.ts'
import { type Actor, createLedger, type NewStore } from '../ledger/ledger.ts'
import { connectionOf, readStoreSetting, SQLITE, STORE_FILE } from '../ledger/store-setting.ts'
import { homeFailure } from './failure.ts'
import { makeFolder, readIfThere, syncFolder, writeWhole } from './file.ts'
import { GITIGNORE } from './first-files.ts'
import { findHome, newHome, type Surroundings, stateRoot } from './place.ts'
import { readTrusted, type TrustedHome, trustHome } from './trust.ts'

export interface Home {
  /** The real path of `.writ`. */
  readonly directory: string
  readonly id: string
  /** The state directory of this home. */
  readonly state: string
}

/** A registered home, whose laws may have changed since. */
export interface KnownHome extends Home {
  /** Of the laws as they are now. */
  readonly laws: string
  readonly registeredLaws: string
}

/** The home that a command obeys, or a refusal. */
export function openHome(surroundings: Surroundings, given: string | null): Home {
  const { directory, id, state, laws, registeredLaws } = openKnownHome(surroundings, given)
  if (laws !== registeredLaws) {
    const message = `the laws of ${showName(directory)} are not the ones that were registered`
    throw homeFailure('home.untrusted', directory, message, 'read them, then `writ trust`')
  }
  return { directory, id, state }
}

/**
 * For the gate, which blocks every decision while laws are changed and says so (`laws.changed`): the
 * home that a human registered, by path and id, whatever its laws are now.
 */
export function openKnownHome(surroundings: Surroundings, given: string | null): KnownHome {
  const directory = findHome(surroundings, given)
  const root = stateRoot(surroundings)
  const known = readTrusted(root).find(({ path }) => path === directory)
  const place = showName(directory)
  if (known === undefined) {
    const message = `nobody registered the home ${place} on this machine`
    throw homeFailure('home.untrusted', directory, message, 'read its laws, then `writ init`')
  }
  const now = describeHome(directory)
  if (now === null || now.id !== known.id) {
    const message = `the home ${place} has another id than the one that was registered`
    throw homeFailure('home.untrusted', directory, message)
  }
  const state = join(root, known.id)
  return { directory, id: known.id, state, laws: now.laws, registeredLaws: known.laws }
}

/** A home as its files are now; null when it has no id. */
export function describeHome(directory: string): TrustedHome | null {
  const id = readIfThere(join(directory, 'id'))?.trim()
  if (id === undefined) return null
  // The id becomes a folder name: anything but a UUID could lead elsewhere.
  if (!isUuid(id) || id !== id.toLowerCase()) {
    throw homeFailure('home.malformed', directory, 'the file `id` does not hold a UUID')
  }
  return { path: directory, id, laws: digestBytes(readIfThere(join(directory, 'laws.yaml')) ?? '') }
}

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
  await makeState(state, now.id, actor, created, storeOf(now.id, server))
  trustHome(root, now)
  const home = { directory, id: now.id, state, laws: now.laws, registeredLaws: now.laws }
  return { home, created }
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
    await createLedger({ directory: draft }, `writ/${id}`, actor, store)
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
