/**
 * Directories that an act leaves unreadable for their own owner. They could be promoted, but only root
 * could check or undo them there. So each becomes a finding of the diff, which refuses it (G-8: an undo
 * has to be possible before something is decided).
 */
import type { Change } from '../../gate/index.ts'
import type { Scan, TreeFinding } from '../../tree/index.ts'
import { isRoot } from '../surface/context.ts'

/** To list, and to enter. */
const LOOK = 0o500

export function withClosedDirectories(scan: Scan): Scan {
  const closed = isRoot() ? [] : scan.changes.flatMap(closedBy)
  return closed.length === 0 ? scan : { ...scan, findings: [...scan.findings, ...closed] }
}

function closedBy({ path, after }: Change): readonly TreeFinding[] {
  if (after?.kind !== 'directory' || (after.mode & LOOK) === LOOK) return []
  const detail = 'is a directory that its owner cannot look into'
  return [{ code: 'diff.unsupported', path, detail }]
}
