/**
 * Making a home: `.writ/` with what may be shared (`laws.yaml`, `rules/`) and its `id`, and its state, which
 * is not (`ledger.db` or `store.json`, `objects/`, `keys/`, `principals.json`, `journal/`,
 * `standing/`).
 */
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { digestBytes, faultError, showName } from '../base/index.ts'
import {
  makeFolder,
  readIfThere,
  removeTreeSync,
  syncDirectory,
  writeWhole,
} from '../machine/index.ts'
import { DEFAULT_LAWS } from '../policy/index.ts'
import {
  type Actor,
  connectionOf,
  createLedger,
  type NewStore,
  readStoreSetting,
  SQLITE,
  STORE_FILE,
  upgradeLedger,
} from '../store/index.ts'
import { findIdentity, identify, identityFailure, lostLedger } from './identity.ts'
import { type Home, hasLedger, type KnownHome, lawsOf } from './known-home.ts'
import { findHome, newHome, type Surroundings, stateRoot } from './place.ts'
import { placeOf, readTrusted, type TrustedHome, trustHome } from './trust.ts'

/** The home that a human is about to register again, whose history it continues. */
export function homeToRegister(surroundings: Surroundings, given: string | null): Home {
  const directory = findHome(surroundings, given)
  const root = stateRoot(surroundings)
  const found = findIdentity(directory)
  const identity = identify(found, readTrusted(root))
  // A copy would have the same history in two places.
  if (identity.kind === 'copied') throw identityFailure(directory, identity, false)
  const isKnown = identity.kind !== 'new'
  const id = found.id ?? (isKnown ? identity.home.id : null)
  if (id === null || !hasLedger(root, id)) {
    const message = `the home ${showName(directory)} has no ledger of this user`
    const hint = `to make one: \`${isKnown ? 'writ init --new' : 'writ init'}\``
    throw faultError('home.missing', directory, message, hint)
  }
  return { directory, id, state: join(root, id) }
}

/** Registers a home again, with the laws it has now, or with those of a digest. */
export function registerHome(
  surroundings: Surroundings,
  { directory, id }: Home,
  laws: string = lawsOf(directory),
): TrustedHome {
  const created: string[] = []
  addFolder(directory, 0o755, created)
  addFile(join(directory, 'id'), `${id}\n`, created)
  return trust(stateRoot(surroundings), { path: directory, id, laws, ...NOW })
}

/** How laws are read that a human registers now. */
const NOW = { layered: true } as const

function trust(root: string, named: Omit<TrustedHome, 'place'>): TrustedHome {
  const place = placeOf(named.path)
  const home = place === null ? named : { ...named, place }
  trustHome(root, home)
  return home
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
  /** The home that this one is a copy of; null where it is none. */
  readonly copiedFrom: string | null
  /** It was not registered before. */
  readonly isNew: boolean
}

interface NewHome {
  readonly server?: HomeStore
  /** A history of its own, also where one could be continued. */
  readonly isNew?: boolean
}

/**
 * Makes what is missing of a home and registers it. What is there stays as it is. A new home has the
 * default laws in force: a law file that was there before, such as that of a clone, waits until a human
 * accepts it.
 */
export async function makeHome(
  surroundings: Surroundings,
  given: string | null,
  actor: Actor,
  { server, isNew = false }: NewHome = {},
): Promise<MadeHome> {
  // A wrong one leaves nothing half made.
  if (server !== undefined) connectionOf(server.url)
  const wanted = newHome(surroundings, given)
  const root = stateRoot(surroundings)
  const created: string[] = []
  addFolder(wanted, 0o755, created)
  const directory = realpathSync(wanted)
  const { id: wantedId, known, original } = continued(root, directory, isNew)
  const isReplaced = isNew || known !== null || original !== null
  const id = writeId(directory, wantedId, isReplaced, created)
  addFile(join(directory, '.gitignore'), GITIGNORE, created)
  // Laws that a human accepted hold on without their file.
  if (known === null) addFile(join(directory, 'laws.yaml'), DEFAULT_LAWS, created)
  addFolder(join(directory, 'rules'), 0o755, created)
  const state = join(root, id)
  try {
    // A registered home has had a history, which is not begun again.
    if (known !== null && !existsSync(state)) throw lostLedger(state, state)
    await makeState(state, id, actor, created, storeOf(id, server))
  } catch (error) {
    takeBack(created)
    throw error
  }
  const laws = lawsOf(directory)
  const registeredLaws =
    known?.laws ?? (isAcceptedCopy(original, laws) ? laws : digestBytes(DEFAULT_LAWS))
  const layered = known === null ? NOW.layered : (known.layered ?? false)
  trust(root, { path: directory, id, laws: registeredLaws, layered })
  const copiedFrom = original?.path ?? null
  const home = { directory, id, state, laws, registeredLaws, layered }
  return { home, created, copiedFrom, isNew: known === null }
}

