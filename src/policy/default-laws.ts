/**
 * The laws that a new home begins with: what a developer would keep. Each is explained, one by one,
 * in docs/laws.md; none of them speaks up on a build, a formatter, an ordinary commit or an install.
 */
export const DEFAULT_LAWS = `# The laws of this home: what the gate refuses or asks about, besides what writ always refuses.
# docs/laws.md explains each of them and the language; \`writ laws check\` tells what is wrong.
# After a change a human registers them again; until then nothing here is obeyed.
#
# tier 0: nobody can set the law aside. tier 1: a human can, for one act or a limited time.
# tier 2: asks. An expression that is true means that the law is broken.
laws:
  # Nothing that its own author calls critical.
  - policy_id: NO_CRITICAL
    tier: 1
    policy_expr: descriptor.risk_level == 'CRITICAL'
    priority: 100
    conflicts_with: []
    override_mode: hard_override
    violation_action: block

  # Keys and logins are not an agent's to write.
  - policy_id: NO_CREDENTIALS
    tier: 1
    policy_expr: |-
      touches('~/.ssh/**') || touches('~/.gnupg/**') || touches('~/.aws/**') ||
      touches('~/.kube/**') || touches('~/.config/gcloud/**') || touches('~/.config/gh/**') ||
      touches('~/.docker/config.json') || touches('~/.netrc') || touches('~/.git-credentials')
    priority: 90
    conflicts_with: []
    override_mode: hard_override
    violation_action: block

  # Whatever weighs HIGH, by its own word or by what it did, is a person's decision.
  - policy_id: ASK_HIGH
    tier: 2
    policy_expr: descriptor.risk_level == 'HIGH'
    priority: 80
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

  # More deletions than one reads at a glance.
  - policy_id: ASK_MANY_DELETIONS
    tier: 2
    policy_expr: result.counts.deleted > 20
    priority: 70
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

  # A repository loses its history.
  - policy_id: ASK_REPOSITORY_GONE
    tier: 2
    policy_expr: deletes('**/.git') || deletes('**/.git/HEAD')
    priority: 60
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

  # Local settings and secrets that no repository holds a copy of.
  - policy_id: ASK_ENV_FILES
    tier: 2
    policy_expr: |-
      modifies('**/.env') || deletes('**/.env') ||
      modifies('**/.env.local') || deletes('**/.env.local')
    priority: 50
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

  # Other files of the scope changed while a person was being asked.
  - policy_id: ASK_INPUTS_CHANGED
    tier: 2
    policy_expr: result.findings.exists(f, f.code == 'promote.inputs_changed')
    priority: 40
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

  # An actor whose acts had to be taken back again and again.
  - policy_id: ASK_AFTER_ROLLBACKS
    tier: 2
    policy_expr: context.actor_kind != 'human' && context.recent_rollbacks >= 3
    priority: 30
    conflicts_with: []
    override_mode: merge
    violation_action: confirm

# Places whose changes nobody keeps, besides those that writ knows: dropped, never promoted.
ephemeral: []

settings:
  # A plain yes at the terminal counts for what can be taken back, up to HIGH.
  plain_yes: true
  # How long a question waits: about files, and about requests that would be sent.
  question_ttl: 7d
  confirmation_minutes: 15
  cooldown_minutes: 15
  # How long outputs are kept, and how long an act can be taken back. Facts are kept for ever.
  retention:
    outputs_days: 30
    undo_days: 14
    undo_quota_mb: 2048
`
