/** Directories that an act leaves closed to their own owner. */
import type { Change } from '../gate/index.ts'
import type { TreeFinding } from './findings.ts'
import type { Scan } from './scan.ts'

/** To list, and to enter. */
const LOOK = 0o500

/**
 * They could be promoted, but only root could check or undo them there. So each becomes a finding of the
 * diff, which refuses it (G-8: an undo has to be possible before something is decided).
 */
export function withClosedDirectories<T extends Pick<Scan, 'changes' | 'findings'>>(
  scan: T,
  isRoot: boolean,
): T {
  const closed = isRoot ? [] : scan.changes.flatMap(closedBy)
  return closed.length === 0 ? scan : { ...scan, findings: [...scan.findings, ...closed] }
}

function closedBy({ path, after }: Change): readonly TreeFinding[] {
  if (after?.kind !== 'directory' || (after.mode & LOOK) === LOOK) return []
  const detail = 'is a directory that its owner cannot look into; `chmod u+rx` lets them'
  return [{ code: 'diff.unsupported', path, detail }]
}
