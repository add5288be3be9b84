/**
 * What the facts say about one task: its evidence pack, and the report on whether the facts hold
 * together. Both are functions of facts; neither says whether the execution was good.
 */
import { showName } from '../../base/index.ts'
import {
  type ActReceipt,
  actReceipt,
  actTask,
  field,
  isObject,
  validate,
} from '../../contracts/index.ts'
import type { Fact } from '../facts/fact.ts'
import { namesPrincipal, receiptKey } from './act.ts'
import { principalText } from './register.ts'

/** A fact whose payload is at hand, wherever it is kept. */
export interface OpenedFact extends Fact {
  readonly payload: unknown
}

export interface EvidencePack {
  readonly type: 'ao_act_receipt_evidence_pack_v0'
  readonly act_task_id: string
  readonly act_task: unknown
  readonly receipts: readonly unknown[]
  /** Every log that a receipt names, each once, in the order of the receipts. */
  readonly refs: readonly { readonly kind: string; readonly ref: string }[]
}

export function evidencePack(taskId: string, facts: readonly OpenedFact[]): EvidencePack {
  const receipts = receiptsOf(facts).map(({ payload }) => payload)
  const refs = new Map<string, { kind: string; ref: string }>()
  for (const receipt of receipts) {
    const logs = field(receipt, 'logs_refs')
    for (const log of Array.isArray(logs) ? logs : []) {
      const [kind, ref] = [String(field(log, 'kind')), String(field(log, 'ref'))]
      refs.set(JSON.stringify([kind, ref]), { kind, ref })
    }
  }
  return {
    type: 'ao_act_receipt_evidence_pack_v0',
    act_task_id: taskId,
    act_task: taskOf(facts)?.payload ?? null,
    receipts,
    refs: [...refs.values()],
  }
}

export interface IntegrityError {
  readonly code: string
  readonly seq?: number
  readonly message: string
}

export interface IntegrityReport {
  readonly type: 'ao_act_integrity_report_v0'
  readonly ok: boolean
  readonly errors: readonly IntegrityError[]
  readonly receipts_checked: number
}

/** `found` are errors that only the host can see, such as a fact that its tree does not hold. */
export function integrityReport(
  facts: readonly OpenedFact[],
  found: readonly IntegrityError[] = [],
): IntegrityReport {
  const task = taskOf(facts)
  const receipts = receiptsOf(facts)
  const errors = [...found, ...taskErrors(facts), ...receiptErrors(task, receipts)]
  return {
    type: 'ao_act_integrity_report_v0',
    ok: errors.length === 0,
    errors,
    receipts_checked: receipts.length,
  }
}

export type TaskStatus = 'open' | 'executed' | 'not_executed' | 'reported'

/** Returns what the newest receipt with a status says; a receipt may leave the status out. */
export function taskStatus(receipts: readonly unknown[]): TaskStatus {
  if (receipts.length === 0) return 'open'
  return receipts.map(statedBy).findLast((status) => status !== null) ?? 'reported'
}

/** Reports whether one receipt says executed and another one not_executed. */
export function areContradictory(receipts: readonly unknown[]): boolean {
  const stated = new Set(receipts.map(statedBy))
  return stated.has('executed') && stated.has('not_executed')
}

function statedBy(receipt: unknown): 'executed' | 'not_executed' | null {
  const status = field(receipt, 'status')
  return status === 'executed' || status === 'not_executed' ? status : null
}

function taskOf(facts: readonly OpenedFact[]): OpenedFact | undefined {
  return facts.find(({ record }) => record.type === 'ao_act_task_v0')
}

function receiptsOf(facts: readonly OpenedFact[]): readonly OpenedFact[] {
  return facts.filter(({ record }) => record.type === 'ao_act_receipt_v0')
}

function taskErrors(facts: readonly OpenedFact[]): readonly IntegrityError[] {
  const [first, ...others] = facts.filter(({ record }) => record.type === 'ao_act_task_v0')
  if (first === undefined) {
    return [{ code: 'receipt.unknown_task', message: 'the stream holds no task of this id' }]
  }
  const errors = validate(actTask, first.payload).violations.map(({ code, message }) => ({
    code,
    seq: first.seq,
    message,
  }))
  const { principal, seq, payload } = first
  const issuer = field(payload, 'issuer')
  if (principal.kind !== 'human' || !namesPrincipal(issuer, principal)) {
    const message = `the task was recorded for ${showName(principalText(principal))}`
    errors.push({ code: 'task.issuer_mismatch', seq, message })
  }
  for (const other of others) {
    const message = 'the id of the task was used again'
    errors.push({ code: 'task.id_reused', seq: other.seq, message })
  }
  return errors
}

function receiptErrors(
  task: OpenedFact | undefined,
  receipts: readonly OpenedFact[],
): readonly IntegrityError[] {
  const errors: IntegrityError[] = []
  const keys = new Map<string, number>()
  for (const { seq, payload, principal } of receipts) {
    const add = (code: string, message: string): void => void errors.push({ code, seq, message })
    const context = task === undefined ? {} : { task: task.payload }
    const { violations } = validate(actReceipt, payload, context)
    for (const { code, message } of violations) add(code, message)
    if (!isObject(payload) || violations.length > 0) continue
    if (!namesPrincipal(field(payload, 'executor_id'), principal)) {
      const message = `the receipt was recorded for ${showName(principalText(principal))}`
      add('receipt.executor_mismatch', message)
    }
    if (task !== undefined && seq < task.seq) {
      add('receipt.unknown_task', 'the receipt comes before its task')
    }
    // The contract found no violation above.
    const key = receiptKey(payload as ActReceipt)
    const first = keys.get(key)
    if (first !== undefined) add('receipt.duplicate', `the receipt repeats the one at seq ${first}`)
    else keys.set(key, seq)
  }
  return errors
}
