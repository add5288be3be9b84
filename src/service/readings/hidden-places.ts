/**
 * Real paths of what no run may read: the places of the list in every home of the account, below the
 * directories that the XDG variables name too, and what looks like a credential where programs keep
 * their own things. Links are followed: what they lead to is hidden. A place that is not there hides
 * nothing.
 *
 * Every run asks this, so the search is bounded: so many directories, so deep.
 */
import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import {
  type GateLists,
  isKnownCache,
  NameSet,
  PUBLIC_NAMES,
  placedPaths,
  SECRET_NAMES,
  UNSEARCHED,
} from '../../gate/index.ts'
import type { XdgName } from '../../home/index.ts'
import { realPathOf } from './host-facts.ts'

interface HiddenOrder {
  readonly lists: GateLists
  /** The actor's homes as the gate knows them. */
  readonly homes: readonly string[]
  readonly workspace: string
  /** What people work on: nothing in it is hidden by its name alone. */
  readonly shown: readonly string[]
  readonly hasNetwork: boolean
  /** Directories of the persons who used this home, by the variables that named them. */
  readonly xdg?: XdgPlaces
}

type XdgPlaces = Readonly<Partial<Record<XdgName, readonly string[]>>>

/** Returns the homes with the account's home from the table of users, which `$HOME` may not name. */
export function withAccountHome(homes: readonly string[]): readonly string[] {
  const account = realPathOf(accountHome())
  const isHome = account !== '/' && !account.startsWith('/nonexistent')
  return [...new Set(isHome ? [...homes, account] : homes)]
}

let ownRow: string | undefined

/** Reads the table of users once: the user of a process does not change. */
function accountHome(): string {
  ownRow ??= homeInTable()
  return ownRow
}

function homeInTable(): string {
  try {
    return userInfo().homedir
  } catch {
    // The user has no row in the table.
    return homedir()
  }
}

/** Links inside a hidden directory are followed too: people keep the real files elsewhere. */
const LINKS_LOOKED_AT = 500

export function hiddenPlaces(order: HiddenOrder): readonly string[] {
  const { lists, homes, workspace, shown, hasNetwork, xdg = {} } = order
  const all = withAccountHome(homes)
  const listed = placedPaths(lists.hidden, all, workspace)
  const moved = elsewhere(listed, movedDirectories(all, xdg))
  const listings = new Listings([...all, ...XDG.flatMap(({ name }) => xdgPlaces(name, xdg))])
  const places = [...listed, ...moved]
    .filter((path) => listings.mayHold(path))
    .flatMap(expanded)
    .concat(passwordFiles())
    .flatMap(realPlace)
  // A place that contains the workspace is not hidden: the user put the workspace there.
  const found = new Set(places.filter((path) => !isWithin(workspace, path)))
  const isOwn = (path: string): boolean =>
    shown.some((root) => isWithin(path, root) || isWithin(root, path))
  for (const place of [...found]) {
    for (const target of linkTargets(place)) if (!isOwn(target)) found.add(target)
  }
  const search = new Search(isOwn)
  for (const home of all) search.home(home)
  for (const { name } of XDG) for (const place of xdgPlaces(name, xdg)) search.directory(place, 2)
  if (hasNetwork) for (const home of all) search.unknownCaches(join(home, '.cache'))
  const hidden = [...new Set([...found, ...search.found])]
  if (hasNetwork || lists.shown === undefined) return hidden
  const open = placedPaths(lists.shown, all, workspace).flatMap(realPlace)
  return hidden.flatMap((place) => without(place, open))
}

/** Files of passwords that variables of this process name, such as those of the server of a home. */
function passwordFiles(): readonly string[] {
  const named = ['PGPASSFILE', 'PGSERVICEFILE'].map((name) => process.env[name] ?? '')
  return named.filter(isAbsolute)
}

