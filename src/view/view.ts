/**
 * What a live view offers. A view is what the processes of a kept sandbox see: the real tree with their
 * own changes over it, in upper layers on a disk. Pending is the view minus the real tree.
 *
 * PROMISE (nothing in use is removed): an upper entry that a process has open, mapped, watched or as its
 *   working directory stays, also after it became real.
 * PROMISE (nothing of others is taken for the session's): a difference that another process made in the
 *   real tree is never pending; where both sides changed a path, it is a conflict.
 */
import type { Change, EntryState, RawPath } from '../gate/index.ts'
import type { OwnIds, Scan } from '../tree/index.ts'

export interface ViewOptions {
  /** A directory of the session where the view keeps its record across openings. */
  readonly directory: string
  /** Owners are compared and every entry can be read. */
  readonly isRoot: boolean
  /** The sandbox knows these ids only; null when it knows every owner. */
  readonly ids: OwnIds | null
  /** Real paths that are left out with everything below them. */
  readonly exclude: readonly string[]
  readonly scopeRoots: readonly string[]
  /** The most that may be pending, by apparent size. */
  readonly maxBytes: number
}

export interface LiveView {
  /** Stops the processes inside and reads what they use. One frozen view at a time. */
  freeze(): Promise<FrozenView>
  /**
   * Shows changes of the real tree where nothing inside uses the old entries; stops no process. Of the
   * changed paths that a caller names, those that are gone were removed by others: what the session has
   * there is a conflict and not a new entry.
   */
  refresh(changed?: readonly string[]): Promise<Refreshed>
  /**
   * Whether one of these real entries, or the directory around it, changed since the last refresh. What
   * came and went is no news.
   */
  hasNews(paths: readonly string[]): boolean
  /** A cheap look at the upper layers. True may turn out to be nothing; false is certain. */
  hasPending(): Promise<boolean>
  /** Processes inside that have a file of a covered root open for writing. */
  writers(): readonly number[]
  close(): void
}

export interface FrozenView {
  /** Files open or mapped for writing, with their `-wal`, `-shm` and `-journal`: they stay pending. */
  readonly busy: ReadonlySet<RawPath>
  scan(): Promise<PendingScan>
  /** Says which changes wait for an answer: another process makes them real while the view goes on. */
  expect(changes: readonly Change[]): void
  /** Says that the answer came, and which of the expected changes were made real. */
  answered(isReal: (path: RawPath) => boolean): void
  /** To be called before any of these paths becomes real. */
  prepare(changes: readonly Change[]): Promise<void>
  /**
   * To be called when these changes are real: shows the real entries where nothing inside uses the old.
   * Also with no changes before the first process of a view that was opened again starts. A caller that
   * watches the real tree says that it is `watched`: then names that nothing changed stay cached a while.
   */
  prune(promoted: readonly Change[], isWatched?: boolean): Promise<Pruned>
  /**
   * Reverts paths in the view, each with everything below it. Of a directory that the session removed, a
   * path below it comes back alone.
   */
  discard(paths: readonly RawPath[]): Promise<Discarded>
  /** From now on the view's changes of these paths are changes of what is real there now. */
  rebase(paths: readonly RawPath[]): void
  /** Lets the processes continue. Idempotent. */
  thaw(): void
}

export interface PendingScan extends Scan {
  /** Paths that the real tree changed after the view copied them. They are among the changes. */
  readonly conflicts: readonly ViewConflict[]
  /** Real entries that the view cannot show, and why. */
  readonly stale: readonly Stale[]
  /** Returns the changed paths whose entries in the upper layers were touched since the scan. */
  moved(): readonly RawPath[]
}

export interface ViewConflict {
  readonly path: RawPath
  /** What is there now; null for nothing. */
  readonly real: EntryState | null
  readonly view: EntryState | null
}

export interface Stale {
  readonly path: RawPath
  readonly why: string
}

export interface Refreshed {
  readonly stale: readonly Stale[]
}

export interface Pruned {
  /** Upper entries that were removed: the real ones are seen instead. */
  readonly pruned: readonly RawPath[]
  /** Entries that are real, and stay in the upper layer because they are in use. */
  readonly kept: readonly RawPath[]
  readonly stale: readonly Stale[]
}

export interface Discarded {
  readonly discarded: readonly RawPath[]
  /** Paths in use, with the processes that use them. */
  readonly refused: readonly InUse[]
  /** Paths where the session has something else in the place of a directory above: it hides them. */
  readonly hidden: readonly { readonly path: RawPath; readonly by: RawPath }[]
}

export interface InUse {
  readonly path: RawPath
  readonly processes: readonly { readonly pid: number; readonly name: string }[]
}
