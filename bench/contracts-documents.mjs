/** Documents of ordinary size that the bench judges. */

export const task = {
  type: 'ao_act_task_v0',
  act_task_id: 'act-0001',
  issuer: { kind: 'human', id: 'ann', namespace: 'north-farm' },
  action_type: 'SPRAY',
  target: { kind: 'field', ref: 'field:north/7' },
  time_window: { start_ts: 1763193600000, end_ts: 1763197200000 },
  parameter_schema: {
    keys: [
      { name: 'rate_l_ha', type: 'number', min: 0, max: 400 },
      { name: 'nozzle', type: 'enum', enum: ['fine', 'medium', 'coarse'] },
      { name: 'at_night', type: 'boolean' },
      { name: 'speed_kmh', type: 'number', min: 2, max: 14 },
    ],
  },
  parameters: { rate_l_ha: 180, nozzle: 'medium', at_night: false, speed_kmh: 8.5 },
  constraints: { speed_kmh: 10, at_night: false },
  created_at_ts: 1763193600000,
  meta: { source: 'console', ticket: 'T-4711', note: 'north field, second pass' },
}

export const descriptor = {
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

/** A small reproducible source of chance. */
function dice(seed) {
  let state = seed
  return (sides) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) % sides
  }
}

const NAMES = [
  'rate_l_ha',
  'nozzle',
  'at_night',
  'speed_kmh',
  'depth_cm',
  'passes',
  'crop',
  'boom_width_m',
]

/** Tasks as a farm has them: one to six parameters of all types, with and without bounds and meta. */
export const tasks = Array.from({ length: 256 }, (_, index) => {
  const roll = dice(index + 1)
  const keys = []
  const parameters = {}
  const constraints = {}
  for (let count = 1 + roll(6); count > 0; count--) {
    const name = NAMES[(index + count) % NAMES.length]
    const kind = roll(3)
    if (kind === 0) {
      keys.push({
        name,
        type: 'number',
        ...(roll(2) ? { min: 0 } : {}),
        ...(roll(2) ? { max: 100 } : {}),
      })
      parameters[name] = roll(100)
      if (roll(2)) constraints[name] = roll(50)
    } else if (kind === 1) {
      keys.push({ name, type: 'enum', enum: ['fine', 'medium', 'coarse'] })
      parameters[name] = 'medium'
    } else {
      keys.push({ name, type: 'boolean' })
      parameters[name] = true
    }
  }
  const { meta, ...rest } = task
  const made = {
    ...rest,
    act_task_id: `act-${index}`,
    target: { kind: ['field', 'area', 'path'][roll(3)], ref: `field:north/${index}` },
    parameter_schema: { keys },
    parameters,
    constraints,
    ...(roll(2) ? { meta } : {}),
  }
  return JSON.parse(JSON.stringify(made))
})

/** The descriptor above under many ids, with no effect, one or two. */
export const descriptors = Array.from({ length: 256 }, (_, index) => {
  const roll = dice(index + 1)
  const [root] = descriptor.scope.filesystem.paths
  const made = {
    ...descriptor,
    action_id: `8f4d0c9e-6f0e-4b43-9f0a-${String(index).padStart(12, '0')}`,
    effects: {
      ...descriptor.effects,
      filesystem: {
        create: roll(2) ? [`${root}/report-${index}.txt`] : [],
        modify: [],
        delete: roll(2) ? [`${root}/*.log`] : [],
      },
    },
  }
  return JSON.parse(JSON.stringify(made))
})