/** A hidden place without what the laws show; a directory that holds such a place goes by entries. */
function without(place: string, open: readonly string[]): readonly string[] {
  if (open.some((path) => isWithin(place, path))) return []
  if (!open.some((path) => isWithin(path, place))) return [place]
  return entriesOf(place).flatMap(({ name }) => without(join(place, name), open))
}

const XDG = [
  { name: 'XDG_CONFIG_HOME', usual: '.config' },
  { name: 'XDG_DATA_HOME', usual: '.local/share' },
  { name: 'XDG_STATE_HOME', usual: '.local/state' },
  { name: 'XDG_CACHE_HOME', usual: '.cache' },
] as const

interface MovedDirectory {
  /** Where it usually is, with a slash at its end. */
  readonly usual: string
  readonly given: readonly string[]
}

/** Returns the directories of each home that a variable names elsewhere. */
function movedDirectories(homes: readonly string[], xdg: XdgPlaces): readonly MovedDirectory[] {
  return XDG.flatMap(({ name, usual }) => {
    const given = xdgPlaces(name, xdg)
    return given.length === 0
      ? []
      : homes.map((home) => ({ usual: `${join(home, usual)}/`, given }))
  })
}

/** Returns the same places below the directories that variables name. */
function elsewhere(listed: readonly string[], moved: readonly MovedDirectory[]): readonly string[] {
  const found: string[] = []
  for (const { usual, given } of moved) {
    for (const path of listed) {
      if (!path.startsWith(usual)) continue
      for (const place of given) found.push(entryOf(place, path.slice(usual.length)))
    }
  }
  return found
}

/** The directories that the caller's variable and those of persons name. */
function xdgPlaces(name: XdgName, xdg: XdgPlaces): readonly string[] {
  const given = process.env[name] ?? ''
  const places = [...(isAbsolute(given) ? [given] : []), ...(xdg[name] ?? [])]
  return [...new Set(places.map((place) => resolve(place)))]
}

/**
 * Directories of homes, each read once in a search. Of the hundreds of places on the list a home has a
 * few, so the names of its directories answer instead of a look at each place.
 */
class Listings {
  readonly #tops: readonly string[]
  readonly #read = new Map<string, ReadonlySet<string> | null>()

  /** Takes the directories from which on names are compared. Above them a name may be there unlisted. */
  constructor(tops: readonly string[]) {
    this.#tops = tops
  }

  /** Returns false if a pattern surely matches nothing. */
  mayHold(pattern: string): boolean {
    const top = this.#tops.find((place) => place !== '/' && pattern.startsWith(`${place}/`))
    if (top === undefined) return true
    let directory = top
    for (const name of pattern.slice(top.length + 1).split('/')) {
      const names = COMPARED.test(name) ? this.#namesIn(directory) : null
      if (names === null) return true
      if (!names.has(anyCase(name))) return false
      directory = entryOf(directory, name)
    }
    return true
  }

  #namesIn(directory: string): ReadonlySet<string> | null {
    let names = this.#read.get(directory)
    if (names === undefined) {
      names = namesIn(directory)
      this.#read.set(directory, names)
    }
    return names
  }
}

/** Names that a directory lists as they are looked up: no pattern, no step upwards, one way to write it. */
const COMPARED = /^(?!\.{1,2}$)[\w.@ -]+$/

/** A filesystem may find a name in any case: the same text for every way to write an ASCII name. */
function anyCase(name: string): string {
  return name.toLowerCase().toUpperCase()
}

/** Returns null if the names cannot be read. */
function namesIn(directory: string): ReadonlySet<string> | null {
  try {
    return new Set(readdirSync(directory).map(anyCase))
  } catch (error) {
    return isSurelyAbsent(error) ? new Set() : null
  }
}

/** Expands a pattern: two trailing stars mean the directory, one star matches existing names. */
function expanded(pattern: string): readonly string[] {
  const path = pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern
  if (!path.includes('*')) return [path]
  let places = ['/']
  for (const name of path.split('/').filter((part) => part !== '')) {
    places = name.includes('*')
      ? places.flatMap((place) => matching(place, name))
      : places.map((place) => entryOf(place, name))
  }
  return places
}

