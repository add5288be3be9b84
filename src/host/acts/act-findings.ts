/** What an act that failed says about why, where its kind has names for that. */
import { failureOfStatus } from '../../configuration/index.ts'
import type { Operation, SandboxResult } from '../../contracts/index.ts'
import type { RunOutcome } from '../sandbox/driver.ts'

export function actFindings(
  operation: Operation | undefined,
  { exitCode, killedBy, aborted }: RunOutcome,
): SandboxResult['findings'] {
  if (operation?.type !== 'CONFIG_CHANGE' || killedBy !== null || aborted) return []
  const code = failureOfStatus(exitCode)
  return code === null ? [] : [{ code, path: operation.path }]
}
