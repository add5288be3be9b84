/**
 * The patterns of the lists, compiled once for each list and each set of homes, because a long-lived
 * process compares with the same ones many times. The cache is keyed by both inputs, so it changes no
 * answer.
 */
import { parseGlob } from '../../contracts/index.ts'
import { NameSet } from '../paths/name-set.ts'
import { PathSet, UNBOUNDED } from '../paths/path-set.ts'
import { absolutePatterns, type GateLists } from './lists.ts'

export interface CompiledRow {
  readonly paths: PathSet
  readonly except: PathSet
}

export interface CompiledLists {
  readonly always: CompiledRow
  /** Rows that do not apply to dependencies that a package manager installed. */
  readonly project: CompiledRow
  /** Directories on the way to what any row names. */
  readonly ways: PathSet
  readonly ephemeral: PathSet
  /** Null in lists of evaluators that asked about no dot path as such. */
  readonly harmless: PathSet | null
  readonly build: NameSet
}

const known = new WeakMap<GateLists, Map<string, CompiledLists>>()

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
  const group = (isProject: boolean): CompiledRow => {
    const rows = lists.deferred.filter(({ project = false }) => project === isProject)
    return {
      paths: read(rows.flatMap(({ patterns }) => patterns)),
      except: read(rows.flatMap(({ except = [] }) => except)),
    }
  }
  const all = lists.deferred.flatMap(({ patterns }) => absolutePatterns(patterns, homes))
  return {
    always: group(false),
    project: group(true),
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
