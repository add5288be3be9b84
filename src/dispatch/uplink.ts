/**
 * Judges what a device says of a task (D-2): over HTTP under its token, or from its topic of a broker. The
 * broker's rules reserve the topic for the device, and the signature is checked all the same: a broker
 * that lies, or lets others in, makes no receipt.
 *
 * INVARIANT (signed): nothing from a topic is recorded without the signature of the device's key in force
 *   over this very message and the nonce of the task's offer. A message without it is not answered.
 */
import {
  DOCUMENT_LIMITS,
  type Fault,
  FaultError,
  fault,
  faultError,
  readJson,
} from '../base/index.ts'
import { type DeviceName, field, isObject } from '../contracts/index.ts'
import { recordReceipt } from '../history/index.ts'
import {
  type AnswerTerms,
  type Caller,
  deviceFault,
  deviceOfTask,
  deviceText,
  HOST_STREAM,
  isSignedBy,
  receiptDigest,
  saidText,
} from '../ledger/index.ts'
import type { DeviceKeys } from './device-keys.ts'
import { claimTask, keepAnswer, startTask } from './device-says.ts'
import {
  type DispatchHost,
  type KnownTask,
  type ReadPlace,
  readTask,
  type TaskPlace,
  unknownTask,
} from './steps.ts'

export interface Uplink {
  readonly host: DispatchHost
  readonly keys: DeviceKeys
  /** The stream of a task that is open; null if none is. */
  readonly streamOf: (taskId: string) => string | null
}

/** What is answered, with the words of a refusal. */
interface UplinkAnswer {
  readonly terms: AnswerTerms
  readonly message: string
}

/** Records what comes from a topic. Fails without an answer if the message is not the device's own. */
export async function takeMessage(
  { host, keys, streamOf }: Uplink,
  device: DeviceName,
  text: string,
): Promise<UplinkAnswer> {
  const message = readMessage(text)
  const { command_id } = message
  const place = await placeOf(host, command_id, streamOf)
  const known = place === null ? null : await readTask(host.ledger, place)
  if (place === null || known === null) throw unknownTask(command_id)
  const proof = await proofOf(keys, device, known, message)
  const caller: Caller = { principal: { kind: 'device', ...device }, streams: null, proof: 'token' }
  return answerTo(host, { ...place, known }, { caller, source: 'mqtt', proof }, message)
}

/** Records what a device says under its token. Fails without an answer if the task is not its own. */
export async function takeStatement(
  host: DispatchHost,
  place: TaskPlace,
  caller: Caller,
  said: DeviceWords,
): Promise<UplinkAnswer> {
  const known = await readTask(host.ledger, place)
  if (known === null) throw unknownTask(place.taskId)
  const foreign = deviceFault(known.task, caller.principal)
  if (foreign !== null) throw faultError(foreign.code, place.taskId, foreign.message)
  return answerTo(host, { ...place, known }, { caller, source: 'api' }, said)
}

interface Said {
  readonly caller: Caller
  readonly source: string
  readonly proof?: { readonly key: string; readonly sig: string }
}

async function answerTo(
  host: DispatchHost,
  place: ReadPlace & Required<Pick<ReadPlace, 'known'>>,
  said: Said,
  words: DeviceWords,
): Promise<UplinkAnswer> {
  const { principal } = said.caller
  const terms = {
    command_id: words.command_id,
    device: deviceText(principal),
    nonce: place.known.state.offer?.nonce ?? '',
    answers: words.status,
    about: aboutOf(words),
  }
  try {
    const lease_until = await carryOut(host, place, said, words)
    return { terms: { ...terms, code: '', lease_until }, message: '' }
  } catch (error) {
    if (!(error instanceof FaultError) || isTrouble(error.fault)) throw error
    const { code, message: words } = error.fault
    return { terms: { ...terms, code, lease_until: '' }, message: words }
  }
}

/** Only what is wrong with the message or its task is a refusal. With a fault of the home the device asks again. */
function isTrouble({ code }: Fault): boolean {
  return !/^(?:dispatch\.|receipt\.|halted$)/.test(code)
}

export interface DeviceWords {
  readonly command_id: string
  readonly status: string
  readonly lease: string
  /** The contract document; null of a claim or a start. */
  readonly receipt: Readonly<Record<string, unknown>> | null
}

interface Message extends DeviceWords {
  readonly key: string
  readonly sig: string
}

