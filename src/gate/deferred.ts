/**
 * Which changes act later (G-15a): paths of the list, package.json files whose scripts differ, and
 * executables in a directory of the PATH. Directories as such do nothing; a symbolic link in the
 * place of a directory on the way to a listed path brings whatever it leads to.
 */
import type { Change } from './change.ts'
import { type CompiledLists, type CompiledRow, compiledLists } from './compiled-lists.ts'
import type { GateLists } from './lists.ts'
import { displayOfRaw, nameOfRaw, parentOfRaw, type RawPath, rawOfText } from './raw-path.ts'

export interface DeferredInput {
  readonly lists: GateLists
  /** The actor's own homes. */
  readonly homes: readonly string[]
  readonly scriptsChanged: ReadonlySet<RawPath>
  readonly pathDirectories: readonly string[]
}

const EXECUTABLE = 0o111

export class DeferredPaths {
  readonly #lists: CompiledLists
  readonly #scriptsChanged: ReadonlySet<RawPath>
  readonly #pathDirectories: ReadonlySet<RawPath>

  constructor(input: DeferredInput) {
    const { lists, homes, scriptsChanged, pathDirectories } = input
    this.#lists = compiledLists(lists, homes)
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
    const { always, project, ways } = this.#lists
    if (matches(always, text)) return true
    if (isInstalled(path)) return false
    if (after.kind === 'symlink' && ways.find(text) !== null) return true
    return matches(project, text)
  }
}

function matches({ paths, except }: CompiledRow, text: string): boolean {
  return paths.find(text) !== null && except.find(text) === null
}

/** A dependency that a package manager put there. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/')
}
