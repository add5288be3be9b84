/**
 * The default laws: what a developer would keep. Each is explained in docs/laws.md; none of them speaks
 * up on a build, a formatter, an ordinary commit or an install. A law file is read over them.
 */
import type { LawDocument } from '../contracts/index.ts'

const ASKS = {
  tier: 2,
  conflicts_with: [],
  override_mode: 'merge',
  violation_action: 'confirm',
} as const

const BLOCKS = {
  tier: 1,
  conflicts_with: [],
  override_mode: 'hard_override',
  violation_action: 'block',
} as const

export const DEFAULT_LAW_DOCUMENTS: readonly LawDocument[] = [
  {
    ...copied(BLOCKS),
    policy_id: 'NO_CRITICAL',
    text: 'Nothing that its own author calls critical.',
    policy_expr: "descriptor.risk_level == 'CRITICAL'",
    priority: 100,
  },
  {
    ...copied(BLOCKS),
    policy_id: 'NO_CREDENTIALS',
    text: 'Keys and logins are not an agent\u2019s to write.',
    policy_expr: [
      "touches('~/.ssh/**') || touches('~/.gnupg/**') || touches('~/.aws/**') ||",
      "touches('~/.kube/**') || touches('~/.config/gcloud/**') || touches('~/.config/gh/**') ||",
      "touches('~/.docker/config.json') || touches('~/.netrc') || touches('~/.git-credentials')",
    ].join('\n'),
    priority: 90,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_HIGH',
    text: 'What weighs HIGH, by its own word or by what it did, is a person\u2019s decision.',
    policy_expr: "descriptor.risk_level == 'HIGH'",
    priority: 80,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_MANY_DELETIONS',
    text: 'More deletions than one reads at a glance.',
    policy_expr: 'result.counts.deleted > 20',
    priority: 70,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_REPOSITORY_GONE',
    text: 'A repository loses its history.',
    policy_expr: "deletes('**/.git') || deletes('**/.git/HEAD')",
    priority: 60,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_ENV_FILES',
    text: 'Local settings and secrets that no repository holds a copy of.',
    policy_expr: [
      "modifies('**/.env') || deletes('**/.env') ||",
      "modifies('**/.env.local') || deletes('**/.env.local')",
    ].join('\n'),
    priority: 50,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_INPUTS_CHANGED',
    text: 'Other files of the scope changed while a person was being asked.',
    policy_expr: "result.findings.exists(f, f.code == 'promote.inputs_changed')",
    priority: 40,
  },
  {
    ...copied(ASKS),
    policy_id: 'ASK_AFTER_ROLLBACKS',
    text: 'An actor whose acts had to be taken back again and again.',
    policy_expr: "context.actor_kind != 'human' && context.recent_rollbacks >= 3",
    priority: 30,
  },
]

/** Lists of a document can be written to, so each has its own. */
function copied<T extends { readonly conflicts_with: readonly never[] }>(common: T) {
  return { ...common, conflicts_with: [] }
}
