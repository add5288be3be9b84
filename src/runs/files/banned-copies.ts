/**
 * Other places with the content of files that an actor may not read (F-5): the object stores of version
 * control, which keep every committed version, and second names of the same file.
 *
 * The rule: an actor with any ban on reading sees no object store of a repository that the workspace
 * lies in or holds, and no second hard link of a banned file. A hard link outside the workspace cannot be
 * searched for, so a ban on such a file is refused before the actor runs.
 */
import { type Dirent, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { type FaultError, faultError, showPath } from '../../base/index.ts'
import { quote } from '../../machine/index.ts'

/** Of a repository that is no git one, the directory with the contents. */
const STORES: readonly (readonly [string, string])[] = [
  ['.hg', 'store'],
  ['.svn', 'pristine'],
  ['.jj', 'repo/store'],
  ['.bzr', 'repository'],
  ['_darcs', ''],
]

/** A larger tree cannot be searched for every attempt. */
const ENTRIES_MAX = 500_000

/** Absolute paths to hide besides those that are banned; `hidden` are absolute and in the workspace. */
export function bannedCopies(workspace: string, hidden: readonly string[]): readonly string[] {
  if (hidden.length === 0) return []
  const linked = linkedFiles(hidden)
  const found = new Set<string>()
  for (let up = dirname(workspace); ; up = dirname(up)) {
    for (const store of storesIn(up)) found.add(store)
    if (up === dirname(up)) break
  }
  const names = new Map<string, number>()
  for (const { path, entry } of entriesBelow(workspace)) {
    if (entry.isDirectory()) for (const store of storesIn(path)) found.add(store)
    const known = entry.isFile() ? linked.get(identity(lstatSync(path))) : undefined
    if (known === undefined) continue
    names.set(known.path, (names.get(known.path) ?? 0) + 1)
    found.add(path)
  }
  for (const store of storesIn(workspace)) found.add(store)
  for (const { path, count } of linked.values())
    if ((names.get(path) ?? 0) < count) throw linkedElsewhere(path)
  return [...found]
}

interface LinkedFile {
  readonly path: string
  readonly count: number
}

/** Banned files with more than one name, by identity. */
function linkedFiles(hidden: readonly string[]): ReadonlyMap<string, LinkedFile> {
  const found = new Map<string, LinkedFile>()
  const look = (path: string, stats: Stats): void => {
    if (stats.isFile() && stats.nlink > 1) found.set(identity(stats), { path, count: stats.nlink })
  }
  for (const path of hidden) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    look(path, stats)
    if (!stats.isDirectory()) continue
    for (const { path: below, entry } of entriesBelow(path))
      if (entry.isFile()) look(below, lstatSync(below))
  }
  return found
}

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

function* entriesBelow(
  root: string,
): Generator<{ readonly path: string; readonly entry: Dirent }, void> {
  const open = [root]
  let looked = 0
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (++looked > ENTRIES_MAX) throw new RangeError('the workspace has too many files for a ban')
      const path = join(folder, entry.name)
      yield { path, entry }
      if (entry.isDirectory()) open.push(path)
    }
  }
}

/** Object stores of the repository that a directory is the working tree of, or that it is itself. */
function storesIn(directory: string): readonly string[] {
  const others = STORES.map(([name, store]) => join(directory, name, store)).filter(isThere)
  const git = join(directory, '.git')
  const stats = lstatSync(git, { throwIfNoEntry: false })
  const isBare = ['objects', 'refs', 'HEAD'].every((name) => isThere(join(directory, name)))
  return [
    ...others,
    ...(stats?.isDirectory() === true ? gitStores(git) : []),
    ...(stats?.isFile() === true ? linkedStores(git, directory) : []),
    ...(isBare ? gitStores(directory) : []),
  ]
}

/** `.git` of a worktree or a submodule is a file that says where the repository is. */
function linkedStores(file: string, directory: string): readonly string[] {
  const named = /^gitdir:\s*(.+)$/m.exec(textOf(file))?.[1]?.trim()
  return named === undefined ? [] : gitStores(resolve(directory, named))
}

function gitStores(repository: string): readonly string[] {
  const common = textOf(join(repository, 'commondir')).trim()
  const own = common === '' ? [repository] : [repository, resolve(repository, common)]
  return own.flatMap((place) => {
    const objects = join(place, 'objects')
    const lent = textOf(join(objects, 'info', 'alternates'))
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => (isAbsolute(line) ? line : resolve(objects, line)))
    const stores = ['objects', 'modules', 'lfs', 'annex'].map((name) => join(place, name))
    return [...stores, ...lent].filter(isThere)
  })
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Empty when there is no such file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function linkedElsewhere(path: string): FaultError {
  const message = `${showPath(path)}, which an actor may not read, has another name outside the workspace, by which it could be read`
  const copy = quote(`${path}.copy`)
  const hint = `make it a file of its own: cp -p ${quote(path)} ${copy} && mv ${copy} ${quote(path)}; then \`writ flow resume\``
  return faultError('flow.access_unenforceable', path, message, hint)
}
