/**
 * Which changes act later (G-15a), and how. `ask`: other programs run or load the path by themselves.
 * These are files that configuration or a link points to, paths of the list, package.json files whose
 * scripts differ, executables in a directory of the PATH, and every dot path that is not harmless.
 * `note`: build configuration, which runs when a person builds or tests.
 *
 * A directory by itself does nothing, unless a link leads elsewhere through it. A symbolic link that replaces a directory on the way to a listed
 * path counts, because listed paths now lead through it.
 */
import type { GateLists } from '../data/lists.ts'
import { type CompiledLists, type CompiledRow, compiledLists } from '../data/lists.ts'
import type { Change, EntryState } from '../evidence/manifest.ts'
import { displayOfRaw, nameOfRaw, parentOfRaw, type RawPath, rawOfText } from '../paths/raw-path.ts'

interface DeferredInput {
  readonly lists: GateLists
  /** The actor's own homes. */
  readonly homes: readonly string[]
  /** Names above it are not the actor's to choose; absent where it is not known. */
  readonly workspace?: string
  readonly scriptsChanged: ReadonlySet<RawPath>
  readonly pathDirectories: readonly string[]
  /** Changed paths that configuration or a link points to. */
  readonly pointed: ReadonlyMap<RawPath, PointedBy>
}

/** What points to a path, in the words that a person is shown. */
export const POINTERS = {
  git_config: 'the configuration of git names it',
  git_directory: 'git takes its configuration or hooks from here',
  bare_repository: 'part of a bare repository, whose configuration git obeys',
  link: 'a link that other programs follow leads here',
  path_link: 'a directory of the PATH is found through it',
  leads_out: 'the link leads out of the scope',
  leads_in: 'the link leads to files of git or of writ',
  leads_link: 'through it another link leads out of the scope, or to files of git or of writ',
  bytecode: 'Python loads it in place of a source that did not change',
  git_content:
    'git would write files that run by themselves: `git diff HEAD --cached`, `git log -p` show them',
  git_forged:
    'its bytes are not what its name says, and git would write them in place of true ones',
  git_unchecked: 'git believes it in place of what it has, and writ could not check it',
} as const

export type PointedBy = keyof typeof POINTERS

/** How a change acts later; null when it does not. */
export type Deferral =
  | { readonly kind: 'ask'; readonly by: PointedBy | null }
  | { readonly kind: 'note' }
  | null

const EXECUTABLE = 0o111
const ASKED: Deferral = { kind: 'ask', by: null }

export class DeferredPaths {
  readonly #lists: CompiledLists
  readonly #scriptsChanged: ReadonlySet<RawPath>
  readonly #pathDirectories: ReadonlySet<RawPath>
  readonly #pointed: ReadonlyMap<RawPath, PointedBy>
  /** Longest first. */
  readonly #bases: readonly RawPath[]

  constructor(input: DeferredInput) {
    const { lists, homes, workspace, scriptsChanged, pathDirectories, pointed } = input
    this.#lists = compiledLists(lists, homes)
    this.#scriptsChanged = scriptsChanged
    this.#pathDirectories = new Set(pathDirectories.map(rawOfText))
    this.#pointed = pointed
    this.#bases = [...homes, ...(workspace === undefined ? [] : [workspace])]
      .map(rawOfText)
      .sort((one, other) => other.length - one.length)
  }

  /** Only what was added or changed: a deletion runs nothing. */
  of({ path, after }: Change): Deferral {
    if (after === null) return null
    const by = this.#pointed.get(path)
    if (by !== undefined) return { kind: 'ask', by }
    if (after.kind === 'directory') return null
    if (this.#isListed(path, after)) return ASKED
    if (isInstalled(path)) return null
    const text = displayOfRaw(path)
    if (this.#isDotPath(path, text)) return ASKED
    return this.#lists.build.has(displayOfRaw(nameOfRaw(path))) ? { kind: 'note' } : null
  }

  #isListed(path: RawPath, after: NonNullable<Change['after']>): boolean {
    if (this.#scriptsChanged.has(path) && nameOfRaw(path) === 'package.json') {
      if (!isInstalled(path)) return true
    }
    const isProgram = after.kind === 'symlink' || (after.mode & EXECUTABLE) !== 0
    if (isProgram && this.#pathDirectories.has(parentOfRaw(path))) return true
    const text = displayOfRaw(path)
    const { always, project, programs, ways } = this.#lists
    if (matches(always, text)) return true
    if (isInstalled(path)) return false
    if (after.kind === 'symlink' && ways.find(text) !== null) return true
    return matches(project, text) || (isProgram && matches(programs, text))
  }

  /** Whether a name below the workspace or the home begins with a dot, and the path is not harmless. */
  #isDotPath(path: RawPath, text: string): boolean {
    const { harmless } = this.#lists
    if (harmless === null) return false
    const base = this.#bases.find((one) => path.startsWith(`${one}/`)) ?? ''
    if (!path.slice(base.length).includes('/.')) return false
    return !isPackaged(path) && harmless.find(text) === null
  }
}

/** Returns how a new plain file or link of a workspace would act later; a manifest counts as one with scripts. */
export function newFileDeferral(
  lists: GateLists,
  workspace: RawPath,
  raw: RawPath,
  kind: 'file' | 'symlink' = 'file',
): Deferral {
  const paths = new DeferredPaths({
    lists,
    homes: [],
    workspace: displayOfRaw(workspace),
    scriptsChanged: new Set([raw]),
    pathDirectories: [],
    pointed: new Map(),
  })
  return paths.of({ path: raw, before: null, after: { ...PLAIN_FILE, kind } })
}

const PLAIN_FILE: EntryState = {
  kind: 'file',
  mode: 0o644,
  size: 0,
  digest: null,
  target: null,
  attributes: [],
  owner: null,
  mtimeNs: '0',
  linkGroup: null,
}

function matches({ paths, except }: CompiledRow, text: string): boolean {
  return paths.find(text) !== null && except.find(text) === null
}

/** A dependency that a package manager put there. */
function isInstalled(path: RawPath): boolean {
  return path.includes('/node_modules/')
}

/** The same for Python, where the rows still hold: a path file runs wherever it is. */
function isPackaged(path: RawPath): boolean {
  return path.includes('/site-packages/') || path.includes('/dist-packages/')
}
