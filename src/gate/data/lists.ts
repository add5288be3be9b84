/**
 * The lists that the gate judges with besides the laws: data in one shape, with a digest that every
 * decision names. A person may add to the ephemeral list in the law file; nothing is taken away.
 */
import { canonicalJson, type Digest, digestBytes } from '../../base/index.ts'
import { type GrantDocument, type LawDocument, parseGlob } from '../../contracts/index.ts'
import { DEFAULT_GRANTS, type LawSet } from '../../policy/index.ts'
import { NameSet } from '../paths/name-set.ts'
import { PathSet, UNBOUNDED } from '../paths/path-set.ts'
import { AGENTS } from './agents.ts'
import { BUILD } from './build.ts'
import { DEFERRED, type DeferredRow } from './deferred.ts'
import { ENVIRONMENT_NAMES, QUIET_ENVIRONMENT } from './environment.ts'
import { EPHEMERAL, HARMLESS, REFUSED_FILESYSTEMS } from './ephemeral.ts'
import { HIDDEN } from './hidden.ts'

export interface GateLists {
  readonly ephemeral: readonly string[]
  readonly deferred: readonly DeferredRow[]
  /** Dot paths that are not asked about; absent in lists of evaluators before 3, which had no such rule. */
  readonly harmless?: readonly string[]
  /** Last names of build configuration; absent in lists of evaluators before 3. */
  readonly build?: readonly string[]
  /** Names of variables that are passed on; a trailing star matches any rest. */
  readonly environmentNames: readonly string[]
  readonly quietEnvironment: Readonly<Record<string, string>>
  /** Invisible inside: `~/` begins at the actor's home, a relative path at the workspace. */
  readonly hidden: readonly string[]
  /** Visible to runs without a network although they are hidden; absent where the laws name none. */
  readonly shown?: readonly string[]
  readonly agents: readonly string[]
  readonly refusedFilesystems: readonly string[]
  /** What an actor that is no person may do unasked; absent in lists of before grants. */
  readonly grants?: readonly GrantDocument[]
  /** Default laws that the law file is read over; absent in lists of before layers. */
  readonly laws?: readonly LawDocument[]
}

export const DEFAULT_LISTS: GateLists = {
  ephemeral: EPHEMERAL,
  deferred: DEFERRED,
  harmless: HARMLESS,
  build: BUILD,
  environmentNames: ENVIRONMENT_NAMES,
  quietEnvironment: QUIET_ENVIRONMENT,
  hidden: HIDDEN,
  agents: AGENTS,
  refusedFilesystems: REFUSED_FILESYSTEMS,
  grants: DEFAULT_GRANTS,
}

/** The text that is kept as a body, so that decisions can be computed again (L-9). */
export function listsText(lists: GateLists): string {
  return canonicalJson(lists)
}

export function listsDigest(lists: GateLists): Digest {
  return digestBytes(listsText(lists))
}

/** Reads lists that were kept; the digest is the caller's to check. */
export function readLists(text: string): GateLists {
  // Only texts of `listsText` have a digest that a record names.
  return JSON.parse(text) as GateLists
}

/**
 * The lists with what the laws of a home add, and with the default laws that its file is read over:
 * a record names them by one digest, so that replay judges by the same.
 */
export function listsUnder(laws: LayeredLaws, lists: GateLists = DEFAULT_LISTS): GateLists {
  const own = new Set(laws.grants.map(({ grant_id }) => grant_id))
  const kept = (lists.grants ?? []).filter(
    ({ grant_id }) => !own.has(grant_id) && !laws.disabled.includes(grant_id),
  )
  return {
    ...withEphemeral(lists, laws.ephemeral),
    hidden: [...new Set([...lists.hidden, ...laws.hidden])],
    ...(laws.shown.length === 0 ? {} : { shown: laws.shown }),
    grants: laws.isWhole ? laws.grants : [...laws.grants, ...kept],
    laws: laws.defaults,
  }
}

type LayeredLaws = Pick<
  LawSet,
  'defaults' | 'disabled' | 'ephemeral' | 'grants' | 'hidden' | 'isWhole' | 'shown'
>

/** The lists with what a law file adds to the ephemeral one. */
export function withEphemeral(lists: GateLists, patterns: readonly string[]): GateLists {
  if (patterns.length === 0) return lists
  return { ...lists, ephemeral: [...new Set([...lists.ephemeral, ...patterns])] }
}

export type EphemeralFault = 'form' | 'too_wide'

/**
 * Returns what is wrong with a pattern to add; null when nothing is. A pattern must hold a name,
 * because stars alone would discard every change.
 */
export function ephemeralFault(pattern: string): EphemeralFault | null {
  const glob = parseGlob(absolutePattern(pattern, '/home'))
  if (glob === null || !/^(?:~\/|\*\*\/|\/)/.test(pattern)) return 'form'
  const names = pattern.split('/').filter((name) => name !== '' && name !== '~')
  return names.some((name) => name.replaceAll('*', '') !== '') ? null : 'too_wide'
}

/** A pattern of a list as an absolute glob. */
function absolutePattern(pattern: string, home: string): string {
  if (pattern.startsWith('~/')) return `${home === '/' ? '' : home}${pattern.slice(1)}`
  return pattern.startsWith('/') ? pattern : `/${pattern}`
}

/** The patterns as absolute globs, once for each of the actor's homes where they name one. */
export function absolutePatterns(
  patterns: readonly string[],
  homes: readonly string[],
): readonly string[] {
  return patterns.flatMap((pattern) =>
    pattern.startsWith('~/')
      ? homes.map((home) => absolutePattern(pattern, home))
      : [absolutePattern(pattern, '/')],
  )
}

