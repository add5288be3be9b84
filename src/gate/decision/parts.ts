/**
 * What a session changed, in parts that are decided on their own (S-3): what needs no human, what a
 * human is asked about, and what is blocked. What belongs together stays together: the changes of one
 * `.git` directory, the two names of a rename, hard links, a manifest with its lock file, a database with
 * its journals, a directory with what its creation or deletion needs.
 *
 * INVARIANT (worst decides): every part holds whole groups, and a group lies in the part of its worst
 *   change.
 */
import type { SandboxResult } from '../../contracts/index.ts'
import { ChangeGroups } from '../comparison/groups.ts'
import type { Change } from '../evidence/manifest.ts'
import { displayOfRaw, parentOfRaw, type RawPath } from '../paths/raw-path.ts'
import { findingWeight } from './reasons.ts'

export type PartKind = 'granted' | 'asked' | 'blocked'

type Finding = SandboxResult['findings'][number]

const RANK: Readonly<Record<PartKind, number>> = { granted: 0, asked: 1, blocked: 2 }
const KIND_OF = { note: 'granted', confirm: 'asked', block: 'blocked' } as const

/**
 * Splits changes, which are sorted by raw path, by the findings about them. A finding that names none
 * of the changes, such as a bound that all of them together pass, counts for all of them.
 */
export function pendingParts(
  changes: readonly Change[],
  findings: readonly Finding[],
): Readonly<Record<PartKind, readonly Change[]>> {
  const groups = new MarkedGroups(changes)
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

/** The groups of changes, each with the worst kind that was marked. */
class MarkedGroups {
  readonly #groups: ChangeGroups
  readonly #kinds = new Map<RawPath, PartKind>()

  constructor(changes: readonly Change[]) {
    this.#groups = new ChangeGroups(changes)
  }

  mark(path: RawPath, kind: PartKind): void {
    const leader = this.#groups.leaderOf(path)
    this.#kinds.set(leader, worse(this.#kinds.get(leader) ?? 'granted', kind))
  }

  kindOf(path: RawPath): PartKind {
    return this.#kinds.get(this.#groups.leaderOf(path)) ?? 'granted'
  }

  /**
   * A new entry waits for the new directory that it lies in, and the deletion of a directory for that
   * of all it held. Marks spread until none changes: each round makes at least one group worse.
   */
  spread(changes: readonly Change[]): void {
    const needs = changes.flatMap((change) => neededBy(change, this.#groups))
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
  changed: ChangeGroups,
): readonly (readonly [RawPath, RawPath])[] {
  const parent = parentOfRaw(path)
  if (!changed.has(parent)) return []
  const [down, up] = [[path, parent] as const, [parent, path] as const]
  return [...(after === null ? [] : [down]), ...(before === null ? [] : [up])]
}
