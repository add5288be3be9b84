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
  const found = firstOf([...leaks, ...touched])
  return found.length === 0 ? {} : { found }
}

/** The first findings; the last of them says how many more there are. */
function firstOf(all: readonly HostFinding[]): readonly HostFinding[] {
  const more = all.length - PATHS_TOLD
  const told = all.slice(0, PATHS_TOLD)
  return more <= 0 ? told : told.map((one, at) => (at < PATHS_TOLD - 1 ? one : { ...one, more }))
}

export function changedPrograms(paths: readonly string[]): readonly HostFinding[] {
  return firstOf(paths.map((path) => ({ code: 'flow.program_changed', path })))
}
