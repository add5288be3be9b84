/**
 * Every setting of a law file and every environment variable that writ reads, in words: the one
 * source of `writ config show`, of docs/reference.md and of the manual page.
 *
 * The settings in force: value and origin of each, and the variables that are set.
 */
import { DEFAULT_SETTINGS, type GateSettings, type LawSet } from '../../policy/index.ts'

interface Setting {
  /** As the law file writes it below `settings`, with dots between the levels. */
  readonly name: string
  readonly says: string
  readonly value: (settings: GateSettings, places: KnownPlaces) => unknown
}

/** Paths that the law file hides and shows. */
type KnownPlaces = Pick<LawSet, 'hidden' | 'shown'>

interface Variable {
  readonly name: string
  readonly says: string
}

export const SETTINGS: readonly Setting[] = [
  {
    name: 'plain_yes',
    says: 'whether a plain yes at the terminal counts where no credential is needed',
    value: ({ plainYes }) => plainYes,
  },
  {
    name: 'confirmation_minutes',
    says: 'how long a question about requests waits before it expires',
    value: ({ confirmationMinutes }) => confirmationMinutes,
  },
  {
    name: 'question_ttl',
    says: 'how long a question about files waits before it expires, such as `7d` or `12h`',
    value: ({ questionMinutes }) => `${questionMinutes}m`,
  },
  {
    name: 'question_quota_mb',
    says: 'the disk space for the staged files of all waiting questions; a question beyond it is refused',
    value: ({ questionQuotaMb }) => questionQuotaMb,
  },
  {
    name: 'cooldown_minutes',
    says: 'how long an undone action is refused to agents and asked about again for people',
    value: ({ cooldownMinutes }) => cooldownMinutes,
  },
  {
    name: 'ceilings.max_cpu_ms',
    says: 'the most processor time a run may ask for',
    value: ({ ceilings }) => ceilings.max_cpu_ms,
  },
  {
    name: 'ceilings.max_memory_mb',
    says: 'the most memory a run may ask for',
    value: ({ ceilings }) => ceilings.max_memory_mb,
  },
  {
    name: 'ceilings.max_disk_mb',
    says: 'the most disk space a run may ask for',
    value: ({ ceilings }) => ceilings.max_disk_mb,
  },
  {
    name: 'ceilings.max_duration_ms',
    says: 'the longest time a run may ask for',
    value: ({ ceilings }) => ceilings.max_duration_ms,
  },
  {
    name: 'session_budget.requests',
    says: 'the most requests that the agent of a session may send to its model',
    value: ({ sessionBudget }) => sessionBudget.requests,
  },
  {
    name: 'session_budget.tokens',
    says: 'the most tokens that the agent of a session may use, in and out',
    value: ({ sessionBudget }) => sessionBudget.tokens,
  },
  {
    name: 'session_budget.cost',
    says: 'what the tokens of a session may cost, by `model_prices` and in their unit',
    value: ({ sessionBudget }) => sessionBudget.cost,
  },
  {
    name: 'model_prices',
    says: 'what a million tokens of a model cost: `model` (`*` matches any letters), `input`, `output`, `cached_input`; the first that fits counts',
    value: ({ modelPrices }) => modelPrices,
  },
  {
    name: 'read_only_hosts',
    says: 'hosts that a run with a network may read from without a question',
    value: ({ readOnlyHosts }) => readOnlyHosts,
  },
  {
    name: 'hidden',
    says: 'paths that no run can read, besides those that are always hidden',
    value: (_settings, { hidden }) => hidden,
  },
  {
    name: 'shown',
    says: 'paths that runs without a network can read although writ hides them',
    value: (_settings, { shown }) => shown,
  },
  {
    name: 'pass_environment',
    says: 'names of environment variables that every run gets',
    value: ({ passEnvironment }) => passEnvironment,
  },
  {
    name: 'unix_sockets',
    says: 'unix sockets in a run: `inside` or `none`; without it `inside`, and `none` from risk HIGH',
    value: ({ unixSockets }) => unixSockets,
  },
  {
    name: 'audit_level',
    says: 'SUMMARY keeps outputs for a day, DETAILED as the retention says, FORENSIC drops nothing',
    value: ({ auditLevel }) => auditLevel,
  },
  {
    name: 'retention.outputs_days',
    says: 'how long outputs of commands are kept',
    value: ({ retention }) => retention.outputsDays,
  },
  {
    name: 'retention.proposals_days',
    says: 'how long whole proposals are kept',
    value: ({ retention }) => retention.proposalsDays,
  },
  {
    name: 'retention.manifests_days',
    says: 'how long the lists of changed files are kept; never less than `undo_days`',
    value: ({ retention }) => retention.manifestsDays,
  },
  {
    name: 'retention.undo_days',
    says: 'how long an action can be undone',
    value: ({ retention }) => retention.undoDays,
  },
  {
    name: 'retention.undo_quota_mb',
    says: 'the disk space for what actions replaced; the newest action can always be undone',
    value: ({ retention }) => retention.undoQuotaMb,
  },
  {
    name: 'retention.actor_quota_mb',
    says: 'the part of that space which acts of one agent may take without a human',
    value: ({ retention }) => retention.actorQuotaMb,
  },
  {
    name: 'dispatch',
    says: 'how tasks reach devices that do not ask for them over HTTP: mqtt, webhook',
    value: ({ dispatch }) => dispatch.map(({ name, kind }) => `${name}:${kind}`),
  },
  {
    name: 'notify',
    says: 'how people hear of questions that wait: webhook, ntfy, slack, email, desktop',
    value: ({ notify }) => notify.map(({ name, kind }) => `${name}:${kind}`),
  },
  {
    name: 'notify_link',
    says: 'the address of the console, where links in messages lead; the service’s own without it',
    value: ({ notifyLink }) => notifyLink,
  },
]

