/**
 * Removing a home: its registration and its state directory. The workspace and the laws in it stay.
 * Works by the registration and the state directory alone, so that the workspace may be gone.
 */
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { faultError, isUuid, showName } from '../base/index.ts'
import { namesIfThere, removeTreeSync, syncDirectory } from '../machine/index.ts'
import { directoriesInUse } from '../promotion/index.ts'

import { findIdentity, identify } from './identity.ts'
import type { KnownHome } from './known-home.ts'
import { findHome, HOME_NAME, newHome, type Surroundings, stateRoot } from './place.ts'
import { readTrusted, type TrustedHome, untrustHome } from './trust.ts'

/** A home that this user has on this machine. */
export interface ListedHome {
  readonly id: string
  /** Real paths of `.writ`; none where only the state is left. */
  readonly paths: readonly string[]
  readonly state: string
  readonly has_state: boolean
  readonly has_workspace: boolean
}

export function listHomes(surroundings: Surroundings): readonly ListedHome[] {
  const root = stateRoot(surroundings)
  const trusted = readTrusted(root)
  const ids = new Set([...trusted.map(({ id }) => id), ...namesIfThere(root).filter(isUuid)])
  return [...ids].sort().map((id) => listed(root, trusted, id))
}

function listed(root: string, trusted: readonly TrustedHome[], id: string): ListedHome {
  const paths = trusted.filter((home) => home.id === id).map(({ path }) => path)
  const state = join(root, id)
  const has_workspace = paths.some((path) => existsSync(path))
  return { id, paths, state, has_state: existsSync(state), has_workspace }
}

/** Returns the home that a path or an id names; the one of the current directory without a name. */
export function namedHome(surroundings: Surroundings, given: string | null): ListedHome {
  const homes = listHomes(surroundings)
  const name = given ?? surroundings.env['WRIT_HOME'] ?? ''
  const path = name === '' ? findHome(surroundings, null) : pathOf(resolve(surroundings.cwd, name))
  const found =
    homes.find(({ id }) => id === name.toLowerCase()) ??
    homes.find(({ paths }) => paths.includes(path))
  if (found !== undefined) return found
  const message = `this machine has no home ${showName(name === '' ? path : name)}`
  throw faultError('home.missing', path, message, '`writ home list` shows all homes')
}

function pathOf(folder: string): string {
  const path = basename(folder) === HOME_NAME ? folder : join(folder, HOME_NAME)
  if (existsSync(path)) return realpathSync(path)
  return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), HOME_NAME) : path
}

/**
 * Returns the home whose registration or directory `writ init` is about to give to a new history; null
 * where it replaces none. A copy in a directory of its own replaces nothing.
 */
export function replacedHome(
  surroundings: Surroundings,
  given: string | null,
  isNew: boolean,
): ListedHome | null {
  const root = stateRoot(surroundings)
  const directory = pathOf(newHome(surroundings, given))
  const trusted = readTrusted(root)
  const identity = identify(findIdentity(directory), trusted)
  if (!isNew && identity.kind !== 'copied') return null
  const here = trusted.find(({ path }) => path === directory)
  const replaced = here ?? (identity.kind === 'moved' ? identity.home : null)
  return replaced === null ? null : listed(root, trusted, replaced.id)
}

/** Returns the listed home as one that can be opened. */
export function knownHomeOf({ id, paths, state }: ListedHome): KnownHome {
  const [directory = join(state, HOME_NAME)] = paths
  return { directory, id, state, laws: '', registeredLaws: '', layered: false }
}

/** Returns the ids of promotions that were interrupted and are not ended yet. */
export function unfinishedIn(state: string): readonly string[] {
  return [...directoriesInUse(state)].map((path) => basename(path))
}

/**
 * Unregisters a home and removes its state. The state is renamed first: a crash leaves no half
 * ledger under its name, and `writ gc` removes the rest.
 */
export function removeHome(surroundings: Surroundings, { id, paths, state }: ListedHome): void {
  const root = stateRoot(surroundings)
  const doomed = `${state}.${process.pid}.tmp`
  if (existsSync(state)) {
    removeTreeSync(doomed)
    renameSync(state, doomed)
    syncDirectory(root)
  }
  untrustHome(root, id)
  for (const path of paths) {
    const stage = join(path, 'stage')
    if (existsSync(stage)) removeTreeSync(stage)
  }
  if (existsSync(doomed)) removeTreeSync(doomed)
}
