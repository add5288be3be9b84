/**
 * What `writ exec` may change: the directories that `--scope` names, else the top of the git working
 * tree around the current directory with the directories of git that belong to it, else the current
 * directory.
 *
 * A whole home, `/` or a directory directly below it is never a scope; the refusal says how to name
 * a smaller one.
 */
import { realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import { gitDirectoriesOf, gitTop, workspacePlaces } from '../../home/index.ts'
import { commandLine } from '../../words/index.ts'
import { usageError } from '../call/command.ts'
import { reasonOf, unreadable } from '../call/source.ts'

interface Place {
  readonly cwd: string
  readonly home: string
  /** What the home of writ is for: the usual scope goes no further. */
  readonly workspace: string
}

/** Real paths, each once; what lies inside another one is left out. */
export function execScope(named: readonly string[], place: Place): readonly [string, ...string[]] {
  const wanted = named.length === 0 ? usualScope(place) : named
  const roots = [...new Set(wanted.map((name) => realDirectory(resolve(place.cwd, name))))]
  for (const root of roots) refuseLarge(root, place.home, named.length > 0)
  const outer = roots.filter((root) => !roots.some((other) => isInside(root, other)))
  if (!outer.some((root) => root === place.cwd || isInside(place.cwd, root))) {
    const message = `the current directory ${showName(place.cwd)} lies outside the scope`
    const hint = 'go into the scope, or add `--scope .`'
    throw faultError('descriptor.operation_scope', '', message, hint)
  }
  const [first = place.cwd, ...rest] = outer
  return [first, ...rest]
}

/** A working tree with what git keeps of it elsewhere; the workspace where that is a part of it. */
function usualScope({ cwd, workspace }: Place): readonly string[] {
  const top = gitTop(cwd)
  if (top === null) return [cwd]
  if (isInside(workspace, top)) return [workspace, ...workspacePlaces(workspace)]
  return [top, ...gitDirectoriesOf(top)]
}

function realDirectory(path: string): string {
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch (thrown) {
    const code = reasonOf(thrown)
    if (code !== 'ENOENT') throw new FaultError(unreadable(path, thrown))
    const message = `the scope ${showName(path)} is not there`
    const hint = `make it first: ${commandLine(['mkdir', '-p', path])}`
    const details = { file: path, reason: code }
    throw new FaultError(fault('cli.file_unreadable', path, details, { message, hint }))
  }
  const message = `${showName(path)} is not a directory`
  throw usageError(message, '--scope names directories')
}

function refuseLarge(root: string, home: string, isNamed: boolean): void {
  const what =
    root === '/'
      ? 'the whole machine'
      : dirname(root) === '/'
        ? 'a top-level directory'
        : root === realOrSame(home)
          ? 'a whole home'
          : null
  if (what === null) return
  const message = `${showName(root)} is ${what}, which is never a scope`
  const hint = isNamed
    ? 'name a directory of the project with `--scope DIR`'
    : 'go into a project, or name a directory with `--scope DIR`'
  throw faultError('descriptor.scope_implicit', '', message, hint)
}

export function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isInside(path: string, directory: string): boolean {
  return path.startsWith(directory === '/' ? '/' : `${directory}/`) && path !== directory
}

/**
 * A glob of `--write` or `--delete`, absolute. A directory means everything in it, as it does
 * everywhere else on a command line.
 */
export function absoluteGlob(glob: string, cwd: string): string {
  const path = isAbsolute(glob) ? resolve(glob) : resolve(cwd, glob)
  return glob.endsWith('/') || isDirectory(path) ? `${path}/**` : path
}

/**
 * The globs of `--write` or `--delete`, absolute. One that covers the working tree covers the
 * directories of git that belong to it as well, as the scope does.
 */
export function absoluteGlobs(globs: readonly string[], cwd: string): readonly string[] {
  const named = globs.map((glob) => absoluteGlob(glob, cwd))
  const top = gitTop(cwd)
  const isWhole =
    top !== null &&
    named.some((glob) => `${top}/`.startsWith(glob.slice(0, -2)) && glob.endsWith('/**'))
  if (!isWhole) return named
  return [...new Set([...named, ...gitDirectoriesOf(top).map((place) => `${place}/**`)])]
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
