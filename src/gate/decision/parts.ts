/**
 * What a session changed, in parts that are decided on their own (S-3): what needs no human, what a
 * human is asked about, and what is blocked. What belongs together stays together: the changes of one
 * `.git` directory, the two names of a rename, hard links, a manifest with its lock file, a directory with
 * what its creation or deletion needs.
 *
 * INVARIANT (worst decides): every part holds whole groups, and a group lies in the part of its worst
 *   change.
 */
import type { SandboxResult } from '../../contracts/index.ts'
import type { Change } from '../evidence/manifest.ts'
import { displayOfRaw, nameOfRaw, parentOfRaw, type RawPath } from '../paths/raw-path.ts'
import { findingWeight } from './reasons.ts'

export type PartKind = 'granted' | 'asked' | 'blocked'

type Finding = SandboxResult['findings'][number]

const RANK: Readonly<Record<PartKind, number>> = { granted: 0, asked: 1, blocked: 2 }
const KIND_OF = { note: 'granted', confirm: 'asked', block: 'blocked' } as const
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

/**
 * Splits changes, which are sorted by raw path, by the findings about them. A finding that names none
 * of the changes, such as a bound that all of them together pass, counts for all of them.
 */
export function pendingParts(
  changes: readonly Change[],
  findings: readonly Finding[],
): Readonly<Record<PartKind, readonly Change[]>> {
  const groups = new Groups(changes)
  const byText = new Map(changes.map(({ path }) => [displayOfRaw(path), path]))
  let floor: PartKind = 'granted'
  for (const { code, path } of findings) {
    const kind = KIND_OF[findingWeight(code)]
    const found = byText.get(path ?? '')
    if (found !== undefined) groups.mark(found, kind)
    else floor = worse(floor, kind)
  }
  groups.spread(changes)
  const parts: Record<PartKind, Change[]> = { granted: [], asked: [], blocked: [] }
  for (const change of changes) parts[worse(groups.kindOf(change.path), floor)].push(change)
  return parts
}

function worse(one: PartKind, other: PartKind): PartKind {
  return RANK[one] >= RANK[other] ? one : other
}

/** Groups of changes that are decided together, as sets that are joined step by step. */
class Groups {
  readonly #leaders = new Map<RawPath, RawPath>()
  readonly #kinds = new Map<RawPath, PartKind>()

  constructor(changes: readonly Change[]) {
    for (const { path } of changes) this.#leaders.set(path, path)
    this.#joinBy(changes, ({ path }) => gitDirectoryOf(path))
    this.#joinBy(changes, linkOf)
    this.#joinBy(changes, manifestOf)
    this.#joinRenames(changes)
  }

  mark(path: RawPath, kind: PartKind): void {
    const leader = this.#leader(path)
    this.#kinds.set(leader, worse(this.#kinds.get(leader) ?? 'granted', kind))
  }

  kindOf(path: RawPath): PartKind {
    return this.#kinds.get(this.#leader(path)) ?? 'granted'
  }

  #leader(path: RawPath): RawPath {
    let at = path
    for (let next = this.#leaders.get(at); next !== undefined && next !== at; ) {
      this.#leaders.set(path, next)
      at = next
      next = this.#leaders.get(at)
    }
    return at
  }

  #join(one: RawPath, other: RawPath): void {
    const [leader, joined] = [this.#leader(one), this.#leader(other)]
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

  /**
   * A new entry waits for the new directory that it lies in, and the deletion of a directory for that
   * of all it held. Marks spread until none changes: each round makes at least one group worse.
   */
  spread(changes: readonly Change[]): void {
    const needs = changes.flatMap((change) => neededBy(change, this.#leaders))
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const [path, needed] of needs) {
        const kind = this.kindOf(needed)
        if (RANK[kind] <= RANK[this.kindOf(path)]) continue
        this.mark(path, kind)
        isChanged = true
      }
    }
  }
}

/** Pairs of a path and another that must be in place first. */
function neededBy(
  { path, before, after }: Change,
  changed: ReadonlyMap<RawPath, RawPath>,
): readonly (readonly [RawPath, RawPath])[] {
  const parent = parentOfRaw(path)
  if (!changed.has(parent)) return []
  const [down, up] = [[path, parent] as const, [parent, path] as const]
  return [...(after === null ? [] : [down]), ...(before === null ? [] : [up])]
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
