/**
 * Says which option of `writ exec` would include what a run changed outside its scope. A scope is a
 * directory, and never a whole home or a top-level directory.
 */
import { statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { SandboxResult } from '../../contracts/index.ts'
import { commandLine } from '../effects/operation-text.ts'

interface AdvisedRun {
  readonly cwd: string
  readonly scope: readonly string[]
  readonly home: string
  /** No option puts the scope of an agent outside the workspace. */
  readonly isPerson: boolean
}

const OUTSIDE: ReadonlySet<string> = new Set(['effect.left_out', 'effect.out_of_scope'])
const SCOPES_MAX = 3

/** Null where nothing lies outside, or no scope could hold it. */
export function scopeAdvice(findings: SandboxResult['findings'], run: AdvisedRun): string | null {
  const paths = findings.flatMap(({ code, path }) =>
    OUTSIDE.has(code) && path !== undefined ? [path] : [],
  )
  if (paths.length === 0) return null
  if (!run.isPerson) {
    return 'to include what lies outside the scope, a person adds a grant with `scope` to .writ/laws.yaml'
  }
  const closest = directoriesOf(paths, (path) => mayBeScope(path, run.home))
  const wanted = closest.length <= SCOPES_MAX ? closest : topsOf(closest, run.home)
  if (wanted.length === 0 || wanted.length > SCOPES_MAX) return null
  const scopes = [...run.scope, ...wanted].flatMap((path) => ['--scope', near(path, run.cwd)])
  const missing = wanted.filter((path) => !isDirectory(path)).map((path) => near(path, run.cwd))
  const make = missing.length === 0 ? '' : `${commandLine(['mkdir', '-p', ...missing])} && `
  return `to include what lies outside the scope: ${make}${commandLine(['writ', 'exec', ...scopes])} -- …`
}

/** The topmost paths, as the directories that hold them or that they are. */
function directoriesOf(
  paths: readonly string[],
  isUsable: (path: string) => boolean,
): readonly string[] {
  const isHolder = (path: string): boolean =>
    isDirectory(path) || paths.some((other) => other.startsWith(`${path}/`))
  const holders = paths.map((path) => (isHolder(path) ? path : dirname(path)))
  const all = [...new Set(holders)].filter(isUsable)
  return all.filter((path) => !all.some((other) => path !== other && path.startsWith(`${other}/`)))
}

/** The entries of the home, or the paths themselves outside it, that hold the paths. */
function topsOf(paths: readonly string[], home: string): readonly string[] {
  const topOf = (path: string): string => {
    const [name = ''] = relative(home, path).split('/')
    return name === '..' ? path : join(home, name)
  }
  return [...new Set(paths.map(topOf))]
}

function mayBeScope(path: string, home: string): boolean {
  return path !== home && path !== '/' && dirname(path) !== '/'
}

function near(path: string, cwd: string): string {
  const name = relative(cwd, path)
  if (name === '') return '.'
  return name.startsWith('../../') ? path : name
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
