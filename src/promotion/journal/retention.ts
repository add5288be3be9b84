/**
 * How long pre-images are kept: an undo period and a quota in bytes (I5). Which of them may go is a
 * function of the list; dropping them is final, and rollback then says `rollback.expired`.
 *
 * The newest is never dropped for the quota: one that is larger than all the room there is stays
 * undoable until something newer comes or its time is over.
 */
import { lstatSync, readdirSync } from 'node:fs'
import { isAbsent, removeTreeSync } from '../../machine/index.ts'

export const UNDO_PERIOD_MS = 14 * 24 * 60 * 60 * 1000

export interface Kept {
  readonly actionId: string
  readonly promotedAtMs: number
  /** What the record promised; the period of today where it promised nothing. */
  readonly undoUntilMs?: number
  readonly bytes: number
  /** An actor's, which no human approved: kept for its time, within a room that the gate bounds. */
  readonly isUnapproved?: boolean
}

export interface Retention {
  readonly periodMs: number
  readonly quotaBytes: number
}

interface Dropped extends Kept {
  readonly because: 'period' | 'quota'
}

/** What may be dropped now, oldest first. */
export function droppable(
  kept: readonly Kept[],
  { periodMs, quotaBytes }: Retention,
  nowMs: number,
): Dropped[] {
  const newestFirst = [...kept].sort((one, other) => other.promotedAtMs - one.promotedAtMs)
  const dropped: Dropped[] = []
  let bytes = 0
  let isNewest = true
  for (const each of newestFirst) {
    if (nowMs >= (each.undoUntilMs ?? each.promotedAtMs + periodMs)) {
      dropped.push({ ...each, because: 'period' })
      continue
    }
    if (each.isUnapproved === true) continue
    if (!isNewest && bytes + each.bytes > quotaBytes) dropped.push({ ...each, because: 'quota' })
    else bytes += each.bytes
    isNewest = false
  }
  return dropped.reverse()
}

/** Removes the pre-images of one action for good; false when there were none. */
export function dropPreimages(keep: string): boolean {
  try {
    lstatSync(keep)
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
  removeTreeSync(keep)
  return true
}

const BLOCK_BYTES = 512

/** Returns the disk space that a file or a directory takes, as far as it is still there. */
export function measureKeep(keep: string): number {
  let bytes = 0
  const open = [Buffer.from(keep)]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const stats = lstatSync(next, { throwIfNoEntry: false })
    bytes += (stats?.blocks ?? 0) * BLOCK_BYTES
    if (stats?.isDirectory() !== true) continue
    for (const name of namesIn(next)) {
      open.push(Buffer.concat([next, Buffer.from('/'), name]))
    }
  }
  return bytes
}

/** Returns no names of a directory that another process removed meanwhile. */
function namesIn(directory: Buffer): readonly Buffer[] {
  try {
    return readdirSync(directory, { encoding: 'buffer' })
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}