/** Paths that the laws or the built-in list name, made absolute for this actor and workspace. */
export function placedPaths(
  paths: readonly string[],
  homes: readonly string[],
  workspace: string,
): readonly string[] {
  const placed = paths.map((path) => (/^(?:\/|~\/)/.test(path) ? path : `${workspace}/${path}`))
  return absolutePatterns(placed, homes)
}

/**
 * Returns the environment of a rehearsal: names of the list, and names that the laws pass through.
 * A name that only a star covers is not handed on when it looks like a credential.
 */
export function sandboxEnvironment(
  lists: GateLists,
  environment: Readonly<Record<string, string | undefined>>,
  passed: readonly string[] = [],
): Readonly<Record<string, string>> {
  const names = handedNames(lists, passed)
  const handed = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isHanded(names, entry[0]),
  )
  return { ...Object.fromEntries(handed), ...lists.quietEnvironment }
}

/** Returns the names of an environment that a rehearsal does not see, sorted. */
export function droppedNames(
  lists: GateLists,
  environment: Readonly<Record<string, string | undefined>>,
  passed: readonly string[] = [],
): readonly string[] {
  const names = handedNames(lists, passed)
  return Object.keys(environment)
    .filter((name) => environment[name] !== undefined && !isHanded(names, name))
    .filter((name) => !Object.hasOwn(lists.quietEnvironment, name) && !OF_THE_SHELL.has(name))
    .sort()
}

/** Set by shells and by writ's own callers; no program misses them. */
const OF_THE_SHELL: ReadonlySet<string> = new Set(['_', 'PWD', 'OLDPWD', 'SHLVL', 'WRIT_TOKEN'])
const CREDENTIAL_NAME = /auth|token|passw|secret|credential|_key$|:key$/i

interface HandedNames {
  readonly whole: ReadonlySet<string>
  /** Those that end in a star. */
  readonly starred: readonly string[]
}

function handedNames(lists: GateLists, passed: readonly string[]): HandedNames {
  const names = [...lists.environmentNames, ...passed]
  return { whole: new Set(names), starred: names.filter((name) => name.endsWith('*')) }
}

function isHanded({ whole, starred }: HandedNames, name: string): boolean {
  return whole.has(name) || (!CREDENTIAL_NAME.test(name) && matchesListed(starred, name))
}

/** Whether a list of names, some of which end in a star, holds this one. */
export function matchesListed(names: readonly string[], name: string): boolean {
  return names.some((listed) =>
    listed.endsWith('*') ? name.startsWith(listed.slice(0, -1)) : name === listed,
  )
}

const EXTENSION = /\.(?:exe|[cm]?js|py|appimage)$/

/** The first known agent among the names of a parent chain; null when there is none. */
export function knownAgent(lists: GateLists, names: readonly string[]): string | null {
  const known = new Set(lists.agents)
  for (const name of names) {
    const plain = name.toLowerCase().replace(EXTENSION, '')
    if (known.has(plain)) return plain
  }
  return null
}

export interface CompiledRow {
  readonly paths: PathSet
  readonly except: PathSet
}

export interface CompiledLists {
  readonly always: CompiledRow
  /** Rows that do not apply to dependencies that a package manager installed. */
  readonly project: CompiledRow
  /** Project rows for executable files alone. */
  readonly programs: CompiledRow
  /** Directories on the way to what any row names. */
  readonly ways: PathSet
  readonly ephemeral: PathSet
  /** Null in lists of evaluators that asked about no dot path as such. */
  readonly harmless: PathSet | null
  readonly build: NameSet
}

const known = new WeakMap<GateLists, Map<string, CompiledLists>>()

/**
 * The patterns of the lists, compiled once for each list and each set of homes, because a long-lived
 * process compares with the same ones many times. The cache is keyed by both inputs, so it changes no
 * answer.
 */
export function compiledLists(lists: GateLists, homes: readonly string[]): CompiledLists {
  const byHomes = known.get(lists) ?? new Map<string, CompiledLists>()
  known.set(lists, byHomes)
  const key = JSON.stringify(homes)
  const compiled = byHomes.get(key) ?? compile(lists, homes)
  byHomes.set(key, compiled)
  return compiled
}

function compile(lists: GateLists, homes: readonly string[]): CompiledLists {
  const read = (patterns: readonly string[]): PathSet =>
    new PathSet(absolutePatterns(patterns, homes), UNBOUNDED)
  const group = (isProject: boolean, isProgram: boolean): CompiledRow => {
    const rows = lists.deferred.filter(
      ({ project = false, executable = false }) =>
        project === isProject && executable === isProgram,
    )
    return {
      paths: read(rows.flatMap(({ patterns }) => patterns)),
      except: read(rows.flatMap(({ except = [] }) => except)),
    }
  }
  const all = lists.deferred.flatMap(({ patterns }) => absolutePatterns(patterns, homes))
  return {
    always: group(false, false),
    project: group(true, false),
    programs: group(true, true),
    ways: new PathSet([...new Set(all.flatMap(waysTo))], UNBOUNDED),
    ephemeral: read(lists.ephemeral),
    harmless: lists.harmless === undefined ? null : read(lists.harmless),
    build: new NameSet(lists.build ?? []),
  }
}

/** Returns, as globs, the directories that lead to what a pattern matches, without the outermost. */
function waysTo(pattern: string): readonly string[] {
  const glob = parseGlob(pattern)
  if (glob === null) return []
  const names = pattern.slice(1).split('/')
  const ways: string[] = []
  for (let length = 1; length < names.length; length++) {
    const name = names[length - 1]
    if (name === '**' || (length < 3 && names[0] !== '**')) continue
    ways.push(`/${names.slice(0, length).join('/')}`)
  }
  return ways
}
