/** Parts of what is pending in a session, and words for the states of changes. */
import { digestDocument } from '../base/index.ts'
import { type Change, displayOfRaw, isBelow, type PartKind, type RawPath } from '../gate/index.ts'
import type { PendingPart, SessionGround, SessionSurface, SettleOrder } from '../service/index.ts'
import type { Discarded, FrozenView, PendingScan, ViewConflict } from '../view/index.ts'
import type { SessionMemory } from './session-files.ts'
import type { NotDiscarded, PendingChanges, PendingReason } from './settled.ts'

export const NO_PART: PendingPart = { changes: [], findings: [], emptied: [], told: [] }

export function pendingPart(
  scan: PendingScan,
  busy: ReadonlySet<RawPath> = new Set(),
): PendingPart {
  const { changes, findings, emptied, conflicts } = scan
  const told = conflicts.map((conflict) => ({
    code: 'session.conflict' as const,
    path: conflict.path,
    detail: conflictWords(conflict),
  }))
  return without({ changes, findings, emptied, told }, ({ path }) => busy.has(path))
}

/** A word for what is real at the path of a conflict. */
function realWord(state: ViewConflict['real']): string {
  return state?.digest ?? state?.kind ?? 'nothing'
}

export function shownConflicts({ conflicts }: PendingScan): PendingChanges['conflicts'] {
  return conflicts.map((conflict) => {
    return { path: displayOfRaw(conflict.path), detail: conflictWords(conflict) }
  })
}

/** What the scan found at entries that are no changes, because they cannot be promoted at all. */
export function leftEntries({ changes, findings }: PendingScan): PendingChanges['left'] {
  const paths = new Set(changes.map(({ path }) => path))
  return findings.flatMap(({ code, path, detail = '' }) =>
    code === 'diff.unsupported' && !paths.has(path) ? [{ path: displayOfRaw(path), detail }] : [],
  )
}

/** Names both sides, and what the agent can do about it. */
function conflictWords({ real, view }: ViewConflict): string {
  const side = (state: ViewConflict['real']): string => (state === null ? 'deleted' : 'changed')
  const sides = `${side(view)} in the session and ${side(real)} in the real tree since`
  const isDirectory = real?.kind === 'directory' || view?.kind === 'directory'
  if (isDirectory) return `${sides}; in the session: undo it, or leave it to a person`
  return real === null
    ? `${sides}, so there is no real version to read; in the session: delete it too, or call \`writ-real PATH\` and write the file again to keep it`
    : `${sides}; in the session, \`writ-real PATH\` prints the real version: write the file again with both`
}

/**
 * Whether a change cannot be made real before a conflict is solved: it lies in a directory of the session
 * that others removed, or removes a directory in which others left something.
 */
export function isCutOff(path: RawPath, { changes, conflicts }: PendingScan): boolean {
  const isUnder = conflicts.some(
    (each) =>
      each.view?.kind === 'directory' &&
      each.real?.kind !== 'directory' &&
      path !== each.path &&
      isBelow(path, each.path),
  )
  return isUnder || (holdsConflict(path, conflicts) && isRemoved(path, changes))
}

function holdsConflict(path: RawPath, conflicts: readonly ViewConflict[]): boolean {
  return conflicts.some(
    (each) => each.real !== null && path !== each.path && isBelow(each.path, path),
  )
}

/** Whether one of the changes puts nothing, or something else, in the place of the directory. */
function isRemoved(path: RawPath, changes: readonly Change[]): boolean {
  const change = changes.find((each) => each.path === path)
  return change !== undefined && change.after?.kind !== 'directory'
}

/** What a discard left, as it is shown. */
export function notDiscarded(
  refused: Discarded['refused'],
  hidden: Discarded['hidden'],
): NotDiscarded {
  return {
    inUse: refused.map(({ path }) => displayOfRaw(path)),
    hidden: hidden.map(({ path, by }) => ({ path: displayOfRaw(path), by: displayOfRaw(by) })),
  }
}

/** Why each change is not real yet, by its raw path. */
export function reasonsOf(
  changes: readonly Change[],
  conflicts: readonly ViewConflict[],
  busy: ReadonlySet<RawPath>,
  { question, refused, denied = {}, untaken = {} }: SessionMemory,
): PendingChanges['reasons'] {
  const inConflict = new Set(conflicts.map(({ path }) => path))
  const own = ({ path, ...sides }: Change): PendingReason => {
    const state = stateOf({ path, ...sides })
    if (Object.hasOwn(question?.states ?? {}, path)) return 'asked'
    if (inConflict.has(path)) return 'conflict'
    if (refused[path] === state) return denied[path] === state ? 'denied' : 'refused'
    if (busy.has(path)) return 'in use'
    return untaken[path] === state ? 'not taken' : 'pending'
  }
  const rows = changes.map((change) => ({ change, reason: own(change) }))
  const holding = rows.filter(({ change, reason }) => isMade(change) && HOLDS.includes(reason))
  return Object.fromEntries(
    rows.map(({ change: { path }, reason }) => {
      if (reason !== 'pending') return [path, reason]
      const isHeld = holding.some(({ change: { path: above } }) => isBelow(path, above))
      const isHolding = holdsConflict(path, conflicts) && isRemoved(path, changes)
      return [path, isHeld || isHolding ? 'held' : reason]
    }),
  )
}

