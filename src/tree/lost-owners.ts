/**
 * Restores owners that a sandbox of one user does not know. The group of a foreign file cannot be kept
 * there: programs copy or replace the file, and the new one has this user's own group. Outside, this
 * user may give their files to each of their groups, so the promotion restores the group (G-13a). Where
 * only root could, a finding asks a person.
 *
 * A moved file is recognised by what a move keeps: kind, mode, content and time. A copy with the time of
 * its original keeps the group as well, so copies and moves are treated alike.
 */
import { type Change, type EntryState, nameOfRaw, type RawPath } from '../gate/index.ts'
import { mayMapOwners } from '../sandbox/index.ts'
import type { TreeFindings } from './findings.ts'
import type { Pair } from './layer-walk.ts'

type Owner = NonNullable<EntryState['owner']>

/** Whom this process is, and to which groups it may give what it owns. */
export interface OwnIds {
  readonly uid: number
  readonly gid: number
  readonly groups: ReadonlySet<number>
}

/** Null where sandboxes know every owner, so that none is lost. */
export function ownIds(): OwnIds | null {
  if (mayMapOwners()) return null
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return { uid, gid, groups: new Set([gid, ...(process.getgroups?.() ?? [])]) }
}

export class LostOwners {
  readonly #ids: OwnIds
  /** Of entries that were there before and belong to others, by path. */
  readonly #foreign = new Map<RawPath, Owner>()

  constructor(ids: OwnIds) {
    this.#ids = ids
  }

  /** Called with each change; few of them are of other owners. */
  note({ path, before }: Pair): void {
    if (before === null) return
    const { uid, gid } = before.stats
    if (uid !== this.#ids.uid || gid !== this.#ids.gid) this.#foreign.set(path, { uid, gid })
  }

  /** The changes, with the owners that can be kept; the others are found. */
  settle(changes: readonly Change[], findings: TreeFindings): readonly Change[] {
    if (this.#foreign.size === 0) return changes
    const gone = this.#gone(changes)
    return changes.map((change) => {
      const { path, before, after } = change
      if (after === null) return change
      const moved =
        gone.get(clueOf(after)) ?? (before === null ? gone.get(nameClue(path, after)) : null)
      if (moved != null) return this.#owned(change, moved, findings)
      const was = this.#foreign.get(path)
      if (was === undefined || before?.kind !== after.kind || !this.#isKeepable(was)) return change
      return this.#owned(change, was, findings)
    })
  }

  #owned(change: Change, owner: Owner, findings: TreeFindings): Change {
    const { path, before, after } = change
    if (after === null || isSame(owner, this.#ids)) return change
    if (!this.#isKeepable(owner)) {
      const detail = `would be yours; it was of user ${owner.uid}, group ${owner.gid}, which only root can keep`
      findings.add('diff.owner_lost', path, detail)
      return change
    }
    const was = this.#foreign.get(path) ?? this.#own
    return {
      path,
      before: before === null ? null : { ...before, owner: was },
      after: { ...after, owner },
    }
  }

  /** Returns the owners of entries that left their place, by the marks that a move keeps. */
  #gone(changes: readonly Change[]): ReadonlyMap<string, Owner> {
    const gone = new Map<string, Owner>()
    for (const { path, before, after } of changes) {
      if (before === null) continue
      const owner = this.#foreign.get(path) ?? this.#own
      const clues = [clueOf(before), ...(after === null ? [nameClue(path, before)] : [])]
      // Of two that look alike the one that would lose more counts.
      for (const clue of clues) if (!gone.has(clue) || owner !== this.#own) gone.set(clue, owner)
    }
    return gone
  }

  get #own(): Owner {
    return this.#ids
  }

  #isKeepable({ uid, gid }: Owner): boolean {
    return uid === this.#ids.uid && this.#ids.groups.has(gid)
  }
}

function isSame(one: Owner, other: Owner): boolean {
  return one.uid === other.uid && one.gid === other.gid
}

function clueOf({ kind, mode, mtimeNs, digest, target }: EntryState): string {
  return JSON.stringify([kind, mode, mtimeNs, digest, target])
}

/** One that was moved and then written. */
function nameClue(path: RawPath, { kind }: EntryState): string {
  return `${kind} ${nameOfRaw(path)}`
}
