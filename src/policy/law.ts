/**
 * Loaded laws of the gate (G-8a): the checked laws of a file with compiled expressions, the built-in
 * laws, and the settings with their defaults.
 */
import type {
  DispatchWay,
  GrantDocument,
  LawAction,
  LawDocument,
  LawSettings,
  LawTier,
  NotifyWay,
} from '../contracts/index.ts'
import type { Expression } from '../expression/index.ts'
import type { Ranked } from './conflict.ts'

export interface Law extends Ranked {
  readonly tier: LawTier
  readonly action: LawAction
  readonly expression: Expression
  /** It speaks of the result or of effects, and so is judged after the rehearsal. */
  readonly readsResult: boolean
  /** How many different humans have to say yes where it asks. */
  readonly approvals: number
  /** Part of writ, not of the file. */
  readonly isBuiltIn: boolean
  /** A default law that the file neither replaces nor turns off. */
  readonly isDefault: boolean
  /** The reason for the law, in its author's words; null if the author gave none. */
  readonly text: string | null
}

/** A law is judged early when it reads no result and is of tier 0 or 1 (G-8). */
export function isEarly({ tier, readsResult }: Law): boolean {
  return tier < 2 && !readsResult
}

export interface GateSettings {
  readonly plainYes: boolean
  /** Of questions about requests. */
  readonly confirmationMinutes: number
  /** Of questions about staged files. */
  readonly questionMinutes: number
  /** The disk space for staged bytes of all questions that wait. */
  readonly questionQuotaMb: number
  readonly cooldownMinutes: number
  readonly ceilings: Readonly<Required<NonNullable<LawSettings['ceilings']>>>
  /** What a session may ask of its model; null without a bound. */
  readonly sessionBudget: {
    readonly requests: number | null
    readonly tokens: number | null
    /** In the unit of the prices. */
    readonly cost: number | null
  }
  /** What models cost; the first that fits counts. */
  readonly modelPrices: NonNullable<LawSettings['model_prices']>
  readonly readOnlyHosts: readonly string[]
  /** Names of variables that runs see besides the usual ones. */
  readonly passEnvironment: readonly string[]
  /** Null: `inside`, and `none` from HIGH. */
  readonly unixSockets: 'inside' | 'none' | null
  readonly auditLevel: 'SUMMARY' | 'DETAILED' | 'FORENSIC'
  readonly retention: RetentionSettings
  /** How tasks reach devices that do not ask for them. */
  readonly dispatch: readonly DispatchWay[]
  /** How people hear of questions that wait. */
  readonly notify: readonly NotifyWay[]
  /** Where links in messages lead; null without a service. */
  readonly notifyLink: string | null
}

/** How long bodies are kept, and how long an act can be taken back. */
export interface RetentionSettings {
  readonly outputsDays: number
  readonly proposalsDays: number
  readonly manifestsDays: number
  readonly undoDays: number
  readonly undoQuotaMb: number
  /** For each actor's acts that no human approved. */
  readonly actorQuotaMb: number
}

export interface LawSet {
  /** Built-in ones first, then those of the file in its order. */
  readonly laws: readonly Law[]
  /** What the file adds to the ephemeral list. */
  readonly ephemeral: readonly string[]
  /** What the file lets actors do unasked, besides or in place of the default grants. */
  readonly grants: readonly GrantDocument[]
  /** Places that the file hides from every run. */
  readonly hidden: readonly string[]
  /** Places that it shows to runs without a network although writ hides them. */
  readonly shown: readonly string[]
  /** The default laws that the file was read over. */
  readonly defaults: readonly LawDocument[]
  /** Ids of default laws and grants that the file turns off. */
  readonly disabled: readonly string[]
  /** The file replaces all defaults: no default law and no default grant holds. */
  readonly isWhole: boolean
  readonly settings: GateSettings
}

