/**
 * Laws that are part of writ: they guard writ itself, stand in tier 0, and no file can take them
 * away or use their names. What they name is also hidden from every run; this is the second lock.
 */
import type { LawDocument } from '../contracts/index.ts'

export const BUILT_IN_LAWS: readonly LawDocument[] = [
  {
    policy_id: 'WRIT_ITSELF',
    tier: 0,
    policy_expr: "touches('**/.writ/**') || touches('**/.local/state/writ/**')",
    priority: 1_000_000,
    conflicts_with: [],
    override_mode: 'merge',
    violation_action: 'block',
  },
]
