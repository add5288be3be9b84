/**
 * Finds an existing home and compares it with what a person registered. `home.ts` makes homes; it is a
 * file of its own, because every command finds a home and hardly any makes one.
 *
 * INVARIANT (a home is obeyed by registration): `openHome` returns only a home that a human registered,
 * recognised by its path with its `id` file, or by the directory itself where that file is gone.
 * Nothing of any other is read further. Of the laws only those count that a human accepted.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { digestBytes } from '../base/index.ts'
import { readIfThere } from '../machine/index.ts'
import { findIdentity, identify, identityFailure } from './identity.ts'
import { findHome, type Surroundings, stateRoot } from './place.ts'
import { readTrusted } from './trust.ts'

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
  /** The registered laws are read over the default ones; whole where an older version took them. */
  readonly layered: boolean
}

/** The home that a command obeys, or a refusal. */
export function openHome(surroundings: Surroundings, given: string | null): KnownHome {
  const directory = findHome(surroundings, given)
  const root = stateRoot(surroundings)
  const found = findIdentity(directory)
  const identity = identify(found, readTrusted(root))
  if (identity.kind !== 'known') {
    const hasState = found.id !== null && hasLedger(root, found.id)
    throw identityFailure(directory, identity, hasState)
  }
  const { id, laws: registeredLaws, layered = false } = identity.home
  return { directory, id, state: join(root, id), laws: lawsOf(directory), registeredLaws, layered }
}

/** Whether a home of this id has its state here: wherever the facts lie, its keys lie there. */
export function hasLedger(root: string, id: string): boolean {
  return existsSync(join(root, id, 'keys'))
}

/** The digest of the law file as it is now; of nothing where there is none. */
export function lawsOf(directory: string): string {
  return digestBytes(readIfThere(join(directory, 'laws.yaml')) ?? '')
}
