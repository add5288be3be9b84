/**
 * Which changes cannot be divided (S-3, N-4): the changes of one `.git` directory, the two names of a
 * rename, hard links, a manifest with its lock file, a database with its journals. `takenPart` is what a
 * person takes of an act, with all that belongs to it.
 */
import type { Change } from '../evidence/manifest.ts'
import { PathSet, UNBOUNDED } from '../paths/path-set.ts'
import { displayOfRaw, nameOfRaw, parentOfRaw, type RawPath } from '../paths/raw-path.ts'

const GIT = '/.git/'

/** A manifest and the files that a package manager writes together with it, by their names. */
const TOGETHER: readonly (readonly string[])[] = [
  [
    'package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    'yarn.lock',
    'pnpm-lock.yaml',
    'bun.lock',
    'bun.lockb',
  ],
  ['Cargo.toml', 'Cargo.lock'],
  ['go.mod', 'go.sum'],
  ['pyproject.toml', 'poetry.lock', 'uv.lock', 'pdm.lock'],
  ['Pipfile', 'Pipfile.lock'],
  ['Gemfile', 'Gemfile.lock'],
  ['composer.json', 'composer.lock'],
]

/** What a person takes of an act, by paths and globs; a path covers everything below it. */
export interface TakenPart {
  readonly taken: ReadonlySet<RawPath>
  /** Those of the paths and globs that match no change. */
  readonly unmatched: readonly string[]
}

/**
 * Returns the changes that `only` names, with all that cannot be divided from them: their groups, the
 * new directories that they lie in, and the deletions that the deletion of a directory needs.
 */
export function takenPart(changes: readonly Change[], only: readonly string[]): TakenPart {
  const named = only.map((pattern) => new PathSet([pattern, belowOf(pattern)], UNBOUNDED))
  const matched = new Set<number>()
  const chosen: RawPath[] = []
  for (const { path } of changes) {
    const text = displayOfRaw(path)
    const found = named.flatMap((set, at) => (set.find(text) === null ? [] : [at]))
    for (const at of found) matched.add(at)
    if (found.length > 0) chosen.push(path)
  }
  const unmatched = only.filter((_, at) => !matched.has(at))
  return { taken: withNeeded(changes, chosen), unmatched }
}

function belowOf(pattern: string): string {
  return pattern === '/' ? '/**' : `${pattern}/**`
}

function withNeeded(changes: readonly Change[], chosen: readonly RawPath[]): ReadonlySet<RawPath> {
  const groups = new ChangeGroups(changes)
  const members = new Map<RawPath, Change[]>()
  for (const change of changes) {
    const leader = groups.leaderOf(change.path)
    const known = members.get(leader)
    if (known === undefined) members.set(leader, [change])
    else known.push(change)
  }
  const needs = neededPaths(changes)
  const taken = new Set<RawPath>()
  const open = [...chosen]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (taken.has(path)) continue
    for (const member of members.get(groups.leaderOf(path)) ?? []) {
      taken.add(member.path)
      open.push(...(needs.get(member.path) ?? []))
    }
  }
  return taken
}

/** The changes without which a change cannot be made: of its new directory, or of what a gone one held. */
function neededPaths(changes: readonly Change[]): ReadonlyMap<RawPath, readonly RawPath[]> {
  const byPath = new Map(changes.map((change) => [change.path, change]))
  const needs = new Map<RawPath, RawPath[]>()
  const add = (path: RawPath, needed: RawPath): void => {
    const known = needs.get(path)
    if (known === undefined) needs.set(path, [needed])
    else known.push(needed)
  }
  for (const { path, before, after } of changes) {
    const parent = byPath.get(parentOfRaw(path))
    if (parent === undefined) continue
    if (after !== null && parent.before?.kind !== 'directory') add(path, parent.path)
    if (before !== null && parent.after?.kind !== 'directory') add(parent.path, path)
  }
  return needs
}

/** Groups of changes that belong together, as sets that are joined step by step. */
export class ChangeGroups {
  readonly #leaders = new Map<RawPath, RawPath>()

  constructor(changes: readonly Change[]) {
    for (const { path } of changes) this.#leaders.set(path, path)
    this.#joinBy(changes, ({ path }) => gitDirectoryOf(path))
    this.#joinBy(changes, linkOf)
    this.#joinBy(changes, manifestOf)
    this.#joinBy(changes, databaseOf)
    this.#joinRenames(changes)
  }

  has(path: RawPath): boolean {
    return this.#leaders.has(path)
  }

  /** Names the group of a path. */
  leaderOf(path: RawPath): RawPath {
    let at = path
    for (let next = this.#leaders.get(at); next !== undefined && next !== at; ) {
      this.#leaders.set(path, next)
      at = next
      next = this.#leaders.get(at)
    }
    return at
  }

  #join(one: RawPath, other: RawPath): void {
    const [leader, joined] = [this.leaderOf(one), this.leaderOf(other)]
    if (leader !== joined) this.#leaders.set(joined, leader)
  }

  #joinBy(changes: readonly Change[], keyOf: (change: Change) => string | null): void {
    const first = new Map<string, RawPath>()
    for (const change of changes) {
      const key = keyOf(change)
      if (key === null) continue
      const known = first.get(key)
      if (known === undefined) first.set(key, change.path)
      else this.#join(known, change.path)
    }
  }

  /** A file that is gone and one that is new with the same bytes are the two names of a rename. */
  #joinRenames(changes: readonly Change[]): void {
    const gone = new Map<string, RawPath>()
    for (const { path, before, after } of changes) {
      if (after === null && hasBytes(before)) gone.set(before.digest, path)
    }
    for (const { path, before, after } of changes) {
      const from = before === null && hasBytes(after) ? gone.get(after.digest) : undefined
      if (from !== undefined) this.#join(from, path)
    }
  }
}

function hasBytes(
  state: Change['after'],
): state is NonNullable<Change['after']> & { digest: string } {
  return state?.kind === 'file' && state.size > 0 && state.digest !== null
}

function gitDirectoryOf(path: RawPath): string | null {
  const end = path.indexOf(GIT)
  if (end !== -1) return path.slice(0, end + GIT.length)
  return nameOfRaw(path) === '.git' ? `${path}/` : null
}

function linkOf({ before, after }: Change): string | null {
  const group = after?.linkGroup ?? before?.linkGroup ?? null
  return group === null ? null : `link ${group}`
}

function manifestOf({ path }: Change): string | null {
  const name = displayOfRaw(nameOfRaw(path))
  const row = TOGETHER.findIndex((names) => names.includes(name))
  return row === -1 ? null : `${row} ${parentOfRaw(path)}`
}

/** SQLite writes these next to a database; without them its file may be half a transaction. */
const JOURNAL = /-(?:wal|shm|journal)$/

function databaseOf({ path }: Change): string {
  return path.replace(JOURNAL, '')
}
