/**
 * The PATH and the XDG directories of the persons who used a home, kept in its state. An actor chooses
 * its own environment, so what counts as a directory of programs or of credentials must not depend on
 * that alone: the host uses these places besides the ones that the caller names.
 */
import { join } from 'node:path'
import { faultError, showPath } from '../base/index.ts'
import { isObject } from '../contracts/index.ts'
import { readIfThere, withFolderLock, writeWhole } from '../machine/index.ts'

const XDG_NAMES = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'] as const

export type XdgName = (typeof XDG_NAMES)[number]

const NAMES = ['PATH', ...XDG_NAMES] as const

/** Absolute directories for each variable, the oldest first. */
type PersonPlaces = Readonly<Record<(typeof NAMES)[number], readonly string[]>>

type Environment = Readonly<Record<string, string | undefined>>

const FILE = 'person-places.json'
const PLACES_MAX = 1024
/** Read-only directories of packages, of which every shell of theirs names others. */
const STORE = '/nix/store/'

/**
 * Adds the places of a person's environment. The ones that are known stay and a full list takes no
 * more: a process that names a thousand directories without a token pushes none of the person's out.
 */
export function rememberPlaces(state: string, environment: Environment): void {
  if (withPlaces(knownPlaces(state), environment) === null) return
  withFolderLock(state, () => {
    const text = withPlaces(knownPlaces(state), environment)
    if (text !== null) writeWhole(join(state, FILE), text, 0o600)
  })
}

/** Returns null if the environment names no place that is new. */
function withPlaces(known: PersonPlaces, environment: Environment): string | null {
  const all = Object.fromEntries(
    NAMES.map((name) => {
      const fresh = placesIn(environment[name]).filter(
        (place) => !known[name].includes(place) && !place.startsWith(STORE),
      )
      return [name, [...known[name], ...fresh].slice(0, PLACES_MAX)]
    }),
  )
  const text = `${JSON.stringify(all)}\n`
  return text === `${JSON.stringify(known)}\n` ? null : text
}

/** Returns none for a new home. Fails if the file is malformed: an actor would gain by a lost list. */
export function knownPlaces(state: string): PersonPlaces {
  const file = join(state, FILE)
  const text = readIfThere(file)
  const kept = text === null ? {} : parsed(text)
  if (!isObject(kept)) {
    const message = 'the list of directories of persons cannot be read'
    const hint = `remove ${showPath(file)}; the next command of a person writes it again`
    throw faultError('home.malformed', file, message, hint)
  }
  // Every name is there.
  return Object.fromEntries(
    NAMES.map((name) => [name, strings(kept[name])]),
  ) as unknown as PersonPlaces
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  return value.filter((one): one is string => typeof one === 'string').flatMap(placesIn)
}

function placesIn(text: string | undefined): readonly string[] {
  return [...new Set((text ?? '').split(':').filter((place) => place.startsWith('/')))]
}

/** Where accounts usually keep programs of their own, also if their PATH does not name it. */
const USUAL_PROGRAMS = ['bin', '.local/bin', '.cargo/bin', 'go/bin', '.npm-global/bin']

/** The PATH of the caller, then those of the persons, then the usual directories of each home. */
export function wholePath(
  state: string,
  path: string | undefined,
  homes: readonly string[],
): string {
  const usual = homes.flatMap((home) => USUAL_PROGRAMS.map((name) => join(home, name)))
  const own = path === undefined || path === '' ? [] : [path]
  return [...own, ...knownPlaces(state).PATH, ...usual].join(':')
}