function matching(directory: string, pattern: string): readonly string[] {
  const names = new NameSet([pattern])
  const entries = entriesOf(directory).filter(({ name }) => names.has(name))
  return entries.map(({ name }) => entryOf(directory, name))
}

/** Joins a path without dots and a name. Node's `join` looks at every character of both. */
function entryOf(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

function realPlace(path: string): readonly string[] {
  try {
    // Most are not there, and a thrown error takes many times as long as this answer.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return []
    return [realpathSync.native(path)]
  } catch (error) {
    // What is surely not there hides nothing; what cannot be looked at is named as it is.
    return isSurelyAbsent(error) ? [] : [path]
  }
}

function isSurelyAbsent(error: unknown): boolean {
  // Thrown by functions of `node:fs`.
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP'
}

function linkTargets(directory: string): readonly string[] {
  if (!isDirectoryAt(directory)) return []
  return entriesOf(directory)
    .slice(0, LINKS_LOOKED_AT)
    .filter((entry) => entry.isSymbolicLink())
    .flatMap(({ name }) => realPlace(join(directory, name)))
    .filter((target) => !isSystemPlace(target))
}

/** Returns whether a path belongs to the system: files of packages are no secrets. */
function isSystemPlace(path: string): boolean {
  return /^\/(?:usr|etc|opt|bin|lib\w*|sbin|nix|snap|proc|dev|sys|run)?(?:\/|$)/.test(path)
}

const DIRECTORIES_MAX = 600
const secret = new NameSet(SECRET_NAMES, { anyCase: true })
const open = new NameSet(PUBLIC_NAMES, { anyCase: true })
const unsearched = new NameSet(UNSEARCHED, { anyCase: true })
/** Directories of programs in a home that hold one directory for each program. */
const SHELVES: ReadonlySet<string> = new Set(['.config', '.local', '.cache', '.var'])

/** Looks for names that look like credentials. */
class Search {
  readonly found: string[] = []
  readonly #isOwn: (path: string) => boolean
  #left = DIRECTORIES_MAX

  constructor(isOwn: (path: string) => boolean) {
    this.#isOwn = isOwn
  }

  /** Files of the home itself, and what its dot directories hold. */
  home(home: string): void {
    const later: [string, number][] = []
    for (const entry of entriesOf(home)) {
      const { name } = entry
      if (this.#takes(home, name) || !name.startsWith('.')) continue
      const path = entryOf(home, name)
      if (isDirectory(path, entry)) later.push([path, SHELVES.has(name) ? 3 : 2])
    }
    for (const [path, depth] of later) this.directory(path, depth)
  }

  directory(path: string | undefined, depth: number): void {
    if (path === undefined || !isAbsolute(path) || depth === 0 || this.#left-- <= 0) return
    for (const entry of entriesOf(path)) {
      const { name } = entry
      if (this.#takes(path, name) || !entry.isDirectory() || unsearched.has(name)) continue
      this.directory(entryOf(path, name), depth - 1)
    }
  }

  /** All but what is known to hold no login. */
  unknownCaches(directory: string): void {
    for (const { name } of entriesOf(directory)) {
      if (!isKnownCache(name)) this.#add(join(directory, name))
    }
  }

  #takes(directory: string, name: string): boolean {
    if (!secret.has(name) || open.has(name)) return false
    this.#add(entryOf(directory, name))
    return true
  }

  #add(path: string): void {
    for (const place of realPlace(path)) if (!this.#isOwn(place)) this.found.push(place)
  }
}

function isDirectory(path: string, entry: Dirent): boolean {
  return entry.isSymbolicLink() ? isDirectoryAt(path) : entry.isDirectory()
}

function isDirectoryAt(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}