/** What keeps everything in a new directory waiting. */
const HOLDS: readonly PendingReason[] = ['asked', 'conflict', 'denied', 'refused']

function isMade({ before, after }: Change): boolean {
  return after?.kind === 'directory' && before?.kind !== 'directory'
}

/** The rest of a part, without the changes that `isOut` tells. */
export function without(part: PendingPart, isOut: (change: Change) => boolean): PendingPart {
  const gone = new Set(part.changes.filter(isOut).map(({ path }) => path))
  if (gone.size === 0) return part
  const stays = ({ path }: { readonly path: RawPath }): boolean => !gone.has(path)
  return {
    changes: part.changes.filter(stays),
    findings: part.findings.filter(stays),
    emptied: part.emptied.filter(stays),
    told: part.told.filter(stays),
  }
}

/** The same, without what lies in a directory that is made by a change which is left out. */
export function withoutHeld(part: PendingPart, isOut: (change: Change) => boolean): PendingPart {
  const made = part.changes.filter((change) => isMade(change) && isOut(change))
  const isBelowMade = ({ path }: Change): boolean => made.some((each) => isBelow(path, each.path))
  return without(part, (change) => isOut(change) || isBelowMade(change))
}

export function united(one: PendingPart, other: PendingPart): PendingPart {
  const changes = [...one.changes, ...other.changes].sort(({ path: a }, { path: b }) =>
    a < b ? -1 : 1,
  )
  return {
    changes,
    findings: [...one.findings, ...other.findings],
    emptied: [...one.emptied, ...other.emptied],
    told: [...one.told, ...other.told],
  }
}

/** Whether these states are still pending as they were. */
export function isStill(
  states: Readonly<Record<string, string>>,
  changes: readonly Change[],
): boolean {
  const now = statesOf(changes)
  return Object.entries(states).every(([path, state]) => now[path] === state)
}

export function statesOf(changes: readonly Change[]): Readonly<Record<string, string>> {
  return Object.fromEntries(changes.map((change) => [change.path, stateOf(change)]))
}

/** One word for both sides of a change; times are no part of it. */
export function stateOf({ before, after }: Change): string {
  const side = (state: Change['after']) =>
    state === null ? null : { ...state, mtimeNs: null, linkGroup: null }
  return digestDocument({ before: side(before), after: side(after) })
}

/** Rows by path, without those of some paths. */
export function withoutRows(rows: Rows, paths: readonly string[]): Rows {
  const gone = new Set(paths)
  return Object.fromEntries(Object.entries(rows).filter(([path]) => !gone.has(path)))
}

type Rows = Readonly<Record<string, string>>

/** Those that a person takes, and those of which the agent read the real version and changed its own since. */
export function solvedConflicts(
  { changes, conflicts }: PendingScan,
  busy: ReadonlySet<RawPath>,
  take: ReadonlySet<RawPath>,
  { read, refused }: { readonly read: Rows; readonly refused: Rows },
): readonly RawPath[] {
  const now = conflicts.length === 0 ? {} : statesOf(changes)
  return conflicts.flatMap(({ path, real }) => {
    const isRead = read[path] === realWord(real) && refused[path] !== now[path]
    return take.has(path) || (isRead && !busy.has(path)) ? [path] : []
  })
}

/** Returns what the view cannot show. What is promoted stays so when the view cannot be swept. */
export async function swept(
  frozen: FrozenView,
  applied: readonly Change[],
  isWatched: boolean,
): Promise<readonly RawPath[]> {
  try {
    const { stale } = await frozen.prune(applied, isWatched)
    return stale.map(({ path }) => path)
  } catch (error) {
    if (applied.length === 0) throw error
    return applied.map(({ path }) => path)
  }
}

interface WeighedGround {
  readonly surface: Pick<SessionSurface, 'weigh'>
  readonly ground: SessionGround
}

/** Splits what is pending: what needs no human, what is asked about, and what is blocked. */
export async function splitPart(
  { surface, ground }: WeighedGround,
  order: SettleOrder,
): Promise<Readonly<Record<PartKind, PendingPart>>> {
  if (order.part.changes.length === 0) return { granted: NO_PART, asked: NO_PART, blocked: NO_PART }
  const { parts } = await surface.weigh(ground, order)
  if (await isGranted({ surface, ground }, order, parts.granted)) return parts
  return { ...parts, granted: NO_PART, asked: united(parts.granted, parts.asked) }
}

/** Whether the part that needs no human by its findings needs none by the laws either. */
async function isGranted(
  { surface, ground }: WeighedGround,
  order: SettleOrder,
  part: PendingPart,
): Promise<boolean> {
  if (part.changes.length === order.part.changes.length) return true
  if (part.changes.length === 0) return true
  const { parts } = await surface.weigh(ground, { ...order, part })
  return parts.granted.changes.length === part.changes.length
}
