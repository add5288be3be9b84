/** `writ undo`: takes back the last action that was promoted and not taken back yet. */
import type { CommandCall, Exit } from '../call/command.ts'
import { usageError } from '../call/usage.ts'
import { restore } from '../gate/restore.ts'

export async function run(call: CommandCall): Promise<Exit> {
  if (call.arguments.length > 0) {
    const message = '`writ undo` names nothing: it takes the last action back'
    throw usageError(message, 'an older one is taken back with `writ rollback ACTION_ID`')
  }
  return restore(call, { last: true })
}
