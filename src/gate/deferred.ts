/**
 * Which changes act later (G-15a): paths of the list, package.json files whose scripts differ, and
 * executables in a directory of the PATH. Directories as such do nothing; a symbolic link in the
 * place of a directory on the way to a listed path brings whatever it leads to.
 */
import { parseGlob } from '../contracts/index.ts'
import type { Change } from './change.ts'
import { absolutePatterns, type GateLists } from './lists.ts'
import { PathSet, UNBOUNDED } from './path-set.ts'
import { displayOfRaw, nameOfRaw, parentOfRaw, type RawPath, rawOfText } from './raw-path.ts'

export interface DeferredInput {
  readonly lists: GateLists
  /** The actor's own homes. */
  readonly homes: readonly string[]
  readonly scriptsChanged: ReadonlySet<RawPath>
  readonly pathDirectories: readonly string[]
}

interface CompiledRow {
  readonly paths: PathSet
  readonly except: PathSet
}

const EXECUTABLE = 0o111

export class DeferredPaths {
  readonly #always: CompiledRow
  readonly #project: CompiledRow
  readonly #ways: PathSet
  readonly #scriptsChanged: ReadonlySet<RawPath>
  readonly #pathDirectories: ReadonlySet<RawPath>

  constructor(input: DeferredInput) {
    const { lists, homes, scriptsChanged, pathDirectories } = input
    const compile = (patterns: readonly string[]): PathSet =>
      new PathSet(absolutePatterns(patterns, homes), UNBOUNDED)
    const group = (isProject: boolean): CompiledRow => {
      const rows = lists.deferred.filter(({ project = false }) => project === isProject)
      return {
        paths: compile(rows.flatMap(({ patterns }) => patterns)),
        except: compile(rows.flatMap(({ except = [] }) => except)),
      }
    }
    this.#always = group(false)
    this.#project = group(true)
    const all = lists.deferred.flatMap(({ patterns }) => absolutePatterns(patterns, homes))
    this.#ways = new PathSet([...new Set(all.flatMap(waysTo))], UNBOUNDED)
    this.#scriptsChanged = scriptsChanged
    this.#pathDirectories = new Set(pathDirectories.map(rawOfText))
  }

  /** Only what was added or changed: a deletion runs nothing. */
  has({ path, after }: Change): boolean {
    if (after === null || after.kind === 'directory') return false
    if (this.#scriptsChanged.has(path) && nameOfRaw(path) === 'package.json') {
      if (!isInstalled(path)) return true
    }
    const isProgram = after.kind === 'symlink' || (after.mode & EXECUTABLE) !== 0
    if (isProgram && this.#pathDirectories.has(parentOfRaw(path))) return true
    const text = displayOfRaw(path)
    if (matches(this.#always, text)) return true
    if (isInstalled(path)) return false
    if (after.kind === 'symlink' && this.#ways.find(text) !== null) return true
    return matches(this.#project, text)
  }
}

function matches({ paths, except }: CompiledRow, text: string): boolean {
  return paths.find(text) !== null && except.find(text) === null
}

/** A dependency that a package manager put there. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/')
}

/** The directories on the way to what a pattern matches, as globs; the outermost are left out. */
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
