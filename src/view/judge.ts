/** Tells what is pending among the differences between view and real tree, and what is not the session's. */
import { type Change, parentOfRaw, type RawPath } from '../gate/index.ts'
import {
  directoryMark,
  type Entry,
  hasSameRights,
  isRealState,
  isUnchanged,
  linkedMark,
  lookAt,
  type SeenEntry,
  type ViewRecord,
} from './record.ts'
import type { UpperTree } from './upper.ts'
import type { Stale, ViewConflict } from './view.ts'

export class Judge {
  readonly #tree: UpperTree
  readonly #record: ViewRecord
  readonly #equal: Set<RawPath>
  readonly #pending: Change[] = []
  readonly #conflicts: ViewConflict[] = []
  readonly #stale: Stale[] = []
  readonly #directories = new Map<RawPath, boolean>()
  readonly #marks = new Map<Entry, ReadonlySet<string>>()

  constructor(tree: UpperTree, record: ViewRecord, equal: Set<RawPath>) {
    this.#tree = tree
    this.#record = record
    this.#equal = equal
  }

  judge(changes: readonly Change[]) {
    for (const change of changes) this.#one(change)
    return { pending: this.#pending, conflicts: this.#conflicts, stale: this.#stale }
  }

  #one(change: Change): void {
    const { path, before, after } = change
    const known = this.#record.entries.get(path)
    const entry = this.#tree.byPath.get(path)
    if (entry === undefined) return this.#below(change)
    if (known === undefined) return this.#conflict(change)
    if (known.kept !== undefined && isRealState(known.kept, after)) {
      this.#stale.push({ path, why: 'was changed outside, and is in use' })
      return
    }
    const { base } = known
    const real = lookAt(path)
    if (after === null && base === 'nothing') return
    if (before === null || real === null) {
      if (base === 'nothing') this.#pending.push(change)
      else this.#conflict(change)
      return
    }
    if (typeof base !== 'object') return this.#conflict(change)
    if (before.kind === 'directory' && after?.kind === 'directory') {
      if (hasSameRights(base, real)) this.#pending.push(change)
      else if (hasSameRights(base, entry.found)) this.#equal.add(path)
      else this.#conflict(change)
      return
    }
    if (isUnchanged(base, real)) this.#pending.push(change)
    else this.#conflict(change)
  }

  /** A real entry that something above it hides. */
  #below(change: Change): void {
    const { path } = change
    const real = lookAt(path)
    if (real === null) return
    const above = this.#above(path)
    const known = above === undefined ? undefined : this.#record.entries.get(above)
    if (known === undefined || above === undefined) return this.#conflict(change)
    if (known.kind === 'added') {
      const holder = this.#tree.byPath.get(parentOfRaw(above))
      // The session removed a directory, and never saw what others had put there.
      if (holder?.found.kind !== 'directory') return this.#conflict(change)
      const why = 'was made outside, in a directory that the session made again'
      this.#stale.push({ path, why })
      return
    }
    if (this.#isSeen(path, real)) this.#pending.push(change)
    else this.#conflict(change)
  }

  /** Whether the session knew the entry when it hid what lies above it. */
  #isSeen(path: RawPath, real: SeenEntry): boolean {
    const known = this.#record.entries.get(path)
    if (known !== undefined) return typeof known.base === 'object' && isUnchanged(known.base, real)
    if (!this.#isSeenDirectory(parentOfRaw(path))) return false
    const above = this.#above(path)
    const hid = above === undefined ? undefined : this.#record.entries.get(above)
    if (hid === undefined) return false
    if (BigInt(real.ctimeNs) < BigInt(hid.seenNs)) return true
    const mark = real.kind === 'directory' ? directoryMark(real) : linkedMark(path, real)
    return this.#marksOf(hid).has(mark)
  }

  #marksOf(hid: Entry): ReadonlySet<string> {
    const marks = this.#marks.get(hid) ?? new Set(hid.below)
    this.#marks.set(hid, marks)
    return marks
  }

  #isSeenDirectory(path: RawPath): boolean {
    const found = this.#directories.get(path) ?? this.#looksSeen(path)
    this.#directories.set(path, found)
    return found
  }

  #looksSeen(path: RawPath): boolean {
    const real = lookAt(path)
    return real?.kind === 'directory' && this.#isSeen(path, real)
  }

  /** The nearest path, itself included, that is on the record. */
  #above(path: RawPath): RawPath | undefined {
    for (let up = path; up !== '/'; up = parentOfRaw(up))
      if (this.#record.entries.has(up)) return up
    return undefined
  }

  #conflict(change: Change): void {
    const { path, before, after } = change
    this.#pending.push(change)
    this.#conflicts.push({ path, real: before, view: after })
  }
}
