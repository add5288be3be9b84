/** The two policies that seed 004 §3.3 writes out: the time floor wins over going on. */
import type { Flow } from '../../src/contracts/index.ts'

export const SEED_POLICIES: NonNullable<Flow['policies']> = [
  {
    policy_id: 'TIME_HARD_FLOOR',
    policy_expr: 'state.cumulative_duration < state.minimum_duration',
    priority: 100,
    conflicts_with: ['PIPELINE_CONTINUITY'],
    override_mode: 'hard_override',
    violation_action: 'rerun',
  },
  {
    policy_id: 'PIPELINE_CONTINUITY',
    policy_expr: 'state.non_time_issue == true',
    priority: 60,
    conflicts_with: ['TIME_HARD_FLOOR'],
    override_mode: 'soft_override',
    violation_action: 'continue_with_workaround',
  },
]
