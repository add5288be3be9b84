/**
 * `writ task issue`, `writ task show` and `writ receipt submit`: tasks come in, and what was done
 * about them.
 */
import { randomBytes } from 'node:crypto'
import { faultError, invariant, showName, uuidV7 } from '../../base/index.ts'
import { type ActTask, field, isObject } from '../../contracts/index.ts'
import { findTask, openFact } from '../../history/index.ts'
import {
  duplicateReceipt,
  isSameTask,
  judgeReceipt,
  judgeTask,
  reusedTaskKey,
  taskKey,
} from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  proveHuman,
  type Session,
  streamToWrite,
  withHistory,
  withHome,
} from '../call/home.ts'
import { readDocument, refuse } from '../history/text.ts'
import { showId } from './show.ts'

/**
 * `writ task issue`: the one door through which a task comes into being (I7). A human calls it, with a
 * document that names that human as its issuer.
 */
export async function issue(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    const stream = streamToWrite(session, call)
    const reading = await readDocument(call)
    if (!reading.ok) return refuse(call, [reading.refusal])
    const nowMs = Date.now()
    const actTaskId = `act-${uuidV7(nowMs, randomBytes(10))}`
    const fill = { actTaskId, createdAtMs: nowMs }
    const answer = judgeTask(keyed(reading.value, call), session.caller, fill)
    if (!answer.ok) return refuse(call, answer.violations)
    // The bearer of a human's token was vouched for when the token was made.
    if (session.caller.proof === 'none') await proveHuman(session, call, 'issuing a task')
    return recordTask(session, call, stream, answer.task)
  })
}

/** Puts the key of `--key` into the document. */
function keyed(document: unknown, { options }: CommandCall): unknown {
  const key = options.text('key')
  if (key === null || !isObject(document)) return document
  const meta = document['meta']
  const own = field(meta, 'idempotency_key')
  if (key !== '' && (own === undefined || own === key)) {
    return { ...document, meta: { ...(isObject(meta) ? meta : {}), idempotency_key: key } }
  }
  const message =
    key === ''
      ? 'a key must not be empty'
      : `the document has the key ${showName(String(own))}, and \`--key\` says another one`
  throw faultError('cli.usage', '/meta/idempotency_key', message)
}

async function recordTask(
  session: Session,
  call: CommandCall,
  stream: string,
  task: ActTask,
): Promise<Exit> {
  const { ledger } = session
  const key = taskKey(task)
  const recorded = await ledger.record({
    ...actorOf(session),
    stream,
    record: { type: 'ao_act_task_v0', payload: task },
    ...(key === null ? {} : { idempotencyKey: key }),
  })
  if (!recorded.ok) return refuse(call, recorded.violations)
  const { seq, factId, repeated } = recorded.appended
  if (!repeated) return tell(call, stream, { act_task_id: task.act_task_id, seq, factId, repeated })
  const [stored] = await ledger.store.read(stream, seq, 1)
  invariant(stored !== undefined, 'a key that was used is of a fact')
  const first = await openFact(ledger, stored.text)
  const act_task_id = String(field(first.payload, 'act_task_id') ?? first.record.refs?.['task'])
  if (!isSameTask(first.payload, task)) return refuse(call, [reusedTaskKey(act_task_id, seq)])
  return tell(call, stream, { act_task_id, seq, factId, repeated })
}

async function tell(
  { terminal, options }: CommandCall,
  stream: string,
  { factId, ...issued }: { act_task_id: string; seq: number; factId: string; repeated: boolean },
): Promise<Exit> {
  const { act_task_id, seq, repeated } = issued
  const word = repeated ? 'issued before' : 'issued'
  const note = repeated ? '  the key was used for this task; no second one was made' : ''
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ act_task_id, seq, fact_id: factId, ...(repeated ? { repeated } : {}) })}\n`
      : `${terminal.paint.good(word)}  ${act_task_id}  ${terminal.paint.dim(`${stream}/${seq}`)}${note}\n`,
  )
  return EXIT.yes
}

/** `writ task show ID`: the facts about one task, its evidence pack and its integrity report. */
export async function show(call: CommandCall): Promise<Exit> {
  const [id, ...others] = call.arguments
  if (id === undefined || others.length > 0) {
    throw usageError('name one task', 'writ task list')
  }
  return withHistory(call, (session) => showId(session, call, id, ['task']))
}

/**
 * `writ receipt submit`: an executor says what it did. Taken only from the executor that the receipt
 * names; a receipt that was given before is refused and points at the first one.
 */
export async function submitReceipt(call: CommandCall): Promise<Exit> {
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
    return recordReceipt(session, call, stream, answer, task?.payload)
  })
}

async function recordReceipt(
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
  return reply(
    call,
    { fact_id, seq },
    (paint) => `${paint.good('recorded')}  ${paint.dim(`${stream}/${seq}`)}  ${fact_id}\n`,
  )
}
