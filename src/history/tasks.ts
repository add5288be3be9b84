/** How tasks and receipts come onto the record, at the command line and through the service. */
import { randomBytes } from 'node:crypto'
import { invariant, uuidV7 } from '../base/index.ts'
import { type ActTask, field, isObject, type Violation } from '../contracts/index.ts'
import {
  type Caller,
  duplicateReceipt,
  isSameTask,
  judgeReceipt,
  judgeTask,
  reusedTaskKey,
  type TaskAnswer,
  taskKey,
} from '../ledger/index.ts'
import type { Ledger } from '../store/index.ts'
import { findTask, openFact } from './facts.ts'

interface RecordPlace {
  readonly ledger: Ledger
  readonly stream: string
  readonly caller: Caller
  /** Through which door it came. */
  readonly source: string
}

type Recorded<T> =
  | ({ readonly ok: true; readonly seq: number; readonly fact_id: string } & T)
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** Puts a key next to what a task says about itself; null if the task has another one. */
export function keyedTask(document: unknown, key: string): unknown {
  if (!isObject(document)) return document
  const meta = document['meta']
  const own = field(meta, 'idempotency_key')
  if (own !== undefined && own !== key) return null
  return { ...document, meta: { ...(isObject(meta) ? meta : {}), idempotency_key: key } }
}

/** Judges a task and gives it what the host fills in. Records nothing. */
export function newTask(document: unknown, caller: Caller): TaskAnswer {
  const nowMs = Date.now()
  const actTaskId = `act-${uuidV7(nowMs, randomBytes(10))}`
  return judgeTask(document, caller, { actTaskId, createdAtMs: nowMs })
}

/** Records a task; one with a key that was used for the same task is the first one again. */
export async function recordTask(
  { ledger, stream, caller: { principal }, source }: RecordPlace,
  task: ActTask,
): Promise<Recorded<{ readonly act_task_id: string; readonly repeated: boolean }>> {
  const key = taskKey(task)
  const recorded = await ledger.record({
    principal,
    source,
    stream,
    record: { type: 'ao_act_task_v0', payload: task },
    ...(key === null ? {} : { idempotencyKey: key }),
  })
  if (!recorded.ok) return recorded
  const { seq, factId: fact_id, repeated } = recorded.appended
  if (!repeated) return { ok: true, act_task_id: task.act_task_id, seq, fact_id, repeated }
  const [stored] = await ledger.store.read(stream, seq, 1)
  invariant(stored !== undefined, 'a key that was used is of a fact')
  const first = await openFact(ledger, stored.text)
  const act_task_id = String(field(first.payload, 'act_task_id') ?? first.record.refs?.['task'])
  if (isSameTask(first.payload, task)) return { ok: true, act_task_id, seq, fact_id, repeated }
  return { ok: false, violations: [reusedTaskKey(act_task_id, seq)] }
}

/**
 * Judges and records a receipt, which is taken only from the executor that it names. Refuses one that
 * was given before, and names the first.
 */
export async function recordReceipt(
  { ledger, stream, caller, source }: RecordPlace,
  document: unknown,
): Promise<Recorded<unknown>> {
  const id = field(document, 'act_task_id')
  const found = typeof id === 'string' && id !== '' ? await findTask(ledger, stream, id) : null
  const task = found?.payload
  const answer = judgeReceipt(document, caller, task ?? null, Date.now())
  if (!answer.ok) return answer
  const recorded = await ledger.record({
    principal: caller.principal,
    source,
    stream,
    record: { type: 'ao_act_receipt_v0', payload: answer.receipt },
    idempotencyKey: answer.idempotencyKey,
    context: { task },
  })
  if (!recorded.ok) return recorded
  const { seq, factId: fact_id, repeated } = recorded.appended
  if (repeated) return { ok: false, violations: [duplicateReceipt(fact_id, seq)] }
  return { ok: true, seq, fact_id }
}
