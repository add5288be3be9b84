/** `writ undo`: takes back the last action that was promoted and not taken back yet. */
import { FaultError, fault } from '../../base/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { restore } from '../gate/restore.ts'

export async function run(call: CommandCall): Promise<Exit> {
  if (call.arguments.length > 0) {
    const message = '`writ undo` names nothing: it takes the last action back'
    const hint = 'an older one is taken back with `writ rollback ACTION_ID`'
    throw new FaultError(fault('cli.usage', '', null, { message, hint }))
  }
  return restore(call, { last: true })
}
