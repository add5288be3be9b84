/** Tasks and receipts at the service: who may, what the host fills, what is refused, what facts say. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../facts/fact.ts'
import { judgeReceipt, judgeTask, receiptKey } from './act.ts'
import { evidencePack, integrityReport, type OpenedFact, taskStatus } from './act-evidence.ts'
import type { Caller } from './register.ts'

const ANN: Principal = { kind: 'human', id: 'ann', namespace: 'farm' }
const PUMP: Principal = { kind: 'device', id: 'pump', namespace: 'farm' }

const caller = (principal: Principal): Caller => ({ principal, streams: null, proof: 'token' })

const TASK = {
  type: 'ao_act_task_v0',
  issuer: ANN,
  action_type: 'SEED',
  target: { kind: 'field', ref: 'field-7' },
  time_window: { start_ts: 1, end_ts: 2 },
  parameter_schema: { keys: [{ name: 'row', type: 'enum', enum: ['wide', 'narrow'] }] },
  parameters: { row: 'wide' },
  constraints: {},
}
const FILLED = { ...TASK, act_task_id: 'act-1', created_at_ts: 5 }
const RECEIPT = {
  type: 'ao_act_receipt_v0',
  act_task_id: 'act-1',
  executor_id: PUMP,
  execution_time: { start_ts: 1, end_ts: 2 },
  execution_coverage: { kind: 'field', ref: 'field-7' },
  resource_usage: { fuel_l: 1, electric_kwh: null, water_l: null, chemical_ml: null },
  logs_refs: [{ kind: 'log', ref: 'log-1' }],
  constraint_check: { violated: false, violations: [] },
  observed_parameters: { row: 'narrow' },
  meta: { idempotency_key: 'k' },
}

const FILL = { actTaskId: 'act-1', createdAtMs: 5 }

function taskCodes(document: unknown, who: Principal): readonly string[] {
  const answer = judgeTask(document, caller(who), FILL)
  return answer.ok ? [] : answer.violations.map(({ code }) => code)
}

function receiptCodes(document: unknown, who: Principal, task: unknown): readonly string[] {
  const answer = judgeReceipt(document, caller(who), task, 6)
  return answer.ok ? [] : answer.violations.map(({ code }) => code)
}

describe('judgeTask', () => {
  it('fills what the host fills, over what was there, and leaves the document alone', () => {
    const document = Object.freeze({ ...TASK, act_task_id: 'mine', created_at_ts: 'later' })
    expect(judgeTask(document, caller(ANN), FILL)).toEqual({ ok: true, task: FILLED })
    expect(document.act_task_id).toBe('mine')
  })

  it('refuses a name that no device can have', () => {
    for (const device_id of ['pump 3', '', 'pump/3', 7])
      expect(taskCodes({ ...TASK, meta: { device_id } }, ANN)).toEqual(['dispatch.device'])
    expect(taskCodes({ ...TASK, meta: { device_id: 'pump-3@north' } }, ANN)).toEqual([])
  })

  it('refuses every kind but a human, and every issuer but the caller', () => {
    for (const kind of ['ai', 'script', 'device'] as const) {
      const who = { ...ANN, kind }
      expect(taskCodes({ ...TASK, issuer: who }, who)).toEqual([
        'task.issuer_kind',
        'principal.not_human',
      ])
    }
    for (const issuer of [PUMP, { ...ANN, id: 'bob' }, { ...ANN, namespace: 'x' }, null, 'ann']) {
      expect(taskCodes({ ...TASK, issuer }, ANN)).toContain('task.issuer_mismatch')
    }
  })

  it('is total, and lets no actor through, no matter the document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('ai', 'script', 'device'), (value, kind) => {
        const who = { ...ANN, kind } as Principal
        expect(taskCodes(value, who)).toContain('principal.not_human')
        expect(judgeReceipt(value, caller(who), null, 6).ok).toBe(false)
      }),
    )
  })
})

describe('judgeReceipt', () => {
  it('judges observed strings by the task', () => {
    expect(receiptCodes(RECEIPT, PUMP, FILLED)).toEqual([])
    const free = { ...RECEIPT, observed_parameters: { row: 'odd' } }
    expect(receiptCodes(free, PUMP, FILLED)).toEqual(['receipt.enum_not_in_list'])
    expect(receiptCodes(RECEIPT, PUMP, null)).toEqual(['receipt.unknown_task'])
  })

  it('tells every reason at once', () => {
    const bare = { ...RECEIPT, logs_refs: [], meta: { idempotency_key: '' } }
    expect(receiptCodes(bare, ANN, null)).toEqual([
      'receipt.logs_refs_min',
      'receipt.executor_mismatch',
      'receipt.unknown_task',
      'receipt.idempotency_key',
    ])
  })

  it('gives one ledger key to one task, executor and key, and another to any other', () => {
    const key = (more: object): string => {
      const answer = judgeReceipt({ ...RECEIPT, ...more }, caller(PUMP), FILLED, 6)
      if (!answer.ok) throw new Error(JSON.stringify(answer.violations))
      return answer.idempotencyKey
    }
    const changed = { status: 'not_executed', logs_refs: [{ kind: 'log', ref: 'other' }] }
    expect(key(changed)).toBe(key({}))
    const keys = ['k', 'k2', 'K', ' k', '键'].map((text) =>
      key({ meta: { idempotency_key: text } }),
    )
    expect(new Set(keys).size).toBe(keys.length)
    for (const one of keys) expect(one).toMatch(/^[\x21-\x7e]{1,200}$/)
    const receipt = { ...RECEIPT, created_at_ts: 6 } as Parameters<typeof receiptKey>[0]
    expect(receiptKey({ ...receipt, act_task_id: 'act-2' })).not.toBe(receiptKey(receipt))
  })
})

describe('what facts say about a task', () => {
  const fact = (seq: number, type: string, payload: unknown, principal: Principal): OpenedFact => ({
    seq,
    fact_id: `00000000-0000-7000-8000-${String(seq).padStart(12, '0')}`,
    occurred_at: '2026-11-15T08:00:00.000Z',
    source: 'test',
    stream: 'main',
    principal,
    record: { type, payload },
    payload,
  })
  const task = fact(0, 'ao_act_task_v0', FILLED, ANN)
  const given = { ...RECEIPT, created_at_ts: 6 }
  const receipt = fact(1, 'ao_act_receipt_v0', given, PUMP)
  const errors = (...facts: OpenedFact[]) => integrityReport(facts).errors.map(({ code }) => code)

  it('is whole for a task and its receipts', () => {
    expect(integrityReport([task, receipt])).toEqual({
      type: 'ao_act_integrity_report_v0',
      ok: true,
      errors: [],
      receipts_checked: 1,
    })
    const second = fact(2, 'ao_act_receipt_v0', { ...given, meta: { idempotency_key: 'b' } }, PUMP)
    const pack = evidencePack('act-1', [task, receipt, second])
    expect(pack.receipts).toHaveLength(2)
    expect(pack.refs).toEqual([{ kind: 'log', ref: 'log-1' }])
  })

  it('tells what was written around the service', () => {
    expect(errors(receipt)).toContain('receipt.unknown_task')
    expect(errors(fact(0, 'ao_act_task_v0', FILLED, PUMP))).toEqual(['task.issuer_mismatch'])
    expect(errors(task, fact(1, 'ao_act_receipt_v0', given, ANN))).toEqual([
      'receipt.executor_mismatch',
    ])
    expect(errors(task, receipt, { ...receipt, seq: 2 })).toEqual(['receipt.duplicate'])
    expect(errors(task, receipt, { ...task, seq: 2 })).toEqual(['task.id_reused'])
    expect(errors({ ...task, seq: 5 }, receipt)).toEqual(['receipt.unknown_task'])
    const broken = { ...given, resource_usage: {} }
    expect(errors(task, fact(1, 'ao_act_receipt_v0', broken, PUMP))).toContain(
      'receipt.resource_usage_keys',
    )
  })

  it('takes the status from the newest receipt', () => {
    expect(taskStatus([])).toBe('open')
    expect(taskStatus([{}])).toBe('reported')
    expect(taskStatus([{ status: 'not_executed' }, { status: 'executed' }])).toBe('executed')
  })
})
