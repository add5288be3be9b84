/**
 * The proposal that `writ exec` makes of a command: MEDIUM, one run, undone by its snapshot, with the
 * network of the hosts that `--net` and `--send` name and none without. What it may do is what `--write` and `--delete` declare; with neither it is what a human
 * approves when the effects are shown.
 */
import type { ActionDescriptor, Proposal } from '../../contracts/index.ts'

export interface ExecRequest {
  readonly actionId: string
  readonly createdAt: string
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly scope: readonly string[]
  readonly write: readonly string[]
  readonly remove: readonly string[]
  readonly resources: ActionDescriptor['resources']
  /** Variables that `--env` names. */
  readonly env: Readonly<Record<string, string>>
  /** Hosts it may reach; none for no network. */
  readonly hosts: readonly string[]
  /** Those of them that are released before the run, read-only or not. */
  readonly send: readonly string[]
}

const RETAIN_DAYS = 30

export function isDeclaredByApproval({ write, remove }: ExecRequest): boolean {
  return write.length === 0 && remove.length === 0
}

export function execProposal(request: ExecRequest): Proposal {
  const { argv, cwd, env } = request
  const named = Object.keys(env).length === 0 ? {} : { env: { ...env } }
  return {
    descriptor: execDescriptor(request),
    operation: { type: 'COMMAND_EXECUTION', argv: [...argv], cwd, ...named },
  }
}

function execDescriptor(request: ExecRequest): ActionDescriptor {
  const { actionId, createdAt, scope, write, remove, resources, hosts } = request
  const hasNetwork = hosts.length > 0
  const byApproval = isDeclaredByApproval(request)
  return {
    descriptor_version: '1.0',
    action_id: actionId,
    created_at: createdAt,
    created_by: 'ai',
    intent_summary: intentOf(request),
    action_type: 'COMMAND_EXECUTION',
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

/** The program's name only: arguments are in the operation, and their words are not the intent's. */
function intentOf({ argv }: ExecRequest): string {
  const name = argv[0].slice(argv[0].lastIndexOf('/') + 1).replace(/[^\w.+-]/g, '_')
  return `Run ${name.slice(0, 64)} as a command of writ exec.`
}
