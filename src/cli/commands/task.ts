/**
 * `writ task issue`, `writ task show` and `writ receipt submit`: tasks come in, and what was done
 * about them.
 */
import { faultError } from '../../base/index.ts'
import type { ActTask } from '../../contracts/index.ts'
import { keyedTask, newTask, recordReceipt, recordTask } from '../../history/index.ts'
import {
  deviceOfTask,
  deviceText,
  isDevice,
  occurredAtText,
  type Register,
} from '../../ledger/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { proveHuman, streamToWrite, withHistory, withHome } from '../call/home.ts'
import { readDocument, refuse } from '../history/text.ts'
import { showId } from './show.ts'

const KEY_PLACE = '/meta/idempotency_key'

/**
 * `writ task issue`: the one door through which a task comes into being (I7). A human calls it, with a
 * document that names that human as its issuer.
 */
export async function issue(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    const stream = streamToWrite(session, call)
    const reading = await readDocument(call)
    if (!reading.ok) return refuse(call, [reading.refusal])
    const answer = newTask(keyed(reading.value, call), session.caller)
    if (!answer.ok) return refuse(call, answer.violations)
    // The bearer of a human's token was vouched for when the token was made.
    if (session.caller.proof === 'none') await proveHuman(session, call, 'issuing a task')
    const recorded = await recordTask({ ...session, stream, source: 'cli' }, answer.task)
    if (!recorded.ok) return refuse(call, recorded.violations)
    await warnOfDevice(call, answer.task, session.register)
    return tell(call, stream, recorded)
  })
}

/**
 * A task may be issued before its device is known, and after its window: then it is a record of work that was
 * done otherwise. Both are offered to no one.
 */
async function warnOfDevice(
  { terminal }: CommandCall,
  task: ActTask,
  { principals }: Register,
): Promise<void> {
  const device = deviceOfTask(task)
  if (device === null) return
  const name = deviceText(device)
  const { end_ts } = task.time_window
  if (end_ts <= Date.now())
    await terminal.err(
      `the window of the task ended at ${occurredAtText(end_ts)}, so ${name} is not offered it: issue it again with a later \`time_window\`\n`,
    )
  if (principals.some(({ principal }) => isDevice(principal, device))) return
  await terminal.err(
    `no device ${name} is registered here; until then no one can take the task: writ principal add device:${name}\n`,
  )
}

/** Puts the key of `--key` into the document. */
function keyed(document: unknown, { options }: CommandCall): unknown {
  const key = options.text('key')
  if (key === null || document === null) return document
  if (key === '') throw faultError('cli.usage', KEY_PLACE, 'a key must not be empty')
  const task = keyedTask(document, key)
  if (task !== null) return task
  const message = 'the document has another key than `--key` says'
  throw faultError('cli.usage', KEY_PLACE, message)
}

async function tell(
  { terminal, options }: CommandCall,
  stream: string,
  issued: { act_task_id: string; seq: number; fact_id: string; repeated: boolean },
): Promise<Exit> {
  const { act_task_id, seq, fact_id, repeated } = issued
  const word = repeated ? 'issued before' : 'issued'
  const note = repeated ? '  the key was used for this task; no second one was made' : ''
  await terminal.out(
    options.isOn('json')
      ? `${JSON.stringify({ act_task_id, seq, fact_id, ...(repeated ? { repeated } : {}) })}\n`
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
    const recorded = await recordReceipt({ ...session, stream, source: 'cli' }, reading.value)
    if (!recorded.ok) return refuse(call, recorded.violations)
    const { fact_id, seq } = recorded
    return reply(
      call,
      { fact_id, seq },
      (paint) => `${paint.good('recorded')}  ${paint.dim(`${stream}/${seq}`)}  ${fact_id}\n`,
    )
  })
}
