/** `writ task show ID`: the facts about one task, its evidence pack and its integrity report. */
import type { CommandCall, Exit } from '../call/command.ts'
import { withHistory } from '../call/home.ts'
import { usageError } from '../call/usage.ts'
import { showId } from './show.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || others.length > 0) {
    throw usageError('name one task', 'writ task list')
  }
  return withHistory(call, (session) => showId(session, call, id, ['task']))
}