/**
 * Writes the file `id` and returns the id that it holds. With `isReplaced` false the first process that
 * makes the file wins, and the others take its id: together they make one home.
 */
function writeId(directory: string, id: string, isReplaced: boolean, created: string[]): string {
  const file = join(directory, 'id')
  if (readIfThere(file)?.trim() === id) return id
  const draft = isReplaced ? file : `${file}.${id}.tmp`
  writeWhole(draft, `${id}\n`, 0o644)
  try {
    if (!isReplaced) linkSync(draft, file)
    created.push(file)
    return id
  } catch (error) {
    const first = findIdentity(directory).id
    if (first === null) throw error
    return first
  } finally {
    if (!isReplaced) rmSync(draft)
  }
}

/** Whether a human accepted these laws, read in the same way, for the home that this one copies. */
function isAcceptedCopy(original: TrustedHome | null, laws: string): boolean {
  return original?.laws === laws && (original.layered ?? false) === NOW.layered
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

interface Continued {
  readonly id: string
  /** The registration that goes on; null for a new one. */
  readonly known: TrustedHome | null
  /** The home that this one is a copy of; null where it is none. */
  readonly original: TrustedHome | null
}

/** Whose history a home continues: the one that was registered, that of its `id` file, or its own. */
function continued(root: string, directory: string, isNew: boolean): Continued {
  const found = findIdentity(directory)
  const identity = identify(found, readTrusted(root))
  if (isNew) return { id: randomUUID(), known: null, original: null }
  switch (identity.kind) {
    case 'known':
      return { id: identity.home.id, known: identity.home, original: null }
    case 'new':
      return { id: found.id ?? randomUUID(), known: null, original: null }
    case 'copied':
      return { id: randomUUID(), known: null, original: identity.home }
    // A home that moved or that another one replaced.
    default:
      throw identityFailure(directory, identity, false)
  }
}

/** Makes the state in a temporary directory and renames it, so that a crash leaves none or all of it. */
async function makeState(
  state: string,
  id: string,
  actor: Actor,
  created: string[],
  store: NewStore,
): Promise<void> {
  if (existsSync(state)) {
    refuseOtherStore(state, store)
    if (store.kind === 'postgres') await upgradeLedger({ directory: state }, store)
  } else {
    const draft = `${state}.${process.pid}.tmp`
    removeTreeSync(draft)
    makeFolder(draft, 0o700)
    try {
      await createLedger({ directory: draft }, `writ/${id}`, actor, store)
    } catch (error) {
      removeTreeSync(draft)
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
  throw faultError('ledger.exists', state, 'this home has its ledger elsewhere already')
}

/** False when another process was first; its ledger stays. */
export function moveInto(draft: string, state: string): boolean {
  try {
    renameSync(draft, state)
  } catch (error) {
    removeTreeSync(draft)
    if (existsSync(state)) return false
    throw error
  }
  syncDirectory(dirname(state))
  return true
}

export function addFolder(folder: string, mode: number, created: string[]): void {
  if (makeFolder(folder, mode)) created.push(folder)
}

export function addFile(file: string, text: string, created: string[]): void {
  if (existsSync(file)) return
  writeWhole(file, text, 0o644)
  created.push(file)
}

/** Keeps the id and everything else of this machine out of the repository. */
export const GITIGNORE = `# Laws and rules are shared; everything else belongs to one machine.
*
!.gitignore
!laws.yaml
!rules/
!rules/**
`