function readMessage(text: string): Message {
  const read = readJson(text, DOCUMENT_LIMITS)
  if (!read.ok) throw malformed('the message is not JSON')
  const { value } = read
  const own = field(value, 'writ')
  const textIn = (from: unknown, name: string): string => {
    const found = field(from, name)
    return typeof found === 'string' ? found : ''
  }
  const receipt = field(own, 'receipt')
  const message = {
    command_id: textIn(value, 'command_id'),
    status: textIn(own, 'status'),
    key: textIn(own, 'key'),
    sig: textIn(own, 'sig'),
    lease: textIn(own, 'lease'),
    receipt: isObject(receipt) ? receipt : null,
  }
  if (message.command_id === '' || message.status === '')
    throw malformed('the message names no `command_id`, or no `writ.status`')
  // The signature is about one of them, and what is recorded is judged again by the same rule.
  if (message.receipt !== null && message.status !== 'REPORTED')
    throw malformed('only a message with the status REPORTED has a receipt')
  return message
}

/** What a message is about: its receipt, or its lease. */
function aboutOf({ receipt, lease }: DeviceWords): string {
  return receipt === null ? lease : receiptDigest(receipt)
}

function malformed(message: string): FaultError {
  return faultError('dispatch.message', '', message)
}

/** Any stream of the home may have the task; that of an open one is known. */
async function placeOf(
  { ledger }: DispatchHost,
  taskId: string,
  streamOf: Uplink['streamOf'],
): Promise<TaskPlace | null> {
  const known = streamOf(taskId)
  if (known !== null) return { stream: known, taskId }
  for (const stream of await ledger.store.streams()) {
    if (stream === HOST_STREAM) continue
    const query = { stream, task: taskId, limit: 1, order: 'oldest_first' } as const
    if ((await ledger.store.find(query)).facts.length > 0) return { stream, taskId }
  }
  return null
}

async function proofOf(
  keys: DeviceKeys,
  device: DeviceName,
  { task, state }: KnownTask,
  message: Message,
): Promise<{ readonly key: string; readonly sig: string }> {
  const { command_id, status, key, sig } = message
  const own = deviceOfTask(task)
  if (own === null || deviceText(own) !== deviceText(device)) {
    const words = `the message comes from the topic of ${deviceText(device)}, and the task is for another device`
    throw faultError('dispatch.other_device', command_id, words)
  }
  const nonce = state.offer?.nonce ?? null
  const known = (await keys.read()).current(device)
  const text = saidText({
    command_id,
    device: deviceText(device),
    nonce: nonce ?? '',
    status,
    about: aboutOf(message),
  })
  if (nonce !== null && known === key && isSignedBy(key, text, sig)) return { key, sig }
  const words = `the message from the topic of ${deviceText(device)} is not signed by its key for this offer`
  const hint = known === null ? `writ device enroll ${deviceText(device)} KEY` : undefined
  throw new FaultError(
    fault(
      'dispatch.signature',
      command_id,
      null,
      hint === undefined ? { message: words } : { message: words, hint },
    ),
  )
}

async function carryOut(
  host: DispatchHost,
  place: ReadPlace,
  { caller, source, proof }: Said,
  { command_id, status, lease, receipt }: DeviceWords,
): Promise<string> {
  const saying = { principal: caller.principal, source, ...(proof === undefined ? {} : { proof }) }
  if (status === 'ACKED') return (await claimTask(host, place, saying, lease)).lease_until
  if (status === 'RUNNING') {
    await startTask(host, place, saying, lease)
    return ''
  }
  if (status !== 'REPORTED' || receipt === null)
    throw malformed('the status is not ACKED, RUNNING or REPORTED with a receipt')
  if (field(receipt, 'act_task_id') !== command_id)
    throw malformed('the receipt is of another task than the message')
  const { ledger } = host
  const recorded = await recordReceipt({ ledger, stream: place.stream, caller, source }, receipt)
  if (!recorded.ok) refuseReceipt(recorded.violations)
  await keepAnswer(host, { stream: place.stream, taskId: command_id }, saying, receipt)
  return ''
}

/** One that was given before is recorded; whether it is this one, `keepAnswer` says. */
function refuseReceipt(
  violations: readonly {
    readonly code: Fault['code']
    readonly path: string
    readonly message: string
  }[],
): void {
  const [first] = violations
  if (first === undefined || violations.every(({ code }) => code === 'receipt.duplicate')) return
  throw faultError('dispatch.message', first.path, `${first.code}: ${first.message}`)
}
