/** Which workspaces a machine can walk runs in, where a home has several machines. */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FlowHost } from '../runs/index.ts'
import type { LedgerReader } from '../store/index.ts'

interface MachinePlace extends Pick<FlowHost, 'home'> {
  readonly ledger: Pick<LedgerReader, 'files'>
}

/**
 * Returns whether this machine has the home at the workspace, or above it with no other one between. The
 * only machine of a home has every workspace.
 *
 * INVARIANT (inside): what a link or a `..` leads to is no directory of the home. The workspace was real on the
 *   machine that named it, and has to be here.
 */
export function hasWorkspace(
  { home: { directory }, ledger }: MachinePlace,
  workspace: string,
): boolean {
  const own = dirname(directory)
  if (ledger.files === null || workspace === own) return true
  if (!isReal(workspace)) return false
  for (let folder = workspace; folder !== dirname(folder); folder = dirname(folder)) {
    if (folder === own) return true
    if (existsSync(join(folder, basename(directory)))) return false
  }
  return false
}

function isReal(path: string): boolean {
  try {
    return realpathSync(path) === path
  } catch {
    // It is not there, or closed to this user.
    return false
  }
}
