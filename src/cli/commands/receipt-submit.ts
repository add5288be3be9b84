/**
 * `writ receipt submit`: an executor says what it did. Taken only from the executor that the receipt
 * names; a receipt that was given before is refused and points at the first one.
 */
import { field } from '../../contracts/index.ts'
import { duplicateReceipt, judgeReceipt } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, type Session, streamToWrite, withHome } from '../call/home.ts'
import { findTask } from '../history/facts.ts'
import { readDocument, refuse } from '../history/refusal.ts'

export async function run(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    const stream = streamToWrite(session, call)
    const reading = await readDocument(call)
    if (!reading.ok) return refuse(call, [reading.refusal])
    const id = field(reading.value, 'act_task_id')
    const task =
      typeof id === 'string' && id !== '' ? await findTask(session.ledger, stream, id) : null
    const answer = judgeReceipt(
      reading.value,
      session.caller,
      task === null ? null : task.payload,
      Date.now(),
    )
    if (!answer.ok) return refuse(call, answer.violations)
    return record(session, call, stream, answer, task?.payload)
  })
}

async function record(
  session: Session,
  call: CommandCall,
  stream: string,
  { receipt, idempotencyKey }: { readonly receipt: unknown; readonly idempotencyKey: string },
  task: unknown,
): Promise<Exit> {
  const recorded = await session.ledger.record({
    ...actorOf(session),
    stream,
    record: { type: 'ao_act_receipt_v0', payload: receipt },
    idempotencyKey,
    context: { task },
  })
  if (!recorded.ok) return refuse(call, recorded.violations)
  const { seq, factId: fact_id, repeated } = recorded.appended
  if (repeated) return refuse(call, [duplicateReceipt(fact_id, seq)])
  const { terminal, options } = call
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ fact_id, seq })}\n`
      : `${terminal.paint.good('recorded')}  ${terminal.paint.dim(`${stream}/${seq}`)}  ${fact_id}\n`,
  )
  return EXIT.yes
}
