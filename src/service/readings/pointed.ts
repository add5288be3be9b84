/**
 * Which changed paths configuration or a link points to (G-15a): what git takes from elsewhere, what a
 * link of a dot path, a hook or a manifest leads to, links on the way to a directory of the PATH, links
 * that lead out of the scope, entries through which other links then lead out of it, and bytecode whose
 * source did not change. Looks at the tree as it would be after a promotion; finds and decides nothing.
 * The answer is recorded with the decision.
 */
import { isAbsolute } from 'node:path'
import {
  type Change,
  type GateLists,
  isBelow,
  joinRaw,
  nameOfRaw,
  newFileDeferral,
  type PointedBy,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import { ChangedView } from './changed-view.ts'
import { GitForged } from './git-forged.ts'
import { GitPlanted } from './git-planted.ts'
import { GitReach } from './git-reach.ts'
import { beforePath } from './scripts.ts'
import type { TreeLinks } from './tree-links.ts'

interface PointedInput {
  readonly changes: readonly Change[]
  readonly layers: readonly Layer[]
  /** The caller's PATH, and where its relative entries begin. */
  readonly path: string | undefined
  readonly places: readonly string[]
  readonly homes: readonly string[]
  readonly lists: GateLists
  /** Real paths of the workspace, and of the directories that the act may change. */
  readonly trees: readonly [string, ...string[]]
  /** Real paths that an actor's links may lead to: the workspace and the roots; null for a person. */
  readonly scope: readonly string[] | null
  /** Real links that an earlier act of the same session made. */
  readonly links: readonly RawPath[]
  readonly treeLinks: TreeLinks
}

export interface Pointed {
  readonly pointed: ReadonlyMap<RawPath, PointedBy>
  /** Files that changed branches and indexes of git bring. */
  readonly brought: ReadonlyMap<RawPath, readonly RawPath[]>
}

export function findPointed(input: PointedInput): Pointed {
  const changes = input.changes.filter(({ after }) => after !== null && after.kind !== 'directory')
  const hasLinkLess = input.changes.some(({ before }) => before?.kind === 'symlink')
  if (changes.length === 0 && !hasLinkLess) return { pointed: new Map(), brought: new Map() }
  return new PointedSearch(input, changes).find()
}

/** Environments of Python by their usual names. */
const ENVIRONMENTS = ['.venv', 'venv', 'env'].map(rawOfText)

/** Directories of a home with one entry for each program. */
const SHELVES = ['.config', '.local', '.local/share'].map(rawOfText)
/** More than people have; a home with more is looked at in part. */
const HOME_ENTRIES_MAX = 3_000

/** Programs and libraries that no ordinary user changes. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib\w*|opt|nix|snap)(?:\/|$)|^\/dev\/(?:null|zero)$/

/** What a name in them leads to depends on the process that follows it. */
const OF_PROCESS = /^\/(?:proc|dev\/fd|dev\/std\w+)(?:\/|$)/
/** Files of git and of writ, which say what runs later. */
const GUARDED = /\/\.(?:git|writ)(?:\/|$)/

class PointedSearch {
  readonly #input: PointedInput
  readonly #view: ChangedView
  readonly #changed: readonly Change[]
  readonly #found = new Map<RawPath, PointedBy>()
  readonly #brought = new Map<RawPath, readonly RawPath[]>()
  #linksBefore: readonly RawPath[] | null = null

  constructor(input: PointedInput, changed: readonly Change[]) {
    this.#input = input
    this.#view = new ChangedView(input.changes, input.layers)
    this.#changed = changed
  }

  find(): Pointed {
    const directories = this.#directories()
    const git = new GitReach(this.#view, this.#input.homes.map(rawOfText))
    for (const directory of directories) {
      git.look(directory)
      this.#links(directory)
    }
    for (const { path, by, isTree } of git.found()) this.#mark(path, by, isTree)
    for (const home of this.#input.homes) this.#homeLinks(rawOfText(home))
    this.#treeLinks()
    this.#pathLinks()
    this.#outwardLinks()
    this.#plantedInGit()
    this.#forgedInGit()
    for (const { path } of this.#changed)
      if (this.#isLoadedUnasked(path)) this.#add(path, 'bytecode')
    return { pointed: this.#found, brought: this.#brought }
  }

  /** The directories above what changed, but none inside an installed dependency. */
  #directories(): ReadonlySet<RawPath> {
    const directories = new Set<RawPath>()
    for (const { path } of this.#changed) {
      const installed = path.indexOf('/node_modules/')
      // The beginning of a raw path.
      const start = installed < 0 ? path : (path.slice(0, installed + 1) as RawPath)
      for (let place = parentOfRaw(start); !directories.has(place); place = parentOfRaw(place)) {
        directories.add(place)
        if (place === '/') break
      }
    }
    return directories
  }

  /** What the dot links of a directory, its manifest and its interpreters lead to. */
  #links(directory: RawPath): void {
    if (this.#view.changes.get(directory)?.before === null) return
    const isWanted = (name: RawPath): boolean =>
      name === 'package.json' || (name.startsWith('.') && name !== '.git')
    for (const name of this.#view.names(directory, isWanted)) {
      this.#follow(joinRaw(directory, name))
    }
    for (const name of ENVIRONMENTS) {
      this.#follow(joinRaw(joinRaw(directory, name), rawOfText('bin/python')))
    }
  }

  /** What links in the directories where programs keep their settings lead to, two levels deep. */
  #homeLinks(home: RawPath): void {
    let left = HOME_ENTRIES_MAX
    for (const shelf of SHELVES) {
      for (const path of this.#entries(joinRaw(home, shelf))) {
        if (left-- <= 0) return
        this.#follow(path)
        if (this.#view.kind(path) !== 'directory') continue
        for (const inner of this.#entries(path)) if (left-- > 0) this.#follow(inner)
      }
    }
  }

  #entries(directory: RawPath): readonly RawPath[] {
    if (this.#view.kind(directory) !== 'directory') return []
    return this.#view.names(directory).map((name) => joinRaw(directory, name))
  }

  /** New links to places that are neither in the scope nor part of the system, or to files of git. */
  #outwardLinks(): void {
    if (this.#input.scope === null) return
    for (const { path, before, after } of this.#changed) {
      if (after?.kind !== 'symlink' || before?.target === after.target) continue
      const resolved = this.#view.resolve(path)
      if (this.#isOutward(resolved)) this.#add(path, 'leads_out')
      else if (GUARDED.test(resolved.path) && !GUARDED.test(path)) this.#add(path, 'leads_in')
    }
    this.#ledLinks()
  }

  #isOutward({ path, visited }: ReturnType<ChangedView['resolve']>): boolean {
    if (visited.some((step) => OF_PROCESS.test(step))) return true
    const roots = this.#input.scope?.map(rawOfText) ?? []
    const isInside = roots.some((root) => path === root || isBelow(path, root))
    return !isInside && !SYSTEM.test(path)
  }

  /** Changed entries through which a link that did not change then leads out of the scope. */
  #ledLinks(): void {
    const { changes, layers, links } = this.#input
    if (!changes.some(isOfLink)) return
    const then = new ChangedView([], layers)
    for (const link of new Set([...links, ...this.#realLinks()])) {
      if (this.#view.changes.has(link)) continue
      const resolved = this.#view.resolve(link)
      const steps = resolved.visited.filter((step) => this.#view.changes.has(step))
      const isGuarded = GUARDED.test(resolved.path) && !GUARDED.test(link)
      if (steps.length === 0 || !(isGuarded || this.#isOutward(resolved))) continue
      if (then.resolve(link).path === resolved.path) continue
      for (const step of steps) if (!this.#found.has(step)) this.#found.set(step, 'leads_link')
    }
  }

  /** Of the trees, as they were before the act. */
  #realLinks(): readonly RawPath[] {
    const { trees, layers, treeLinks } = this.#input
    const roots = [...new Set(trees.map(rawOfText))]
    this.#linksBefore ??= roots.flatMap((root) =>
      treeLinks.below(root, (path) => beforePath(path, layers)),
    )
    return this.#linksBefore
  }

  /** Branches and indexes that bring what no file of the tree shows. */
  #plantedInGit(): void {
    const planted = new GitPlanted(this.#view, this.#input.layers, this.#input.lists)
    for (const { path } of this.#changed) {
      const names = planted.brought(path)
      if (names === null) continue
      this.#brought.set(path, names)
      this.#add(path, 'git_content')
    }
  }

  /** Objects whose bytes are not what their names say, or that could not be checked. */
  #forgedInGit(): void {
    const forged = new GitForged(this.#view, this.#input.layers)
    for (const change of this.#changed) {
      const doubt = forged.of(change)
      if (doubt !== null) this.#add(change.path, doubt)
    }
  }

  /** What links lead to that would be asked about themselves, wherever they lie in the tree. */
  #treeLinks(): void {
    const { trees, lists } = this.#input
    const [workspace] = trees.map(rawOfText)
    if (workspace === undefined) return
    const follow = (link: RawPath): void => {
      if (newFileDeferral(lists, workspace, link, 'symlink')?.kind === 'ask') this.#follow(link)
    }
    for (const link of this.#realLinks()) follow(link)
    for (const { path, after } of this.#changed) if (after?.kind === 'symlink') follow(path)
  }

  /** Marks where a link leads, and the changed links on the way. */
  #follow(path: RawPath): void {
    if (this.#view.kind(path) !== 'symlink') return
    const { path: target, visited } = this.#view.resolve(path)
    for (const step of visited) if (step !== path) this.#mark(step, 'link', false)
    this.#mark(target, 'link', this.#view.kind(target) === 'directory')
  }

  #mark(path: RawPath, by: PointedBy, isTree: boolean): void {
    if (!isTree) {
      if (this.#view.changes.has(path)) this.#add(path, by)
      return
    }
    for (const change of this.#changed) {
      if (isBelow(change.path, path) && !change.path.endsWith('.sample')) this.#add(change.path, by)
    }
  }

  #add(path: RawPath, by: PointedBy): void {
    const change = this.#view.changes.get(path)
    if (change?.after == null || change.after.kind === 'directory') return
    if (!this.#found.has(path)) this.#found.set(path, by)
  }

  #pathLinks(): void {
    const { path = '', places } = this.#input
    for (const entry of path.split(':')) {
      const starts = isAbsolute(entry) ? [entry] : places.map((place) => `${place}/${entry}`)
      for (const start of starts) {
        for (const visited of this.#view.resolve(rawOfText(start)).visited) {
          if (this.#view.changes.has(visited)) this.#add(visited, 'path_link')
        }
      }
    }
  }

  /** Returns whether Python would load this bytecode although its source did not change. */
  #isLoadedUnasked(path: RawPath): boolean {
    const name = nameOfRaw(path)
    if (!name.endsWith('.pyc')) return false
    const directory = parentOfRaw(path)
    const isCached = nameOfRaw(directory) === '__pycache__'
    const stem = isCached ? name.slice(0, name.indexOf('.')) : name.slice(0, -'.pyc'.length)
    const home = isCached ? parentOfRaw(directory) : directory
    // A raw name with another ASCII ending.
    const source = this.#view.changes.get(joinRaw(home, `${stem}.py` as RawPath))
    return source?.after == null || this.#isUnchecked(path)
  }

  /** The header's second word says whether Python compares the source at all (PEP 552). */
  #isUnchecked(path: RawPath): boolean {
    const text = this.#view.read(path, BYTECODE_BYTES_MAX)
    if (text === null) return true
    return (text.charCodeAt(4) & 0b11) === 0b01
  }
}

/** Whether a link came, went or leads elsewhere. */
function isOfLink({ before, after }: Change): boolean {
  return before?.kind === 'symlink' || after?.kind === 'symlink'
}

const BYTECODE_BYTES_MAX = 16 * 1024 * 1024
