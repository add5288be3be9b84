/**
 * Whose history a `.writ` continues: its `id` file, or where that is gone the directory that a human
 * registered. A repository can be copied, moved, cloned and cleaned, and each of these leaves another
 * trace.
 *
 * INVARIANT (one history, one place): two directories never continue one history at the same time.
 */
import { join } from 'node:path'
import { FaultError, fault, faultError, isUuid, showPath } from '../base/index.ts'
import { readIfThere } from '../machine/index.ts'
import { type HomePlace, isSamePlace, placeOf, type TrustedHome } from './trust.ts'

/** A `.writ` as it is found. */
interface FoundHome {
  readonly path: string
  /** Null where the file is gone. */
  readonly id: string | null
  readonly place: HomePlace | null
}

type Identity =
  /** Registered here, and the same. */
  | { readonly kind: 'known'; readonly home: TrustedHome }
  /** Another home was registered at this path. */
  | { readonly kind: 'other'; readonly home: TrustedHome }
  /** Registered in another place that is gone, or here for a directory that is gone. */
  | { readonly kind: 'moved'; readonly home: TrustedHome }
  /** Registered in another place that is still there. */
  | { readonly kind: 'copied'; readonly home: TrustedHome }
  | { readonly kind: 'new' }

export function findIdentity(directory: string): FoundHome {
  return { path: directory, id: readId(directory), place: placeOf(directory) }
}

function readId(directory: string): string | null {
  const id = readIfThere(join(directory, 'id'))?.trim()
  if (id === undefined) return null
  // The id becomes a folder name: anything but a UUID could lead elsewhere.
  if (isUuid(id) && id === id.toLowerCase()) return id
  throw faultError('home.malformed', directory, 'the file `id` does not hold a UUID')
}

export function identify(found: FoundHome, homes: readonly TrustedHome[]): Identity {
  const here = homes.find(({ path }) => path === found.path)
  if (here !== undefined && found.id === here.id) return { kind: 'known', home: here }
  if (here !== undefined && found.id === null) {
    const isSame = isSamePlace(found.place, here.place ?? null)
    return { kind: isSame ? 'known' : 'moved', home: here }
  }
  const elsewhere = homes.find(({ id, place }) =>
    found.id === null ? isSamePlace(found.place, place ?? null) : id === found.id,
  )
  if (elsewhere !== undefined && isStillThere(elsewhere)) return { kind: 'copied', home: elsewhere }
  if (here !== undefined) return { kind: 'other', home: here }
  return elsewhere === undefined ? { kind: 'new' } : { kind: 'moved', home: elsewhere }
}

/** A registration without a place is an older one: then the `id` file tells. */
function isStillThere({ path, id, place }: TrustedHome): boolean {
  if (place !== undefined) return isSamePlace(placeOf(path), place)
  return readIfThere(join(path, 'id'))?.trim() === id
}

/** Why a home that is not `known` is not obeyed, and what to type next. */
export function identityFailure(
  directory: string,
  identity: Exclude<Identity, { readonly kind: 'known' }>,
  hasState: boolean,
): FaultError {
  const place = showPath(directory)
  switch (identity.kind) {
    case 'new': {
      if (hasState) {
        const message = `${place} has a history of this user, but this directory is not registered for it`
        return faultError('home.untrusted', directory, message, 'to register it: `writ trust`')
      }
      const message = `${place} is not registered for this user yet`
      const hint = 'read its laws (`writ laws check`), then run `writ init` to register it'
      return faultError('home.untrusted', directory, message, hint)
    }
    case 'other': {
      const message = `the file \`id\` of ${place} is not the one that was registered`
      const hint = 'to take up its history: `writ trust`; for a new one: `writ init --new`'
      return faultError('home.untrusted', directory, message, hint)
    }
    case 'copied': {
      const message = `${place} is a copy of ${showPath(identity.home.path)}, which keeps the history`
      const hint = 'to make it a home with a history of its own: `writ init`'
      return faultError('home.copied', directory, message, hint)
    }
    case 'moved': {
      const { path } = identity.home
      const message =
        path === directory
          ? `another directory was registered as ${place} before`
          : `${place} was registered as ${showPath(path)} before`
      const hint = 'if it is the same project: `writ trust`; if not: `writ init --new`'
      return faultError('home.moved', directory, message, hint)
    }
    default:
      return identity satisfies never
  }
}

/**
 * Returns the fault of a registered home whose ledger was removed or emptied: damage, and no wrong
 * call.
 */
export function lostLedger(at: string, state: string): FaultError {
  const reason = 'the home is registered, and its ledger is gone or empty'
  const message = `${reason}: ${at}`
  const hint = `put a copy of the ledger back into ${state}; without one, \`writ init --new\` begins another history and leaves this one as it is`
  return new FaultError(fault('ledger.corrupt', at, { reason }, { message, hint }))
}
