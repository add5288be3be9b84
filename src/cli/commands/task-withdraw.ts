/** `writ task withdraw`: a human ends the offer of a task that no device has started (D-1). */
import { withdrawTask } from '../../dispatch/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers, streamToWrite, withHome } from '../call/home.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [taskId, ...others] = call.arguments
  if (taskId === undefined || others.length > 0) throw usageError('name one task', 'writ task list')
  return withHome(call, async (session) => {
    refuseOthers(session.caller, 'withdrawing a task')
    const stream = streamToWrite(session, call)
    await proveHuman(session, call, 'withdrawing a task')
    const { ledger, home, caller } = session
    const host = { ledger, state: home.state, nowMs: Date.now }
    const { principal } = caller
    const step = await withdrawTask(
      host,
      { stream, taskId },
      principal,
      call.options.text('reason'),
    )
    return reply(
      call,
      { act_task_id: taskId, at: step.at },
      (paint) => `${paint.good('withdrawn')}  ${taskId}  no device can begin it any more\n`,
    )
  })
}
