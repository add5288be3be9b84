/** `writ rollback`: restores what one action changed, or everything since a moment. */
import { FaultError, fault } from '../../base/index.ts'
import type { RollbackTarget } from '../../service/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { restore } from '../gate/restore.ts'
import { momentOption } from '../history/option-values.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return restore(call, targetOf(call))
}

function targetOf(call: CommandCall): RollbackTarget {
  const since = momentOption(call, 'since', Date.now())
  const [actionId, ...others] = call.arguments
  if (since !== undefined && actionId === undefined) return { since }
  if (since === undefined && actionId !== undefined && others.length === 0) return { actionId }
  const message = 'name one action, or a moment with `--since`'
  const hint = '`writ undo` takes the last one back'
  throw new FaultError(fault('cli.usage', '', null, { message, hint }))
}
