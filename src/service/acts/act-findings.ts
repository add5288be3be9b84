/** What an act that failed says about why, where its kind has names for that. */
import { failureOfStatus } from '../../configuration/index.ts'
import type { Operation, SandboxResult } from '../../contracts/index.ts'
import type { RunOutcome } from '../../sandbox/index.ts'
import { UI_STATUS } from './ui-status.ts'

export function actFindings(
  operation: Operation | undefined,
  { exitCode, killedBy, aborted }: RunOutcome,
): SandboxResult['findings'] {
  if (killedBy !== null || aborted) return []
  if (operation?.type === 'UI_AUTOMATION') {
    if (exitCode === UI_STATUS.browser) return [{ code: 'ui.browser' }]
    return exitCode === UI_STATUS.step ? [{ code: 'ui.step' }] : []
  }
  if (operation?.type !== 'CONFIG_CHANGE') return []
  const code = failureOfStatus(exitCode)
  return code === null ? [] : [{ code, path: operation.path }]
}