/** What holds where the file says nothing. */
export const DEFAULT_SETTINGS: GateSettings = {
  plainYes: true,
  confirmationMinutes: 15,
  questionMinutes: 7 * 24 * 60,
  questionQuotaMb: 4_096,
  cooldownMinutes: 15,
  ceilings: {
    max_cpu_ms: 3_600_000,
    max_memory_mb: 8_192,
    max_disk_mb: 20_480,
    max_duration_ms: 3_600_000,
  },
  sessionBudget: { requests: null, tokens: null, cost: null },
  modelPrices: [],
  readOnlyHosts: [
    'registry.npmjs.org',
    'registry.yarnpkg.com',
    'pypi.org',
    'files.pythonhosted.org',
    'crates.io',
    'index.crates.io',
    'static.crates.io',
    'proxy.golang.org',
    'sum.golang.org',
    'rubygems.org',
    'index.rubygems.org',
    'repo.maven.apache.org',
    'repo1.maven.org',
    'api.nuget.org',
    'deb.debian.org',
  ],
  passEnvironment: [],
  unixSockets: null,
  auditLevel: 'DETAILED',
  retention: {
    outputsDays: 30,
    proposalsDays: 365,
    manifestsDays: 365,
    undoDays: 14,
    undoQuotaMb: 2_048,
    actorQuotaMb: 512,
  },
  dispatch: [],
  notify: [],
  notifyLink: null,
}

export function settingsOf(file: LawSettings | undefined): GateSettings {
  if (file === undefined) return DEFAULT_SETTINGS
  return {
    plainYes: file.plain_yes ?? DEFAULT_SETTINGS.plainYes,
    confirmationMinutes: file.confirmation_minutes ?? DEFAULT_SETTINGS.confirmationMinutes,
    questionMinutes: minutesOf(file.question_ttl) ?? DEFAULT_SETTINGS.questionMinutes,
    questionQuotaMb: file.question_quota_mb ?? DEFAULT_SETTINGS.questionQuotaMb,
    cooldownMinutes: file.cooldown_minutes ?? DEFAULT_SETTINGS.cooldownMinutes,
    ceilings: { ...DEFAULT_SETTINGS.ceilings, ...file.ceilings },
    sessionBudget: { ...DEFAULT_SETTINGS.sessionBudget, ...file.session_budget },
    modelPrices: file.model_prices ?? DEFAULT_SETTINGS.modelPrices,
    readOnlyHosts: file.read_only_hosts ?? DEFAULT_SETTINGS.readOnlyHosts,
    passEnvironment: file.pass_environment ?? DEFAULT_SETTINGS.passEnvironment,
    unixSockets: file.unix_sockets ?? DEFAULT_SETTINGS.unixSockets,
    auditLevel: file.audit_level ?? DEFAULT_SETTINGS.auditLevel,
    retention: retentionOf(file.retention),
    dispatch: file.dispatch ?? DEFAULT_SETTINGS.dispatch,
    notify: file.notify ?? DEFAULT_SETTINGS.notify,
    notifyLink: file.notify_link ?? DEFAULT_SETTINGS.notifyLink,
  }
}

const UNIT_MINUTES = { m: 1, h: 60, d: 24 * 60 } as const

/** Of `30m`, `12h`, `7d`; null without a text. */
function minutesOf(text: string | undefined): number | null {
  if (text === undefined) return null
  // The contract allows these units only.
  return Number(text.slice(0, -1)) * UNIT_MINUTES[text.slice(-1) as keyof typeof UNIT_MINUTES]
}

/** What can still be taken back has its list of changes. */
function retentionOf(file: LawSettings['retention']): RetentionSettings {
  const { retention } = DEFAULT_SETTINGS
  const undoDays = file?.undo_days ?? retention.undoDays
  return {
    outputsDays: file?.outputs_days ?? retention.outputsDays,
    proposalsDays: file?.proposals_days ?? retention.proposalsDays,
    manifestsDays: Math.max(file?.manifests_days ?? retention.manifestsDays, undoDays),
    undoDays,
    undoQuotaMb: file?.undo_quota_mb ?? retention.undoQuotaMb,
    actorQuotaMb: file?.actor_quota_mb ?? retention.actorQuotaMb,
  }
}
