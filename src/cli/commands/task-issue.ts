/**
 * `writ task issue`: the one door through which a task comes into being (I7). A human calls it, with a
 * document that names that human as its issuer.
 */
import { randomBytes } from 'node:crypto'
import { faultError, invariant, showName, uuidV7 } from '../../base/index.ts'
import { type ActTask, field, isObject } from '../../contracts/index.ts'
import { isSameTask, judgeTask, reusedTaskKey, taskKey } from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { actorOf, proveHuman, type Session, streamToWrite, withHome } from '../call/home.ts'
import { openFact } from '../history/facts.ts'
import { readDocument, refuse } from '../history/refusal.ts'

export async function run(call: CommandCall): Promise<Exit> {
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
    return record(session, call, stream, answer.task)
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

async function record(
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