/** Variables that change what writ itself does; what a run sees is another list (docs/sandbox.md). */
export const VARIABLES: readonly Variable[] = [
  { name: 'WRIT_HOME', says: 'the home to use, instead of the nearest `.writ` upwards' },
  {
    name: 'WRIT_TOKEN',
    says: 'the token of the principal that calls; without it the local human; an empty one is refused',
  },
  {
    name: 'WRIT_URL',
    says: 'the registered service that carries commands out, instead of a home of this machine',
  },
  {
    name: 'WRIT_READS_BELOW',
    says: 'the directory below which documents may name files; the service sets it',
  },
  {
    name: 'WRIT_SESSION',
    says: 'the id of the session that a program runs in; `writ run` sets it',
  },
  {
    name: 'WRIT_SESSION_CHANNEL',
    says: 'the channel of the session that a hook runs in; `writ run` sets it',
  },
  { name: 'XDG_STATE_HOME', says: 'where ledgers and keys are kept; `~/.local/state` without it' },
  { name: 'NO_COLOR', says: 'no colours in any output' },
  { name: 'TERM', says: '`dumb` means no colours and no cursor movement' },
  { name: 'PAGER', says: 'the program that shows long lists at a question' },
  { name: 'PGPASSWORD', says: 'the password of the PostgreSQL role, where the store needs one' },
  { name: 'PGPASSFILE', says: 'the file with PostgreSQL passwords; `~/.pgpass` without it' },
]

export const DEFAULTS: Known = { settings: DEFAULT_SETTINGS, hidden: [], shown: [] }
const SECRET = /TOKEN|PASSWORD/

export interface SettingRow {
  readonly name: string
  readonly value: unknown
  readonly origin: 'default' | 'laws' | 'environment'
  readonly says: string
}

interface Known extends KnownPlaces {
  readonly settings: GateSettings
}

/** Returns one row a setting. `file` is what the law file has below `settings`. */
export function settingRows({ settings, ...places }: Known, file: unknown): readonly SettingRow[] {
  return SETTINGS.map(({ name, says, value }) => ({
    name,
    value: value(settings, places),
    origin: isNamed(file, name.split('.')) ? 'laws' : 'default',
    says,
  }))
}

/** Returns one row a variable that is set. A token is never shown. */
export function variableRows(env: NodeJS.ProcessEnv): readonly SettingRow[] {
  return VARIABLES.flatMap(({ name, says }) => {
    const value = env[name]
    if (value === undefined || value === '') return []
    const shown = SECRET.test(name) ? '(set)' : value
    return [{ name, value: shown, origin: 'environment' as const, says }]
  })
}

function isNamed(file: unknown, steps: readonly string[]): boolean {
  const [first, ...rest] = steps
  if (first === undefined) return true
  if (typeof file !== 'object' || file === null || !Object.hasOwn(file, first)) return false
  return isNamed(Reflect.get(file, first), rest)
}

/** The page docs/reference.md. */
export function referencePage(): string {
  const rows = settingRows(DEFAULTS, null).map(
    ({ name, value, says }) => `| \`${name}\` | ${says} | ${defaultText(value)} |`,
  )
  const variables = VARIABLES.map(({ name, says }) => `| \`${name}\` | ${says} |`)
  return `# Settings and variables

\`writ config show\` prints the values in force here, \`--origin\` also where each comes from. \`writ config reference\` prints this page.

## Settings of the law file

Written below \`settings:\` in \`.writ/laws.yaml\`, and in force after \`writ laws accept\`. See [laws.md](laws.md).

| setting | meaning | default |
|---|---|---|
${rows.join('\n')}

## Environment variables

| variable | meaning |
|---|---|
${variables.join('\n')}
`
}

function defaultText(value: unknown): string {
  if (value === null) return '(not set)'
  if (Array.isArray(value)) return value.map((one) => `\`${one}\``).join(' ')
  return `\`${value}\``
}
