/** `writ rollback`: restores what one action changed, or everything since a moment. */
import type { RollbackTarget } from '../../service/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
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
  throw usageError(message, '`writ undo` takes the last one back')
}
