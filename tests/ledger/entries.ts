/** Entries and drafts for the tests of the ledger. */
import {
  type FactDraft,
  type LedgerEntry,
  type PrepareOptions,
  prepareFact,
} from '../../src/ledger/index.ts'

export const ANN = { kind: 'human', id: 'ann', namespace: 'farm' } as const
export const BOB = { kind: 'device', id: 'bob', namespace: 'farm' } as const

export function task(id: string, note = ''): Record<string, unknown> {
  return {
    type: 'ao_act_task_v0',
    act_task_id: id,
    issuer: ANN,
    action_type: 'SEED',
    target: { kind: 'field', ref: 'field-7' },
    time_window: { start_ts: 1, end_ts: 2 },
    parameter_schema: { keys: [{ name: 'depth', type: 'number', min: 0, max: 9 }] },
    parameters: { depth: 3 },
    constraints: {},
    created_at_ts: 5,
    ...(note === '' ? {} : { meta: { note } }),
  }
}

export function receipt(taskId: string): Record<string, unknown> {
  return {
    type: 'ao_act_receipt_v0',
    act_task_id: taskId,
    executor_id: BOB,
    execution_time: { start_ts: 1, end_ts: 2 },
    execution_coverage: { kind: 'field', ref: 'field-7' },
    resource_usage: { fuel_l: 1, electric_kwh: null, water_l: null, chemical_ml: null },
    logs_refs: [{ kind: 'log', ref: 'log-1' }],
    constraint_check: { violated: false, violations: [] },
    observed_parameters: { depth: 3 },
    created_at_ts: 6,
  }
}

export function entry(id: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  const record = { type: 'ao_act_task_v0', payload: task(id) }
  return { stream: 'main', source: 'test', principal: ANN, record, ...more }
}

export function draft(given: LedgerEntry, options: Partial<PrepareOptions> = {}): FactDraft {
  const prepared = prepareFact(given, { salt: () => new Uint8Array(32), ...options })
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.violations))
  return prepared.draft
}

export const taskDraft = (id: string, more: Partial<LedgerEntry> = {}): FactDraft =>
  draft(entry(id, more))
