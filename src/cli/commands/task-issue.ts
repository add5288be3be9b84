/**
 * `writ task issue`: the one door through which a task comes into being (I7). A human calls it, with a
 * document that names that human as its issuer.
 */
import { randomBytes } from 'node:crypto'
import { invariant, uuidV7 } from '../../base/index.ts'
import { judgeTask } from '../../ledger/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { readDocument, refuse } from '../history/refusal.ts'
import { actorOf, proveHuman, type Session, streamToWrite, withHome } from '../home.ts'

export async function run(call: Call): Promise<Exit> {
  return withHome(call, async (session) => {
    const stream = streamToWrite(session, call)
    const reading = await readDocument(call)
    if (!reading.ok) return refuse(call, [reading.refusal])
    const nowMs = Date.now()
    const actTaskId = `act-${uuidV7(nowMs, randomBytes(10))}`
    const fill = { actTaskId, createdAtMs: nowMs }
    const answer = judgeTask(reading.value, session.caller, fill)
    if (!answer.ok) return refuse(call, answer.violations)
    // The bearer of a human's token was vouched for when the token was made.
    if (session.caller.proof === 'none') await proveHuman(session, call, 'issuing a task')
    return record(session, call, stream, answer.task)
  })
}

async function record(
  session: Session,
  call: Call,
  stream: string,
  task: { readonly act_task_id: string },
): Promise<Exit> {
  const { ledger } = session
  const entry = { ...actorOf(session), stream, record: { type: 'ao_act_task_v0', payload: task } }
  const recorded = await ledger.record(entry)
  if (!recorded.ok) return refuse(call, recorded.violations)
  const { seq, factId } = recorded.appended
  invariant(!recorded.appended.repeated, 'a task is recorded without an idempotency key')
  const { act_task_id } = task
  await call.terminal.out(
    call.options.isOn('json')
      ? `${JSON.stringify({ act_task_id, seq, fact_id: factId })}\n`
      : `${call.terminal.paint.good('issued')}  ${act_task_id}  ${call.terminal.paint.dim(`${stream}/${seq}`)}\n`,
  )
  return EXIT.yes
}
