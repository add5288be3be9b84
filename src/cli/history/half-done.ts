/**
 * Promotions and rollbacks whose process ended while files were being put in place. Their journal is
 * open and no process holds the workspace: the tree may be half changed until `writ recover`.
 */
import { dirname } from 'node:path'
import type { Home } from '../../home/index.ts'
import { openJournals, withWorkspaceLock } from '../../promotion/index.ts'
import type { ActHistory } from './act.ts'

/** Returns the ids of what was interrupted; none while another process is at work. Changes nothing. */
export async function halfDone({ state, directory }: Home): Promise<ReadonlySet<string>> {
  const ids = (): ReadonlySet<string> => new Set(openJournals(state).map(({ id }) => id))
  if (ids().size === 0) return new Set()
  try {
    return await withWorkspaceLock(dirname(directory), { waitMs: 0 }, async () => ids())
  } catch {
    // The lock is taken, or the workspace is gone: nothing is known to be interrupted.
    return new Set()
  }
}

/** Returns the act as `interrupted` if its promotion is half done. */
export function markHalfDone(act: ActHistory, ids: ReadonlySet<string>): ActHistory {
  return ids.has(act.id.toLowerCase()) ? { ...act, outcome: 'interrupted' } : act
}

export const HALF_DONE =
  'a promotion or an undo was interrupted, so files may be half changed: `writ recover` ends it'
