/**
 * The status with which `writ exec` ends: the command's own when its effects were promoted or there
 * were none; 125 when writ did not let it (blocked, denied, fault); 75 when its effects wait for a
 * human.
 */
import { constants } from 'node:os'
import type { GateAnswer } from '../../service/index.ts'
import { type OwnStatus, ownStatus } from '../call/command.ts'

const REFUSED = 125
const WAITING = 75
const SIGNAL_BASE = 128

interface ExecEnd {
  readonly status: OwnStatus
  /** The last line of standard error; null when the status is the command's own and all is done. */
  readonly code: string | null
}

export function execEnd({ decision, result, promoted, pending }: GateAnswer): ExecEnd {
  const execution = result?.execution
  const own = execution === undefined ? null : commandStatus(execution)
  const isDone = promoted || (decision.decision === 'PROMOTE' && !hasEffects(result))
  if (isDone && own !== null) return { status: own, code: null }
  // There is nothing to promote of a failure without effects, and nothing to say about it.
  const hasOnlyFailed = decision.code === 'result.failed' && !hasEffects(result)
  if (hasOnlyFailed && own !== null) return { status: own, code: null }
  if (pending !== undefined) return { status: ownStatus(WAITING), code: decision.code }
  return { status: ownStatus(REFUSED), code: decision.code }
}

function hasEffects(result: GateAnswer['result']): boolean {
  if (result === null) return false
  const { added, modified, deleted } = result.diff.counts
  return added + modified + deleted > 0
}

/** As a shell tells it: the exit code, or 128 and the number of the signal. */
function commandStatus(execution: {
  readonly exit_code: number | null
  readonly signal: string | null
}): OwnStatus | null {
  if (execution.exit_code !== null) return ownStatus(execution.exit_code)
  const signal = Object.entries(constants.signals).find(([name]) => name === execution.signal)
  return signal === undefined ? null : ownStatus(SIGNAL_BASE + signal[1])
}
