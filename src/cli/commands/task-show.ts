/** `writ task show ID`: the facts about one task, its evidence pack and its integrity report. */
import { FaultError, fault } from '../../base/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { withHistory } from '../call/home.ts'
import { showId } from './show.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || others.length > 0) {
    throw new FaultError(
      fault('cli.usage', '', null, { message: 'name one task', hint: 'writ task list' }),
    )
  }
  return withHistory(call, (session) => showId(session, call, id, ['task']))
}
