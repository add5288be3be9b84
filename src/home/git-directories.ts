/**
 * The directories of git that belong to a working tree and lie outside it: of a linked worktree the
 * common directory of its repository, of a submodule its place below the `.git` of the repository
 * that holds it.
 *
 * INVARIANT (both sides agree): a `.git` file is written by anybody who may write the working tree. A
 *   directory counts only if it is a repository and names this working tree itself.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const FILE_BYTES_MAX = 64 * 1024

/** Real paths, none of them inside `top`; empty for a tree whose `.git` is a directory. */
export function gitDirectoriesOf(top: string): readonly string[] {
  try {
    const file = join(top, '.git')
    if (!statSync(file).isFile()) return []
    const named = /^gitdir: (.+)$/m.exec(readSmall(file))?.[1]
    if (named === undefined) return []
    const own = realpathSync(resolve(top, named))
    const common = commonDirectory(own)
    const isAgreed = common === own ? isModuleOf(own, top) : isWorktreeOf(own, file)
    const isOutside = !`${common}/`.startsWith(`${realpathSync(top)}/`)
    return isAgreed && isOutside && isRepository(common) ? [common] : []
  } catch {
    // A repository that cannot be read does not count as one of this tree.
    return []
  }
}

function commonDirectory(own: string): string {
  const file = join(own, 'commondir')
  return existsSync(file) ? realpathSync(resolve(own, readSmall(file).trim())) : own
}

/** The repository keeps the place of each linked worktree's `.git` file. */
function isWorktreeOf(own: string, file: string): boolean {
  const back = resolve(own, readSmall(join(own, 'gitdir')).trim())
  return realpathSync(back) === realpathSync(file)
}

/** A module's configuration names its working tree. */
function isModuleOf(own: string, top: string): boolean {
  const named = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readSmall(join(own, 'config')))?.[1]
  return named !== undefined && realpathSync(resolve(own, named)) === realpathSync(top)
}

function isRepository(directory: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(directory, name)))
}

function readSmall(file: string): string {
  const found = statSync(file)
  if (!found.isFile() || found.size > FILE_BYTES_MAX) throw new Error('not a small file')
  return readFileSync(file, 'utf8')
}

/** The nearest directory upwards that holds `.git`; null when there is none. */
export function gitTop(from: string): string | null {
  for (let directory = from; ; directory = dirname(directory)) {
    if (existsSync(join(directory, '.git'))) return directory
    if (directory === dirname(directory)) return null
  }
}

/**
 * The directories of git that belong to a workspace and lie outside it: of the working tree that it is,
 * or of the one that it is a part of.
 */
export function workspacePlaces(workspace: string): readonly string[] {
  const top = gitTop(workspace)
  if (top === null) return []
  const apart = gitDirectoriesOf(top)
  if (top === workspace || apart.length > 0) return apart
  const own = join(top, '.git')
  return statSync(own).isDirectory() && isRepository(own) ? [realpathSync(own)] : []
}
