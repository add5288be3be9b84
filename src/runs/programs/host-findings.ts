/** What the host found at an attempt that stops its node for a person to look at. */
import type { HostFinding, OpenReviewer } from '../../flow/index.ts'
import type { HeldAttempt } from '../../service/index.ts'

/** How many paths are named; the record of the gate has all of them. */
const PATHS_TOLD = 10

/** Programs of the run and artifacts of others that the attempt changed, and files with a secret. */
export function foundAt(
  held: HeldAttempt | null,
  workspace: string,
  open: OpenReviewer | undefined,
): { readonly found?: readonly HostFinding[] } {
  const within = (path: string): string =>
    path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
  const touched = (held?.result?.findings ?? []).flatMap(({ code, path = '', detail = '' }) => {
    if (code !== 'flow.program_touched' && code !== 'flow.artifact_touched') return []
    // Said of what is no data while a reviewer is open, and of nothing else.
    const isOpen = open !== undefined && detail.endsWith(open.why)
    const [because = ''] = detail.split('; and the reviewer of ')
    const why = isOpen ? { reviewer: open.node_id, why: open.why, because } : {}
    return [{ code, path: within(path), ...why } as const]
  })
  const leaks = (held?.leaks ?? []).map((path) => ({
    code: 'flow.secret_written' as const,
    path: within(path),
  }))
  const found = [...leaks, ...touched].slice(0, PATHS_TOLD)
  return found.length === 0 ? {} : { found }
}

export function changedPrograms(paths: readonly string[]): readonly HostFinding[] {
  return paths.slice(0, PATHS_TOLD).map((path) => ({ code: 'flow.program_changed', path }))
}
