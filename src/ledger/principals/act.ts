/**
 * Tasks and receipts at the service (C-4d): what the host adds to a document before it
 * is judged, and what only the host can judge, because it knows the caller and the facts.
 *
 * INVARIANT (one door, I7): `judgeTask` takes a caller and refuses all but humans. Nothing here, and
 * nothing that imports this, makes a task out of a verdict, a receipt or a schedule.
 * INVARIANT (nothing else counts): of a caller only kind, id and namespace are looked at.
 */
import { digestDocument, show, showName } from '../../base/index.ts'
import {
  type ActReceipt,
  type ActTask,
  actReceipt,
  actTask,
  field,
  isObject,
  type JsonObject,
  type Violation,
  validate,
} from '../../contracts/index.ts'
import type { Principal } from '../facts/fact.ts'
import { deviceOfTask, deviceText, isDevice } from './dispatch.ts'
import { type Caller, humanFault, principalText } from './register.ts'

export interface TaskFill {
  readonly actTaskId: string
  readonly createdAtMs: number
}

export type TaskAnswer =
  | { readonly ok: true; readonly task: ActTask }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** Overwrites the fields that the host fills in, and judges the task. */
export function judgeTask(document: unknown, caller: Caller, fill: TaskFill): TaskAnswer {
  const filled = isObject(document)
    ? { ...document, act_task_id: fill.actTaskId, created_at_ts: fill.createdAtMs }
    : document
  const violations = [
    ...validate(actTask, filled).violations,
    ...issuerViolations(filled, caller),
    ...kindViolations(caller),
    ...deviceNameViolations(filled),
  ]
  if (violations.length > 0) return { ok: false, violations }
  return { ok: true, task: filled as ActTask } // Judged in the lines above.
}

/**
 * Returns the ledger's key of a task: the same for one issuer and one key of theirs. Null for a task
 * without `meta.idempotency_key`, which is a task of its own each time.
 */
export function taskKey(task: ActTask): string | null {
  const key = clientKey({ ...task })
  return key === null ? null : `task:${digestDocument([plain(task.issuer), key])}`
}

/** Reports whether two tasks say the same but for what the host fills in. */
export function isSameTask(first: unknown, second: unknown): boolean {
  const content = (task: unknown): string =>
    isObject(task)
      ? digestDocument({ ...task, act_task_id: null, created_at_ts: null })
      : digestDocument(null)
  return content(first) === content(second)
}

export function reusedTaskKey(firstId: string, seq: number): Violation {
  return {
    code: 'task.key_reused',
    path: '/meta/idempotency_key',
    message: `this key was used for another task: ${showName(firstId)} (seq ${seq})`,
    hint: `choose another key, or look at the first one: writ task show ${firstId}`,
  }
}

function kindViolations(caller: Caller): readonly Violation[] {
  const refused = humanFault(caller, 'issuing a task')
  if (refused === null) return []
  const { code, message } = refused
  return [{ code, path: '', message }]
}

function issuerViolations(document: unknown, { principal }: Caller): readonly Violation[] {
  if (!isObject(document)) return []
  if (namesPrincipal(field(document, 'issuer'), principal)) return []
  const message = `the issuer is not the caller, who is ${showName(principalText(principal))}`
  const mismatch = { code: 'task.issuer_mismatch', path: '/issuer', message } as const
  if (principal.kind !== 'human') return [mismatch]
  return [{ ...mismatch, hint: `"issuer": ${JSON.stringify(plain(principal))}` }]
}

/** A name that no device can have would leave the task on no list of what is due. */
function deviceNameViolations(task: unknown): readonly Violation[] {
  const named = field(field(task, 'meta'), 'device_id')
  if (named === undefined || deviceOfTask(task) !== null) return []
  return [
    {
      code: 'dispatch.device',
      path: '/meta/device_id',
      message: `${showName(String(named))} is not the name of a device`,
      hint: 'ID, or ID@NAMESPACE, of letters, digits, `.`, `_` and `-`',
    },
  ]
}

