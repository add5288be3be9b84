/**
 * The descriptor of a session (S-0): what the person lets the agent do when they start it. Its effects
 * are the globs of the grants in force, or what `--write` and `--delete` name; settles narrow it.
 */
import type { ActionDescriptor } from '../contracts/index.ts'
import type { SessionGround } from '../service/index.ts'
import type { SessionTerms } from './session-files.ts'

interface DescriptorParts {
  readonly actionId: string
  readonly createdAt: string
  readonly agent: string
  readonly scope: readonly string[]
  readonly resources: ActionDescriptor['resources']
  readonly hosts: readonly string[]
  readonly create: readonly string[]
  readonly modify: readonly string[]
  readonly remove: readonly string[]
}

const RETAIN_DAYS = 30

export function sessionDescriptor(parts: DescriptorParts): ActionDescriptor {
  const { actionId, createdAt, agent, scope, resources, hosts } = parts
  const hasNetwork = hosts.length > 0
  return {
    descriptor_version: '1.0',
    action_id: actionId,
    created_at: createdAt,
    created_by: 'ai',
    intent_summary: `Let ${agent} work in a session of writ run.`,
    action_type: 'COMMAND_EXECUTION',
    risk_level: 'MEDIUM',
    scope: {
      filesystem: { paths: [...scope], recursive: true },
      network: hasNetwork ? { required: true, hosts: [...hosts] } : { required: false },
      ui: { required: false },
    },
    resources,
    preconditions: { paths_exist: [], network_available: false, user_idle: false },
    effects: {
      filesystem: {
        create: [...parts.create],
        modify: [...parts.modify],
        delete: [...parts.remove],
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
    audit: { log: true, log_level: 'SUMMARY', retain_days: RETAIN_DAYS },
  }
}

/** What stays the same for all settles, without what an open sandbox adds. */
export function groundOf(terms: SessionTerms): Omit<SessionGround, 'controls' | 'layers'> {
  const { agent, descriptor, argv, cwd, hosts } = terms
  return { agent, descriptor, argv, cwd, egress: hosts }
}
