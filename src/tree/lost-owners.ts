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
  readonly #own: Owner
  /** Of entries that were there before and belong to others, by path. */
  readonly #foreign = new Map<RawPath, Owner>()

  constructor(ids: OwnIds) {
    this.#ids = ids
    this.#own = { uid: ids.uid, gid: ids.gid }
  }

  /** Called with each change; few of them are of other owners. */
  note({ path, before }: Pair): void {
    if (before === null) return
    const { uid, gid } = before.stats
    if (uid !== this.#ids.uid || gid !== this.#ids.gid) this.#foreign.set(path, { uid, gid })
  }

  /**
   * The changes with the owners of what was there, so that a change of the group by another program is
   * noticed before anything is replaced. Owners that cannot be kept are found.
   */
  settle(changes: readonly Change[], findings: TreeFindings): readonly Change[] {
    const gone = this.#foreign.size === 0 ? null : this.#gone(changes)
    return changes.map((change) => {
      const { path, before, after } = change
      const was = this.#foreign.get(path) ?? this.#own
      const will = gone === null ? this.#own : this.#ownerAfter(change, gone, findings)
      // Only root could set the owner of a directory that stays and is another user's.
      if (before?.kind === 'directory' && after?.kind === 'directory' && !this.#isKeepable(was)) {
        return change
      }
      // The gate takes a known owner of a created entry for one that the act chose.
      const isOrdinary = before?.kind !== after?.kind && will === this.#own
      return {
        path,
        before: before === null ? null : { ...before, owner: was },
        after: after === null ? null : { ...after, owner: isOrdinary ? null : will },
      }
    })
  }

  #ownerAfter(
    { path, before, after }: Change,
    gone: ReadonlyMap<string, Owner>,
    findings: TreeFindings,
  ): Owner {
    if (after === null) return this.#own
    const moved =
      gone.get(clueOf(after)) ?? (before === null ? gone.get(nameClue(path, after)) : null)
    const was = before?.kind === after.kind ? this.#foreign.get(path) : undefined
    const owner = moved ?? was ?? this.#own
    if (this.#isKeepable(owner)) return owner
    if (moved != null) {
      const detail = `would be yours; it was of user ${owner.uid}, group ${owner.gid}, which only root can keep`
      findings.add('diff.owner_lost', path, detail)
    }
    return this.#own
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

  #isKeepable({ uid, gid }: Owner): boolean {
    return uid === this.#ids.uid && this.#ids.groups.has(gid)
  }
}

function clueOf({ kind, mode, mtimeNs, digest, target }: EntryState): string {
  return JSON.stringify([kind, mode, mtimeNs, digest, target])
}

/** One that was moved and then written. */
function nameClue(path: RawPath, { kind }: EntryState): string {
  return `${kind} ${nameOfRaw(path)}`
}
