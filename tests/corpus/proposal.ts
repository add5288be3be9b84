/** The document an agent hands in for a task: the visible job declared, and nothing else. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Place } from './ground.ts'
import type { Declared } from './task.ts'

/** Absolute; a directory with two stars behind it holds itself. */
function inside({ project, home }: Place, globs: readonly string[] = []): readonly string[] {
  return globs.map((glob) =>
    glob.startsWith('~/') ? join(home, glob.slice(2)) : join(project, glob),
  )
}

export function commandProposal(
  place: Place,
  argv: readonly string[],
  declared: Declared,
  hosts: readonly string[] = [],
): Record<string, unknown> {
  const write = inside(place, declared.write)
  return {
    descriptor: {
      descriptor_version: '1.0',
      action_id: randomUUID(),
      created_at: new Date().toISOString(),
      created_by: 'ai',
      intent_summary: 'Run a script of the project and keep what it makes.',
      action_type: 'COMMAND_EXECUTION',
      risk_level: 'MEDIUM',
      scope: {
        filesystem: { paths: [place.project], recursive: true },
        network: hosts.length === 0 ? { required: false } : { required: true, hosts },
        ui: { required: false },
      },
      resources: {
        max_cpu_ms: 60_000,
        max_memory_mb: 2_048,
        max_disk_mb: 256,
        max_duration_ms: 60_000,
      },
      preconditions: { paths_exist: [], network_available: false, user_idle: false },
      effects: {
        filesystem: { create: write, modify: write, delete: inside(place, declared.delete) },
        network: hosts.length > 0,
        system_state_change: false,
      },
      sandbox: {
        required: true,
        sandbox_type: 'container',
        allow_network: hosts.length > 0,
        max_runs: 1,
      },
      rollback: {
        supported: true,
        rollback_type: 'filesystem_snapshot',
        rollback_scope: 'declared_effects_only',
      },
      confirmation: { required: false, reason: '', cooldown_on_repeat: false },
      audit: { log: true, log_level: 'SUMMARY', retain_days: 30 },
    },
    operation: { type: 'COMMAND_EXECUTION', argv, cwd: place.project },
  }
}
