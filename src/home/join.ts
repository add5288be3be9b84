/**
 * `writ machine join`: another machine comes to a home whose facts and bodies lie on a server.
 * What it makes here belongs to this machine; nothing is copied from another one.
 */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes, faultError, isUuid, showName } from '../base/index.ts'
import { makeFolder, readIfThere, removeTreeSync, writeWhole } from '../machine/index.ts'
import { findLedgers, joinState, type LedgerKey } from '../store/index.ts'
import { addFile, addFolder, GITIGNORE, moveInto } from './home.ts'
import { findIdentity } from './identity.ts'
import { type Home, lawsOf } from './known-home.ts'
import { newHome, type Surroundings, stateRoot } from './place.ts'
import { placeOf, trustHome } from './trust.ts'

interface JoinedHome {
  readonly home: Home
  readonly key: LedgerKey
  /** The name of the ledger, under which the key is given to people. */
  readonly name: string
}

/** Registers a home of a server in this directory, with a new key of this machine. */
export async function joinHome(
  surroundings: Surroundings,
  given: string | null,
  { url, id: wanted }: { readonly url: string; readonly id: string | null },
): Promise<JoinedHome> {
  const found = await findLedgers(url)
  const ledgers = found.filter(({ name }) => wanted === null || name === `writ/${wanted}`)
  const [ledger, ...others] = ledgers
  if (ledger === undefined || others.length > 0) throw notOne(found.map(({ name }) => name))
  const id = ledger.name.slice('writ/'.length)
  if (!isUuid(id)) throw faultError('home.malformed', url, `${showName(id)} is no id of a home`)
  const state = join(stateRoot(surroundings), id)
  if (existsSync(join(state, 'keys'))) {
    const message = 'this machine has joined the home before'
    const hint = '`writ machine key` prints its key; after a removal: `writ machine join --again`'
    throw faultError('ledger.exists', state, message, hint)
  }
  const directory = await makeDirectory(newHome(surroundings, given), id)
  const draft = `${state}.${process.pid}.tmp`
  removeTreeSync(draft)
  makeFolder(draft, 0o700)
  try {
    const key = await joinState(draft, url, ledger)
    for (const name of ['objects', 'journal']) makeFolder(join(draft, name), 0o700)
    if (!moveInto(draft, state)) throw faultError('ledger.exists', state)
    register(stateRoot(surroundings), directory, id)
    return { home: { directory, id, state }, key, name: ledger.name }
  } catch (error) {
    removeTreeSync(draft)
    throw error
  }
}

async function makeDirectory(wanted: string, id: string): Promise<string> {
  addFolder(wanted, 0o755, [])
  const directory = realpathSync(wanted)
  const { id: known } = findIdentity(directory)
  if (known !== null && known !== id) {
    const message = `${showName(directory)} belongs to another home already`
    throw faultError('ledger.exists', directory, message, 'join from another directory')
  }
  if (readIfThere(join(directory, 'id')) === null) {
    writeWhole(join(directory, 'id'), `${id}\n`, 0o644)
  }
  addFile(join(directory, '.gitignore'), GITIGNORE, [])
  return directory
}

/** The laws in force are those of the ledger: a file here has no effect before a human accepts it. */
function register(root: string, directory: string, id: string): void {
  const place = placeOf(directory)
  const laws = existsSync(join(directory, 'laws.yaml')) ? lawsOf(directory) : digestBytes('')
  const home = { path: directory, id, laws, layered: true }
  trustHome(root, place === null ? home : { ...home, place })
}

function notOne(names: readonly string[]): Error {
  const message =
    names.length === 0
      ? 'there is no home on this server that the role may read'
      : `there are several homes on this server: ${names.join(', ')}`
  const hint =
    names.length === 0
      ? 'make one: `writ init --store URL`; or grant the role writ_appender to the role of the URL'
      : 'name one: `writ machine join URL --id ID`'
  return faultError('home.missing', '', message, hint)
}