export type ReceiptAnswer =
  | {
      readonly ok: true
      readonly receipt: ActReceipt
      /** Of the ledger: the same for the same task, executor and key of the client. */
      readonly idempotencyKey: string
    }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** `task` is the task that the receipt names, null when the stream has none of that id. */
export function judgeReceipt(
  document: unknown,
  caller: Caller,
  task: unknown,
  createdAtMs: number,
): ReceiptAnswer {
  const filled = isObject(document) ? { ...document, created_at_ts: createdAtMs } : document
  const violations = [
    ...documentViolations(filled, task),
    ...executorViolations(filled, caller),
    ...taskViolations(filled, task),
    ...deviceViolations(task, caller),
    ...keyViolations(filled),
  ]
  if (violations.length > 0) return { ok: false, violations }
  const receipt = filled as ActReceipt // Judged in the lines above.
  return { ok: true, receipt, idempotencyKey: receiptKey(receipt) }
}

/** Validates a receipt. Without its task, skips the check for free strings, which needs the task. */
function documentViolations(document: unknown, task: unknown): readonly Violation[] {
  const found = validate(actReceipt, document, task === null ? {} : { task }).violations
  return task === null ? found.filter(({ code }) => code !== 'receipt.free_string') : found
}

function executorViolations(document: unknown, { principal }: Caller): readonly Violation[] {
  if (!isObject(document)) return []
  if (namesPrincipal(field(document, 'executor_id'), principal)) return []
  const message = `the executor is not the caller, who is ${showName(principalText(principal))}`
  return [{ code: 'receipt.executor_mismatch', path: '/executor_id', message }]
}

function taskViolations(document: unknown, task: unknown): readonly Violation[] {
  const id = field(document, 'act_task_id')
  if (task !== null || typeof id !== 'string') return []
  const message = `no task has the id ${show(id, '')}`
  return [{ code: 'receipt.unknown_task', path: '/act_task_id', message }]
}

/** A task for a device has receipts of that device, and of humans who looked at what was done. */
function deviceViolations(task: unknown, { principal }: Caller): readonly Violation[] {
  const device = deviceOfTask(task)
  if (device === null || principal.kind === 'human' || isDevice(principal, device)) return []
  const message = `the task is for the device ${showName(deviceText(device))}`
  return [{ code: 'receipt.other_device', path: '/act_task_id', message }]
}

function keyViolations(document: unknown): readonly Violation[] {
  if (!isObject(document) || clientKey(document) !== null) return []
  return [
    {
      code: 'receipt.idempotency_key',
      path: '/meta/idempotency_key',
      message: 'the receipt has no idempotency key, so a repeated one could not be recognised',
      hint: 'choose one for each execution: "meta": { "idempotency_key": "…" }',
    },
  ]
}

function clientKey(document: JsonObject): string | null {
  const key = field(field(document, 'meta'), 'idempotency_key')
  return typeof key === 'string' && key !== '' ? key : null
}

/** A digest, because the ledger's keys are short tokens and the client's are any text. */
export function receiptKey(receipt: ActReceipt): string {
  const { act_task_id, executor_id, meta } = receipt
  const key = field(meta, 'idempotency_key')
  return `receipt:${digestDocument([act_task_id, plain(executor_id), key ?? null])}`
}

export function duplicateReceipt(firstFactId: string, seq: number): Violation {
  return {
    code: 'receipt.duplicate',
    path: '/meta/idempotency_key',
    message: `this receipt was given before, as fact ${show(firstFactId, '')} (seq ${seq})`,
  }
}

export function namesPrincipal(value: unknown, { kind, id, namespace }: Principal): boolean {
  return (
    field(value, 'kind') === kind &&
    field(value, 'id') === id &&
    field(value, 'namespace') === namespace
  )
}

function plain({ kind, id, namespace }: { kind: string; id: string; namespace: string }) {
  return { kind, id, namespace }
}
