/**
 * A whole proposal of each kind, filled in for a directory: what a person changes first instead of
 * writing fifteen groups of fields. Each passes admission as it is printed.
 */
import type { ActionKind, Operation, Proposal } from '../../contracts/index.ts'

interface ExampleGround {
  /** Absolute; the scope of the example. */
  readonly directory: string
  readonly nowMs: number
  readonly newId: () => string
}

interface Sample {
  readonly says: string
  readonly operation: (at: (name: string) => string) => Operation
  readonly create?: readonly string[]
  readonly modify?: readonly string[]
  readonly delete?: readonly string[]
  readonly hosts?: readonly string[]
  readonly ui?: true
}

const SAMPLES: Readonly<Record<Exclude<ActionKind, 'MULTI_STEP_COMPOSITE'>, Sample>> = {
  FILE_READ: {
    says: 'Read README.md.',
    operation: (at) => ({ type: 'FILE_READ', path: at('README.md') }),
  },
  FILE_WRITE: {
    says: 'Write a note.',
    operation: (at) => ({ type: 'FILE_WRITE', path: at('note.txt'), content: 'hello\n' }),
    create: ['note.txt'],
    modify: ['note.txt'],
  },
  FILE_DELETE: {
    says: 'Delete a note.',
    operation: (at) => ({ type: 'FILE_DELETE', paths: [at('note.txt')] }),
    delete: ['note.txt'],
  },
  FILE_MOVE: {
    says: 'Rename a note.',
    operation: (at) => ({ type: 'FILE_MOVE', from: at('note.txt'), to: at('kept.txt') }),
    create: ['kept.txt'],
    delete: ['note.txt'],
  },
  DIRECTORY_CREATE: {
    says: 'Make a directory for reports.',
    operation: (at) => ({ type: 'DIRECTORY_CREATE', path: at('reports') }),
    create: ['reports'],
  },
  DIRECTORY_DELETE: {
    says: 'Delete the directory of reports.',
    operation: (at) => ({ type: 'DIRECTORY_DELETE', path: at('reports'), recursive: true }),
    delete: ['reports', 'reports/**'],
  },
  COMMAND_EXECUTION: {
    says: 'Run a command that writes its date to a file.',
    operation: (at) => ({
      type: 'COMMAND_EXECUTION',
      argv: ['sh', '-c', 'date > today.txt'],
      cwd: at(''),
    }),
    create: ['today.txt'],
    modify: ['today.txt'],
  },
  PACKAGE_INSTALL: {
    says: 'Install one package.',
    operation: (at) => ({
      type: 'PACKAGE_INSTALL',
      manager: 'npm',
      packages: ['left-pad@1.3.0'],
      cwd: at(''),
    }),
    create: ['node_modules/**', 'package.json', 'package-lock.json'],
    modify: ['node_modules/**', 'package.json', 'package-lock.json'],
    hosts: ['registry.npmjs.org'],
  },
  PACKAGE_REMOVE: {
    says: 'Remove one package.',
    operation: (at) => ({
      type: 'PACKAGE_REMOVE',
      manager: 'npm',
      packages: ['left-pad'],
      cwd: at(''),
    }),
    modify: ['node_modules/**', 'package.json', 'package-lock.json'],
    delete: ['node_modules/**'],
  },
  NETWORK_REQUEST: {
    says: 'Send one request and keep the answer.',
    operation: (at) => ({
      type: 'NETWORK_REQUEST',
      method: 'POST',
      url: 'https://api.example.com/notes',
      headers: { 'content-type': 'application/json' },
      body: '{"note":"hello"}',
      save_to: at('answer.json'),
    }),
    create: ['answer.json'],
    hosts: ['api.example.com'],
  },
  UI_AUTOMATION: {
    says: 'Open a page of the project and take a picture of it.',
    operation: (at) => ({
      type: 'UI_AUTOMATION',
      start_url: `file://${at('page.html')}`,
      steps: [
        { action: 'wait_for', selector: 'h1' },
        { action: 'screenshot', save_to: at('page.png') },
      ],
    }),
    create: ['page.png'],
    modify: ['page.png'],
    ui: true,
  },
  CONFIG_CHANGE: {
    says: 'Set one value of a settings file.',
    operation: (at) => ({
      type: 'CONFIG_CHANGE',
      path: at('settings.json'),
      format: 'json',
      set: { '/port': 8080 },
      unset: [],
    }),
    create: ['settings.json'],
    modify: ['settings.json'],
  },
}

export function exampleProposal(kind: ActionKind, ground: ExampleGround): Proposal {
  if (kind !== 'MULTI_STEP_COMPOSITE') return single(SAMPLES[kind], kind, ground)
  const children = [
    single(SAMPLES.FILE_WRITE, 'FILE_WRITE', ground),
    single(SAMPLES.DIRECTORY_CREATE, 'DIRECTORY_CREATE', ground),
  ]
  const both: Sample = {
    says: 'Write a note, then make a directory for reports.',
    operation: SAMPLES.FILE_WRITE.operation,
    create: ['note.txt', 'reports'],
    modify: ['note.txt'],
  }
  const { descriptor } = single(both, kind, ground)
  const resources = scaled(RESOURCES, children.length)
  return { descriptor: { ...descriptor, resources }, children }
}

const RESOURCES = {
  max_cpu_ms: 60_000,
  max_memory_mb: 1_024,
  max_disk_mb: 200,
  max_duration_ms: 60_000,
} as const

/** A composite has room for all of its children. */
function scaled(resources: typeof RESOURCES, times: number): Proposal['descriptor']['resources'] {
  return {
    max_cpu_ms: resources.max_cpu_ms * times,
    max_memory_mb: resources.max_memory_mb * times,
    max_disk_mb: resources.max_disk_mb * times,
    max_duration_ms: resources.max_duration_ms * times,
  }
}

function single(sample: Sample, kind: ActionKind, ground: ExampleGround): Proposal {
  const { directory, nowMs, newId } = ground
  const at = (name: string): string => (name === '' ? directory : `${directory}/${name}`)
  const all = (names: readonly string[] = []): string[] => names.map(at)
  const { hosts, ui = false } = sample
  const hasNetwork = hosts !== undefined
  const descriptor: Proposal['descriptor'] = {
    descriptor_version: '1.0',
    action_id: newId(),
    created_at: new Date(nowMs).toISOString(),
    created_by: 'ai',
    intent_summary: sample.says,
    action_type: kind,
    risk_level: hasNetwork || ui ? 'HIGH' : 'MEDIUM',
    scope: {
      filesystem: { paths: [directory], recursive: true },
      network: hasNetwork ? { required: true, hosts: [...hosts] } : { required: false },
      ui: { required: ui },
    },
    resources: RESOURCES,
    preconditions: { paths_exist: [], network_available: false, user_idle: false },
    effects: {
      filesystem: {
        create: all(sample.create),
        modify: all(sample.modify),
        delete: all(sample.delete),
      },
      network: hasNetwork,
      system_state_change: false,
    },
    sandbox: { required: true, sandbox_type: 'container', allow_network: hasNetwork, max_runs: 1 },
    rollback: {
      supported: true,
      rollback_type: 'filesystem_snapshot',
      rollback_scope: 'declared_effects_only',
    },
    confirmation: { required: false, reason: '', cooldown_on_repeat: false },
    audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
  }
  return { descriptor, operation: sample.operation(at) }
}
