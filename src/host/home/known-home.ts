/**
 * A home that is there: found, and compared with what a human registered. How one is made stands
 * elsewhere, since every command finds a home and hardly any makes one.
 *
 * INVARIANT (a home is obeyed by registration): `openHome` returns only a home whose path, id and laws
 * a human registered. Anything else is `home.untrusted`, and nothing of it is read further.
 */
import { join } from 'node:path'
import { digestBytes, isUuid, showName } from '../../base/index.ts'
import { homeFailure } from './failure.ts'
import { readIfThere } from './file.ts'
import { findHome, type Surroundings, stateRoot } from './place.ts'
import { readTrusted, type TrustedHome } from './trust.ts'

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
