/** `writ task list`: the tasks of a stream, with what their receipts say so far. */
import { field } from '../../contracts/index.ts'
import { type TaskStatus, taskStatus } from '../../ledger/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { eachFact } from '../history/facts.ts'
import { table } from '../history/table.ts'
import { streamToRead, withHistory } from '../home.ts'

interface TaskRow {
  readonly act_task_id: string
  readonly action_type: string
  readonly receipts: number
  readonly status: TaskStatus
}

export async function run(call: Call): Promise<Exit> {
  return withHistory(call, async (session) => {
    const { ledger } = session
    const stream = await streamToRead(session, call)
    // A count and a word for each task, however many receipts there are.
    const answered = new Map<string, { count: number; status: TaskStatus }>()
    for await (const { payload } of eachFact(ledger, { stream, type: 'ao_act_receipt_v0' })) {
      const id = String(field(payload, 'act_task_id'))
      const count = (answered.get(id)?.count ?? 0) + 1
      answered.set(id, { count, status: taskStatus([payload]) })
    }
    const tasks: TaskRow[] = []
    for await (const { payload } of eachFact(ledger, { stream, type: 'ao_act_task_v0' })) {
      const id = String(field(payload, 'act_task_id'))
      const { count, status } = answered.get(id) ?? { count: 0, status: taskStatus([]) }
      tasks.push({
        act_task_id: id,
        action_type: String(field(payload, 'action_type')),
        receipts: count,
        status,
      })
    }
    await tell(call, tasks)
    return EXIT.yes
  })
}

async function tell({ options, terminal }: Call, tasks: readonly TaskRow[]): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify({ tasks })}\n`)
  const rows = tasks.map(({ act_task_id, action_type, receipts, status }) => [
    act_task_id,
    action_type,
    String(receipts),
    status,
  ])
  return terminal.out(table(terminal, ['task', 'action', 'receipts', 'status'], rows))
}
