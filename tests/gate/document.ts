/** Proposals for tests: sound ones over a project, in which a test changes what it is about. */
import { randomUUID } from 'node:crypto'
import type { Place } from '../cli-gate/place.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests break documents on purpose
type Loose = any

export interface Wanted {
  readonly create?: readonly string[]
  readonly modify?: readonly string[]
  readonly remove?: readonly string[]
  readonly scope?: readonly string[]
  readonly confirm?: boolean
  readonly risk?: string
  readonly resources?: Readonly<Record<string, number>>
  readonly pathsExist?: readonly string[]
  readonly intent?: string
}

export function descriptor(place: Place, type: string, wanted: Wanted): Loose {
  const inside = (paths: readonly string[] = []): string[] =>
    paths.map((path) => (path.startsWith('/') ? path : `${place.project}/${path}`))
  return {
    descriptor_version: '1.0',
    action_id: randomUUID(),
    created_at: new Date().toISOString(),
    created_by: 'ai',
    intent_summary: wanted.intent ?? 'Change some files of the project.',
    action_type: type,
    risk_level: wanted.risk ?? 'MEDIUM',
    scope: {
      filesystem: { paths: inside(wanted.scope ?? ['work']), recursive: true },
      network: { required: false },
      ui: { required: false },
    },
    resources: {
      max_cpu_ms: 10_000,
      max_memory_mb: 512,
      max_disk_mb: 64,
      max_duration_ms: 20_000,
      ...wanted.resources,
    },
    preconditions: {
      paths_exist: inside(wanted.pathsExist),
      network_available: false,
      user_idle: false,
    },
    effects: {
      filesystem: {
        create: inside(wanted.create),
        modify: inside(wanted.modify),
        delete: inside(wanted.remove),
      },
      network: false,
      system_state_change: false,
    },
    sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
    rollback: {
      supported: true,
      rollback_type: 'filesystem_snapshot',
      rollback_scope: 'declared_effects_only',
    },
    confirmation: {
      required: wanted.confirm ?? false,
      reason: wanted.confirm === true ? 'Deletes files' : '',
      cooldown_on_repeat: true,
    },
    audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
  }
}

export function operationProposal(place: Place, operation: Loose, wanted: Wanted): Loose {
  return { descriptor: descriptor(place, operation.type, wanted), operation }
}

export function commandProposal(place: Place, script: string, wanted: Wanted): Loose {
  const cwd = `${place.project}/work`
  const operation = { type: 'COMMAND_EXECUTION', argv: ['sh', '-c', script], cwd }
  return operationProposal(place, operation, wanted)
}

export function composite(place: Place, children: readonly Loose[], wanted: Wanted): Loose {
  return { descriptor: descriptor(place, 'MULTI_STEP_COMPOSITE', wanted), children }
}

/** The same wish with another id and time. */
export function again(proposal: Loose): Loose {
  const copy = structuredClone(proposal)
  copy.descriptor.action_id = randomUUID()
  copy.descriptor.created_at = new Date().toISOString()
  return copy
}
