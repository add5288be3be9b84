/**
 * The descriptor that writ makes itself of a plain order: MEDIUM, one run in a container, undone by its
 * snapshot. What it may do is what it declares; where nothing is declared, a human declares the shown
 * effects by approving them.
 */
import type { ActionDescriptor } from './descriptor.ts'

interface PlainOrder {
  readonly actionId: string
  readonly createdAt: string
  readonly says: string
  readonly type: ActionDescriptor['action_type']
  readonly scope: readonly string[]
  /** Globs of what may be created or changed. */
  readonly write: readonly string[]
  /** Globs of what may be deleted. */
  readonly remove: readonly string[]
  /** Hosts that it may reach; none for no network. */
  readonly hosts: readonly string[]
  readonly resources: ActionDescriptor['resources']
  readonly isDeclaredByApproval: boolean
}

const RETAIN_DAYS = 30

export function plainDescriptor(order: PlainOrder): ActionDescriptor {
  const { scope, write, remove, resources, hosts, isDeclaredByApproval: byApproval } = order
  const hasNetwork = hosts.length > 0
  return {
    descriptor_version: '1.0',
    action_id: order.actionId,
    created_at: order.createdAt,
    created_by: 'ai',
    intent_summary: order.says,
    action_type: order.type,
    // The host's own floor makes it HIGH with a network.
    risk_level: 'MEDIUM',
    scope: {
      filesystem: { paths: [...scope], recursive: true },
      network: hasNetwork ? { required: true, hosts: [...hosts] } : { required: false },
      ui: { required: false },
    },
    resources,
    preconditions: { paths_exist: [], network_available: false, user_idle: false },
    effects: {
      filesystem: { create: [...write], modify: [...write], delete: [...remove] },
      network: hasNetwork,
      system_state_change: false,
    },
    sandbox: { required: true, sandbox_type: 'container', allow_network: hasNetwork, max_runs: 1 },
    rollback: {
      supported: true,
      rollback_type: 'filesystem_snapshot',
      rollback_scope: byApproval ? 'scope' : 'declared_effects_only',
    },
    confirmation: {
      required: byApproval,
      reason: byApproval ? 'The effects are declared by approving them.' : '',
      cooldown_on_repeat: false,
    },
    audit: { log: true, log_level: 'SUMMARY', retain_days: RETAIN_DAYS },
  }
}

/** The name of a command as an intent says it: without its arguments, whose words are not the intent's. */
export function programName(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1).replace(/[^\w.+-]/g, '_')
  return name.slice(0, 64)
}
