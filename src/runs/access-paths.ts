/**
 * Access rules as paths that a sandbox can bind (F-5): what an actor may not read is hidden, what it
 * may not write is read-only, what it may not run is hidden as well, since there is no other way to
 * keep a file from being run.
 *
 * A pattern becomes the highest paths it covers: a plain path and everything below a folder are named
 * as they are, whether they exist yet or not; others are matched against the tree and against what
 * the stages below would add.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { matchesPath, parseGlob } from '../contracts/index.ts'
import type { FlowCommand } from '../flow/index.ts'
import { bannedCopies } from './files/banned-copies.ts'
import { runFolders } from './files/sealed-artifacts.ts'
import { ownPath } from './run-files.ts'

type AccessRules = Extract<FlowCommand, { type: 'run_participant' }>['access']

interface BoundPaths {
  /** Absolute. */
  readonly hidden: readonly string[]
  readonly readOnly: readonly string[]
}

/** `staged`: paths, relative to the workspace, that only the stages below have. */
export function boundPaths(
  workspace: string,
  rules: AccessRules,
  staged: readonly string[],
  artifacts: string,
): BoundPaths {
  const hidden = new Set<string>()
  const readOnly = new Set<string>()
  for (const { access_mode, access_allowed, resource_path } of rules) {
    if (access_allowed) continue
    const into = access_mode === 'write' ? readOnly : hidden
    for (const pattern of patternsOf(workspace, resource_path, artifacts)) {
      for (const path of covered(workspace, pattern, staged)) into.add(join(workspace, path))
    }
  }
  for (const path of bannedCopies(workspace, topmost(hidden))) hidden.add(path)
  return { hidden: topmost(hidden), readOnly: topmost(readOnly) }
}

/** A rule about `artifacts/NODE` is about that node's artifacts in this run and in those before. */
function patternsOf(workspace: string, pattern: string, artifacts: string): readonly string[] {
  const own = ownPath(pattern, artifacts)
  if (own === pattern) return [pattern]
  const below = own.slice(artifacts.length)
  const others = runFolders(workspace).filter((folder) => folder !== artifacts)
  return [pattern, own, ...others.map((folder) => `${folder}${below}`).filter(isThere(workspace))]
}

/** Patterns are matched later; a plain path of another run counts if it exists. */
function isThere(workspace: string): (pattern: string) => boolean {
  return (pattern) => {
    const plain = pattern.replace(/(?:\/\*\*)?\/*$/, '')
    return GLOB_MARKS.test(plain) || existsSync(join(workspace, plain))
  }
}

const GLOB_MARKS = /\*/

function covered(workspace: string, pattern: string, staged: readonly string[]): readonly string[] {
  const plain = pattern.replace(/\/+$/, '')
  if (!GLOB_MARKS.test(plain)) return [plain]
  const folder = plain.endsWith('/**') ? plain.slice(0, -3) : null
  if (folder !== null && !GLOB_MARKS.test(folder)) return [folder]
  if (plain === '**') return readdirSync(workspace).filter((name) => name !== '.writ')
  const glob = parseGlob(`/${plain}`)
  const fits = (path: string): boolean => glob === null || matchesPath(glob, `/${path}`)
  return [...matching(workspace, fits), ...staged.filter(fits)]
}

/** A tree that is larger cannot be bound path by path. */
const ENTRIES_MAX = 500_000

/** Links are named, not followed. */
function matching(workspace: string, fits: (path: string) => boolean): readonly string[] {
  const found: string[] = []
  const open = ['']
  let looked = 0
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of readdirSync(join(workspace, folder), { withFileTypes: true })) {
      if (++looked > ENTRIES_MAX) throw new RangeError('the workspace has too many files for a ban')
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (path === '.writ') continue
      if (fits(path)) found.push(path)
      else if (entry.isDirectory()) open.push(path)
    }
  }
  return found
}

/** What lies below another one of the list is bound with it. */
function topmost(paths: ReadonlySet<string>): readonly string[] {
  const kept: string[] = []
  for (const path of [...paths].sort()) {
    const last = kept.at(-1)
    if (last === undefined || !path.startsWith(`${last}/`)) kept.push(path)
  }
  return kept
}
