/**
 * The effects of a rehearsal in the order in which a person must see them: what is deleted, what will
 * run by itself later, what is changed, what is new. Every change is in at least one section; one
 * that replaces a file by a directory is in two.
 */
import type { SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  type EntryState,
  listsOf,
  parentOfRaw,
  type RawPath,
} from '../../gate/index.ts'

export type Finding = SandboxResult['findings'][number]

export interface Sections {
  readonly deleted: readonly Change[]
  /** Added or changed paths that other programs run or load by themselves (G-15a). */
  readonly deferred: readonly Change[]
  readonly changed: readonly Change[]
  /** Build configuration among the changed and the added; shown in those sections as well. */
  readonly builds: readonly Change[]
  readonly added: readonly AddedGroup[]
  /** Findings that are about no path that is shown. */
  readonly findings: readonly Finding[]
}

/** What is new in one directory: in one that was there, or in one that is new with all it holds. */
export interface AddedGroup {
  readonly directory: RawPath
  readonly isNew: boolean
  readonly changes: readonly Change[]
  readonly files: number
  readonly directories: number
  readonly links: number
  readonly bytes: number
}

const DEFERRED = 'effect.deferred_execution'
const BUILD = 'effect.build_execution'

export function sectionsOf(changes: readonly Change[], findings: readonly Finding[]): Sections {
  const deferredPaths = pathsOf(findings, DEFERRED)
  const buildPaths = pathsOf(findings, BUILD)
  const isDeferred = (change: Change): boolean =>
    change.after !== null && deferredPaths.has(displayOfRaw(change.path))
  const inList = (name: ReturnType<typeof listsOf>[number]): readonly Change[] =>
    changes.filter((change) => listsOf(change).includes(name))
  return {
    deleted: inList('deleted'),
    deferred: changes.filter(isDeferred),
    changed: inList('modified').filter((change) => !isDeferred(change)),
    builds: changes.filter(({ path }) => buildPaths.has(displayOfRaw(path))),
    added: groupsOf(inList('added').filter((change) => !isDeferred(change))),
    findings: findings.filter(({ code }) => code !== DEFERRED && code !== BUILD),
  }
}

function pathsOf(findings: readonly Finding[], wanted: string): ReadonlySet<string> {
  return new Set(
    findings.flatMap(({ code, path }) => (code === wanted && path !== undefined ? [path] : [])),
  )
}

interface GroupBuilder {
  readonly isNew: boolean
  readonly changes: Change[]
}

/** Changes come sorted by path, so a new directory stands before everything in it. */
function groupsOf(added: readonly Change[]): readonly AddedGroup[] {
  const topOf = new Map<RawPath, RawPath>()
  const groups = new Map<RawPath, GroupBuilder>()
  for (const change of added) {
    const isDirectory = change.after?.kind === 'directory'
    const parent = parentOfRaw(change.path)
    const top = topOf.get(parent) ?? (isDirectory ? change.path : null)
    if (isDirectory && top !== null) topOf.set(change.path, top)
    const directory = top ?? parent
    const group = groups.get(directory) ?? { isNew: top !== null, changes: [] }
    groups.set(directory, group)
    if (change.path !== top) group.changes.push(change)
  }
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([directory, { isNew, changes }]) => ({ directory, isNew, changes, ...tally(changes) }))
}

function tally(changes: readonly Change[]) {
  const count = (kind: EntryState['kind']): number =>
    changes.reduce((sum, { after }) => (after?.kind === kind ? sum + 1 : sum), 0)
  return {
    files: count('file'),
    directories: count('directory'),
    links: count('symlink'),
    bytes: changes.reduce((sum, { after }) => sum + (after?.size ?? 0), 0),
  }
}
