/**
 * What is proposed for an attempt of a participant: written by the host, from what the node declares.
 * A process is a command; what a participant elsewhere asked for is one act, or a composite of all of
 * them in their order. Secrets are no part of it.
 */
import { randomUUID } from 'node:crypto'
import { faultError } from '../../base/index.ts'
import {
  type ActionDescriptor,
  type ActionKind,
  matchesPath,
  type Operation,
  type Proposal,
  parseGlob,
} from '../../contracts/index.ts'
import type { AttemptOrder, ParticipantCommand } from '../surface/attempt-surface.ts'

type Resources = ActionDescriptor['resources']

/** Where a limit is not said; the host's ceilings are above all. */
const DEFAULTS = { seconds: 3_600, memoryMb: 4_096, diskMb: 2_048 }
/** So many processors may be busy all the time before their time is up first. */
const PROCESSORS = 4

export function attemptResources(
  { seconds, memoryMb, diskMb }: AttemptOrder['limits'],
  ceilings: Resources,
): Resources {
  const whole = (value: number, ceiling: number): number =>
    Math.max(1, Math.min(Math.ceil(value), ceiling))
  const durationMs = (seconds ?? DEFAULTS.seconds) * 1_000
  return {
    max_cpu_ms: whole(durationMs * PROCESSORS, ceilings.max_cpu_ms),
    max_memory_mb: whole(memoryMb ?? DEFAULTS.memoryMb, ceilings.max_memory_mb),
    max_disk_mb: whole(diskMb ?? DEFAULTS.diskMb, ceilings.max_disk_mb),
    max_duration_ms: whole(durationMs, ceilings.max_duration_ms),
  }
}

export interface AttemptTerms {
  readonly order: Pick<AttemptOrder, 'intent' | 'workspace' | 'writes'>
  readonly createdAt: string
  readonly resources: Resources
}

export function attemptDescriptor(
  { order, createdAt, resources }: AttemptTerms,
  actionId: string,
  kind: ActionKind,
): ActionDescriptor {
  const writes = order.writes.map((glob) => `${order.workspace}/${glob}`)
  return {
    descriptor_version: '1.0',
    action_id: actionId,
    created_at: createdAt,
    created_by: 'ai',
    intent_summary: order.intent,
    action_type: kind,
    risk_level: 'MEDIUM',
    scope: {
      filesystem: { paths: [order.workspace], recursive: true },
      network: { required: false },
      ui: { required: false },
    },
    resources,
    preconditions: { paths_exist: [], network_available: false, user_idle: false },
    effects: {
      filesystem: { create: writes, modify: [...writes], delete: [...writes] },
      network: false,
      system_state_change: false,
    },
    sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
    rollback: {
      supported: true,
      rollback_type: 'filesystem_snapshot',
      rollback_scope: 'declared_effects_only',
    },
    confirmation: { required: false, reason: '', cooldown_on_repeat: false },
    audit: { log: true, log_level: 'DETAILED', retain_days: 30 },
  }
}

/** Returns the proposal for the participant's process. Its input is text, as the record needs. */
export function commandProposal(
  terms: AttemptTerms,
  actionId: string,
  { argv, cwd, env, stdin }: Pick<ParticipantCommand, 'argv' | 'cwd' | 'env' | 'stdin'>,
): Proposal {
  return {
    descriptor: attemptDescriptor(terms, actionId, 'COMMAND_EXECUTION'),
    operation: {
      type: 'COMMAND_EXECUTION',
      argv: [...argv],
      cwd,
      ...(Object.keys(env).length === 0 ? {} : { env: { ...env } }),
      ...(stdin.length === 0 ? {} : { stdin: textOf(stdin, actionId) }),
    },
  }
}

/** Exactly: what is recorded is what was run. */
function textOf(bytes: Uint8Array, actionId: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw faultError('attempt.order', actionId, 'the input of a participant is UTF-8 text')
  }
}

function operationProposal(terms: AttemptTerms, actionId: string, operation: Operation): Proposal {
  return { descriptor: attemptDescriptor(terms, actionId, operation.type), operation }
}

/** All that a participant elsewhere asked for; at least one operation. */
export function operationsProposal(
  terms: AttemptTerms,
  actionId: string,
  operations: readonly Operation[],
): Proposal {
  const [only] = operations
  if (only !== undefined && operations.length === 1) {
    return operationProposal(terms, actionId, only)
  }
  const share = { ...terms, resources: shareOf(terms.resources, operations.length) }
  return {
    descriptor: attemptDescriptor(terms, actionId, 'MULTI_STEP_COMPOSITE'),
    children: operations.map((operation) => operationProposal(share, randomUUID(), operation)),
  }
}

/** Caps hold for all together; on paper each has its part, since parts may not exceed the whole. */
function shareOf(resources: Resources, count: number): Resources {
  const part = (value: number): number => Math.floor(value / count)
  return {
    max_cpu_ms: part(resources.max_cpu_ms),
    max_memory_mb: part(resources.max_memory_mb),
    max_disk_mb: part(resources.max_disk_mb),
    max_duration_ms: part(resources.max_duration_ms),
  }
}

/** More operations would not each have a part of the caps, and would not fit into one document. */
export function operationsMax(resources: Resources): number {
  return Math.min(200, ...Object.values(resources))
}

/**
 * Where an operation writes by its own word, held against what its node may write. Paths that no
 * glob of the node holds; what a command writes is seen by the rehearsal.
 */
export function undeclaredPaths(
  operation: Operation,
  { workspace, writes }: Pick<AttemptOrder, 'workspace' | 'writes'>,
): readonly string[] {
  const globs = writes.flatMap((glob) => parseGlob(`${workspace}/${glob}`) ?? [])
  return writtenPaths(operation).filter((path) => !globs.some((glob) => matchesPath(glob, path)))
}

function writtenPaths(operation: Operation): readonly string[] {
  switch (operation.type) {
    case 'FILE_WRITE':
    case 'DIRECTORY_CREATE':
    case 'DIRECTORY_DELETE':
    case 'CONFIG_CHANGE':
      return [operation.path]
    case 'FILE_DELETE':
      return operation.paths
    case 'FILE_MOVE':
      return [operation.from, operation.to]
    case 'COMMAND_EXECUTION':
    case 'FILE_READ':
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
    case 'NETWORK_REQUEST':
    case 'UI_AUTOMATION':
      return []
    default:
      return operation satisfies never
  }
}
