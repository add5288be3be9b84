/**
 * Directories that an act leaves so that their own owner cannot look into them. They could be put in
 * place, but neither be checked there nor be taken back by anybody but root: so they are told with the
 * diff, which refuses them (G-8: an undo has to be possible before something is decided).
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
