/** Tasks and receipts. The service records them itself: devices report often. */
import { faultError } from '../../base/index.ts'
import { keyedTask, newTask, recordReceipt, recordTask } from '../../history/index.ts'
import { RefusedDocument, writableStream } from './actions.ts'
import type { Handler, RouteCall } from './route-call.ts'

export const issueTask: Handler<'issueTask'> = async (call) => {
  const { caller, body } = call
  const answer = newTask(keyed(body.task, body.key), caller)
  if (!answer.ok) throw refusal(answer)
  const recorded = await recordTask(placeOf(call, body.stream), answer.task)
  if (!recorded.ok) throw refusal(recorded)
  const { ok: _, repeated, ...issued } = recorded
  return { value: { ...issued, ...(repeated ? { repeated } : {}) } }
}

export const submitReceipt: Handler<'submitReceipt'> = async (call) => {
  const { receipt, stream } = call.body
  const recorded = await recordReceipt(placeOf(call, stream), receipt)
  if (!recorded.ok) throw refusal(recorded)
  const { seq, fact_id } = recorded
  return { value: { seq, fact_id } }
}

function placeOf(call: Pick<RouteCall, 'home' | 'caller'>, named: string | undefined) {
  const { home, caller } = call
  return { ledger: home.ledger, caller, stream: writableStream(call, named), source: 'api' }
}

function refusal({ violations }: Pick<RefusedDocument, 'violations'>): RefusedDocument {
  return new RefusedDocument(violations[0]?.code ?? '', violations)
}

/** The task with the key that the request names next to it. */
function keyed(task: unknown, key: string | undefined): unknown {
  if (key === undefined) return task
  const document = keyedTask(task, key)
  if (document !== null) return document
  throw faultError('api.malformed', '/key', 'the task has another key')
}
