/** `writ task list`: the tasks of a stream, page by page, with what their receipts say so far. */
import { field } from '../../contracts/index.ts'
import type { LedgerReader } from '../../host/index.ts'
import { type OpenedFact, type TaskStatus, taskStatus } from '../../ledger/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { eachFact, openFact } from '../history/facts.ts'
import { LIMIT, LIMIT_MAX, numberOption } from '../history/number.ts'
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
    const page = await ledger.store.find({
      stream: await streamToRead(session, call),
      type: 'ao_act_task_v0',
      cursor: numberOption(call, 'after', Number.MAX_SAFE_INTEGER) ?? -1,
      limit: numberOption(call, 'limit', LIMIT_MAX) ?? LIMIT,
      order: 'oldest_first',
    })
    const opened = await Promise.all(page.facts.map(({ text }) => openFact(ledger, text)))
    await tell(call, await rowsOf(ledger, opened), page.next)
    return EXIT.yes
  })
}

/** A count and a word for each task of the page, however many receipts there are. */
async function rowsOf(
  ledger: LedgerReader,
  tasks: readonly OpenedFact[],
): Promise<readonly TaskRow[]> {
  const [first] = tasks
  if (first === undefined) return []
  const answered = new Map<string, { count: number; status: TaskStatus }>()
  for (const { payload } of tasks) {
    answered.set(String(field(payload, 'act_task_id')), { count: 0, status: taskStatus([]) })
  }
  const { stream, seq } = first
  // A receipt comes behind its task.
  for await (const { payload } of eachFact(ledger, { stream, type: 'ao_act_receipt_v0' }, seq)) {
    const id = String(field(payload, 'act_task_id'))
    const before = answered.get(id)
    if (before === undefined) continue
    answered.set(id, { count: before.count + 1, status: taskStatus([payload]) })
  }
  return tasks.map(({ payload }) => {
    const id = String(field(payload, 'act_task_id'))
    const { count, status } = answered.get(id) ?? { count: 0, status: taskStatus([]) }
    const action_type = String(field(payload, 'action_type'))
    return { act_task_id: id, action_type, receipts: count, status }
  })
}

async function tell(
  { options, terminal }: Call,
  tasks: readonly TaskRow[],
  next: number | null,
): Promise<void> {
  if (options.isOn('json')) {
    const answer = next === null ? { tasks } : { tasks, next }
    return terminal.out(`${JSON.stringify(answer)}\n`)
  }
  const rows = tasks.map(({ act_task_id, action_type, receipts, status }) => [
    act_task_id,
    action_type,
    String(receipts),
    status,
  ])
  await terminal.out(table(terminal, ['task', 'action', 'receipts', 'status'], rows))
  if (next !== null) terminal.err(`more: --after ${next}\n`)
}
