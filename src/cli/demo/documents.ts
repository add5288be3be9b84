/** The documents of the tour: one of each kind, small enough to read. */

export const TASK = {
  type: 'ao_act_task_v0',
  act_task_id: 'act-2026-0042',
  issuer: { kind: 'human', id: 'ann', namespace: 'north-farm' },
  action_type: 'IRRIGATE',
  target: { kind: 'field', ref: 'field:north/7' },
  time_window: { start_ts: 1763193600000, end_ts: 1763208000000 },
  parameter_schema: {
    keys: [
      { name: 'water_mm', type: 'number', min: 0, max: 40 },
      { name: 'method', type: 'enum', enum: ['drip', 'pivot'] },
    ],
  },
  parameters: { water_mm: 12, method: 'drip' },
  constraints: { water_mm: 15 },
  created_at_ts: 1763190000000,
}

/** The same task after an edit that broke it. */
export const BROKEN_TASK = {
  ...TASK,
  issuer: { ...TASK.issuer, kind: 'ai' },
  action_type: 'IRIGATE',
  parameters: { water_mm: 90, method: 'sprinkle' },
  meta: { planner: { priority: 'high' } },
}

/** What the pump says it did. */
export const RECEIPT = {
  type: 'ao_act_receipt_v0',
  act_task_id: TASK.act_task_id,
  executor_id: { kind: 'device', id: 'pump-3', namespace: 'north-farm' },
  execution_time: { start_ts: 1763193600000, end_ts: 1763200800000 },
  execution_coverage: { kind: 'field', ref: 'field:north/7' },
  resource_usage: { fuel_l: null, electric_kwh: 4.2, water_l: 1200, chemical_ml: null },
  logs_refs: [{ kind: 'controller', ref: 'log:pump-3/2026-0042' }],
  status: 'executed',
  constraint_check: { violated: false, violations: [] },
  observed_parameters: { water_mm: 12, method: 'drip' },
  created_at_ts: 1763200900000,
  meta: { idempotency_key: 'pump-3/run-17' },
}

export const DESCRIPTOR = {
  descriptor_version: '1.0',
  action_id: '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
  created_at: '2026-11-15T08:00:00Z',
  created_by: 'ai',
  intent_summary: 'Remove old log files from the tmp directory of the project.',
  action_type: 'COMMAND_EXECUTION',
  risk_level: 'MEDIUM',
  scope: {
    filesystem: { paths: ['/home/ann/shop/tmp'], recursive: true },
    network: { required: false },
    ui: { required: false },
  },
  resources: { max_cpu_ms: 2000, max_memory_mb: 256, max_disk_mb: 50, max_duration_ms: 5000 },
  preconditions: {
    paths_exist: ['/home/ann/shop/tmp'],
    network_available: false,
    user_idle: false,
  },
  effects: {
    filesystem: { create: [], modify: [], delete: ['/home/ann/shop/tmp/*.log'] },
    network: false,
    system_state_change: false,
  },
  sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
  rollback: {
    supported: true,
    rollback_type: 'filesystem_snapshot',
    rollback_scope: 'declared_effects_only',
  },
  confirmation: { required: true, reason: 'Deletes multiple files', cooldown_on_repeat: true },
  audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
}

/** An agent that wants more than it says: no rollback, a host path, an effect outside its scope. */
export const GREEDY_DESCRIPTOR = {
  ...DESCRIPTOR,
  effects: {
    ...DESCRIPTOR.effects,
    filesystem: { create: [], modify: [], delete: ['/home/ann/shop/src/**'] },
  },
  rollback: { ...DESCRIPTOR.rollback, supported: false },
}

/** A plan as models write them: other key names, foreign ids, a START → … → END chain. */
export const FOREIGN_PLAN = {
  plan: { title: '  Publish the field report ' },
  tasks: [
    { id: 'START', name: 'start' },
    { id: 'collect', name: 'Collect readings', type: 'action', agent: 'xiaobo' },
    { id: 'write', name: 'Write the report', type: 'ACTION', prio: '2' },
    { id: 'END', name: 'end' },
  ],
  links: [
    { from: 'START', to: 'collect' },
    { from: 'collect', to: 'write', type: 'depends' },
    { from: 'write', to: 'END' },
  ],
}

/** A review that says APPROVE below the line. */
export const KIND_REVIEW = {
  schema_version: 'xiaojing_review_v1',
  task_id: 'collect',
  review_target: 'NODE',
  total_score: 84,
  action_required: 'APPROVE',
  summary: 'Good enough.',
  breakdown: [{ dimension: 'overall', score: 84, max_score: 100, issues: [] }],
  suggestions: [],
}
