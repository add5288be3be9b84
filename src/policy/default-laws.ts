/**
 * The law file that a new home begins with: the default laws, so that a person sees them and can change
 * them in place, what is not kept, and the settings.
 *
 * The default laws: what a developer would keep. Each is explained in docs/laws.md; none of them speaks
 * up on a build, a formatter, an ordinary commit or an install. A law file is read over them.
 *
 * What writ itself brings besides: the default grants, and the built-in laws.
 */
import type { GrantDocument, LawDocument } from '../contracts/index.ts'

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

/** Writes one law as a person would. No part of a default law needs quotes in YAML. */
function lawText(law: LawDocument): string {
  const { policy_id, text = '', tier, policy_expr, priority } = law
  const lines = policy_expr.split('\n')
  const expression =
    lines.length === 1
      ? [`policy_expr: ${policy_expr}`]
      : ['policy_expr: |-', ...lines.map((line) => `  ${line}`)]
  const rows = [
    `text: ${text}`,
    `tier: ${tier}`,
    ...expression,
    `priority: ${priority}`,
    'conflicts_with: []',
    `override_mode: ${law.override_mode}`,
    `violation_action: ${law.violation_action}`,
  ]
  return [`  - policy_id: ${policy_id}`, ...rows.map((row) => `    ${row}`), ''].join('\n')
}

export const DEFAULT_LAWS = `# The laws of this home: what the gate refuses or asks about, besides what writ always refuses.
# docs/laws.md explains each of them and the language; \`writ laws check\` tells what is wrong.
# A change applies when a human accepts it (\`writ laws accept\`); until then the accepted laws hold.
#
# The default laws hold also where this file does not name them: a law of the same id replaces one,
# \`disable: [ID]\` turns one off, \`replace: true\` begins with none.
#
# tier 0: the law cannot be set aside. tier 1: a human can do so, for one act or a limited time.
# tier 2: asks. An expression that is true means that the law is broken.
laws:
${DEFAULT_LAW_DOCUMENTS.map(lawText).join('\n')}
# Places whose changes are not kept, besides those that writ knows: dropped, never promoted.
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

const BUILD_OUTPUT = [
  'node_modules',
  'bower_components',
  'dist',
  'build',
  'out',
  'target',
  'coverage',
  'htmlcov',
  'site-packages',
  '__pycache__',
  'obj',
  '.cache',
  '.next',
  '.nuxt',
  '.output',
  '.svelte-kit',
  '.turbo',
  '.parcel-cache',
  '.gradle',
  '.dart_tool',
  '.venv',
  'venv',
  '.tox',
  '.nox',
  '.mypy_cache',
  '.ruff_cache',
  '.pytest_cache',
  '*.egg-info',
  'cmake-build-*',
]

/**
 * What an actor that is no person may do without a question, wherever the laws say nothing else:
 * create files, change what git tracks and what builds make, and what git's ordinary commands do in a
 * `.git` directory. Deletions are asked about, but for files that git leaves while something is under
 * way.
 *
 * Deliberately absent: what git ignores. An ignored file may be the only copy of something; only
 * places whose names say that a tool makes them again are listed.
 */
export const DEFAULT_GRANTS: readonly GrantDocument[] = [
  {
    grant_id: 'CREATE',
    create: ['**'],
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
  {
    grant_id: 'CHANGE_TRACKED',
    change: ['**'],
    tracked: true,
    per_act: { files: 200, mb: 256 },
    per_hour: { files: 10_000, mb: 1_024 },
  },
  {
    grant_id: 'GIT_STATE',
    create: ['**/.git/**'],
    change: ['**/.git/**'],
    delete: ['**/.git/**'],
    git: true,
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
  {
    grant_id: 'BUILD_OUTPUT',
    change: BUILD_OUTPUT.map((name) => `**/${name}/**`),
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
  {
    grant_id: 'OWN_FILES',
    change: ['**'],
    delete: ['**'],
    own: true,
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
]

function writItself(expression: string): readonly LawDocument[] {
  return [
    {
      policy_id: 'WRIT_ITSELF',
      text: 'No act changes the identity, the state or the stages of writ itself.',
      tier: 0,
      policy_expr: expression,
      priority: 1_000_000,
      conflicts_with: [],
      override_mode: 'merge',
      violation_action: 'block',
    },
  ]
}

/**
 * Laws that are part of writ: they guard writ itself, stand in tier 0, and no file can take them
 * away or use their names. What they name is also hidden from every run; this is the second lock.
 * The law file and the rules are not among them: they apply only when a human accepted them.
 */
export const BUILT_IN_LAWS: readonly LawDocument[] = writItself(
  [
    "touches('**/.writ/id')",
    "touches('**/.writ/stage/**')",
    "touches('**/.writ/runs/**')",
    "touches('**/.local/state/writ/**')",
  ].join(' || '),
)

/** As they were up to evaluator 2. */
export const FIRST_BUILT_IN_LAWS: readonly LawDocument[] = writItself(
  "touches('**/.writ/**') || touches('**/.local/state/writ/**')",
)
