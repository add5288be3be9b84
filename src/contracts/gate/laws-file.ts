/**
 * `law_file_v1`: the laws of a home as a person writes them (`laws.yaml`): laws, grants, additions to
 * the ephemeral list, and the settings of the gate. Closed; every list may be absent but `laws`.
 *
 * Deliberately absent: whether the expressions of the laws can be read, and which of them read a
 * result. That is for the room that judges them, which also tells conflicts across phases.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import { closed } from '../flow/shapes.ts'
import { OVERRIDE_MODES } from '../flow/vocabulary.ts'
import type { Contract } from '../kernel/contract.ts'
import { DispatchWaySchema } from './dispatch.ts'
import { LAWS_FILE_CHECKS } from './laws-file-checks.ts'
import { NotifyWaySchema } from './notification.ts'

export const LAW_ACTIONS = ['block', 'confirm', 'alert'] as const
export const SOCKET_PROFILES = ['inside', 'none'] as const

/** Laws are named in codes (`law.NO_CRITICAL`), so an id is one plain word. */
const PolicyId = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
  'x-code': { pattern: 'policy_id' },
  'x-says': 'a word of letters, digits, `_` and `-` that begins with a letter',
})

const Approvals = Type.Integer({
  minimum: 2,
  maximum: 9,
  'x-code': { minimum: 'approvals', maximum: 'approvals' },
})

const LawSchema = Type.Object(
  {
    policy_id: PolicyId,
    tier: Type.Integer({ minimum: 0, maximum: 2, 'x-code': 'tier' }),
    policy_expr: Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } }),
    priority: Type.Integer(),
    conflicts_with: Type.Optional(Type.Array(PolicyId)),
    override_mode: Type.Enum([...OVERRIDE_MODES]),
    violation_action: Type.Enum([...LAW_ACTIONS]),
    /** How many different humans have to say yes; one without it. */
    approvals: Type.Optional(Approvals),
    /** Why the law exists, for the people who run into it. */
    text: Type.Optional(Type.String({ pattern: '\\S', 'x-code': { pattern: 'empty' } })),
  },
  closed,
)

const Globs = Type.Array(Type.String())

/** How much one act, or all acts of an actor within an hour, may create, change and delete. */
const Bound = Type.Object(
  {
    files: Type.Integer({ minimum: 1, 'x-code': { minimum: 'range' } }),
    mb: Type.Integer({ minimum: 1, 'x-code': { minimum: 'range' } }),
  },
  closed,
)

/** What an actor that is no person may do without a question. */
const GrantSchema = Type.Object(
  {
    grant_id: PolicyId,
    /** Kinds (`ai`), kinds with a name (`ai:builder`), agents, or sessions; every actor without it. */
    actors: Type.Optional(Type.Array(Type.String())),
    create: Type.Optional(Globs),
    change: Type.Optional(Globs),
    delete: Type.Optional(Globs),
    /** Places outside the workspace that the actor may name as its scope. */
    scope: Type.Optional(Globs),
    /** Of changed files only those that git tracks. */
    tracked: Type.Optional(Type.Boolean()),
    /** In `.git` directories only what git's ordinary commands do there. */
    git: Type.Optional(Type.Boolean()),
    /** Only entries that the same session created. */
    own: Type.Optional(Type.Boolean()),
    per_act: Type.Optional(Bound),
    per_hour: Type.Optional(Bound),
    until: Type.Optional(Type.String()),
  },
  closed,
)

const Minutes = (minimum: number) =>
  Type.Integer({ minimum, maximum: 43_200, 'x-code': { minimum: 'range', maximum: 'range' } })
const Cap = Type.Integer({ minimum: 1, 'x-code': { minimum: 'range' } })

const Money = Type.Number({
  minimum: 0,
  maximum: 1_000_000,
  'x-code': { minimum: 'range', maximum: 'range' },
})

/** What a million tokens of a model cost, in a unit that the person chooses. */
const ModelPriceSchema = Type.Object(
  {
    /** The name of a model; a star matches any letters. */
    model: Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } }),
    input: Money,
    output: Money,
    /** Of input that the model's host had kept from before; `input` without it. */
    cached_input: Type.Optional(Money),
  },
  closed,
)

const AUDIT_LEVELS = ['SUMMARY', 'DETAILED', 'FORENSIC'] as const

const Days = (minimum: number) =>
  Type.Integer({ minimum, maximum: 36_500, 'x-code': { minimum: 'range', maximum: 'range' } })

/** How long bodies are kept (L-5); facts are kept for ever. */
const RetentionSchema = Type.Object(
  {
    /** What commands printed. */
    outputs_days: Type.Optional(Days(0)),
    /** Proposals with the values that facts do not show. */
    proposals_days: Type.Optional(Days(1)),
    /** The whole lists of what was changed; never shorter than the undo period. */
    manifests_days: Type.Optional(Days(1)),
    /** How long an act can be taken back. */
    undo_days: Type.Optional(Days(1)),
    /** The room for what was displaced; the newest act can always be taken back. */
    undo_quota_mb: Type.Optional(Cap),
    /** The same for each actor's acts that no human approved; one that would need more is asked. */
    actor_quota_mb: Type.Optional(Cap),
  },
  closed,
)

export const SettingsSchema = Type.Object(
  {
    /** Whether a plain yes at the terminal counts, within its limits. */
    plain_yes: Type.Optional(Type.Boolean()),
    /** How long a question about requests waits; then it expires. */
    confirmation_minutes: Type.Optional(Minutes(1)),
    /** How long a question about staged files waits, such as `7d`; then it expires. */
    question_ttl: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,3}[mhd]$',
        'x-code': { pattern: 'range' },
        'x-says': 'a number of minutes, hours or days, such as `7d`',
      }),
    ),
    /** The disk space for staged bytes of all questions that wait. */
    question_quota_mb: Type.Optional(Cap),
    /** How long an intent that was rolled back is not tried again. */
    cooldown_minutes: Type.Optional(Minutes(0)),
    /** What no descriptor may ask beyond. */
    ceilings: Type.Optional(
      Type.Object(
        {
          max_cpu_ms: Type.Optional(Cap),
          max_memory_mb: Type.Optional(Cap),
          max_disk_mb: Type.Optional(Cap),
          max_duration_ms: Type.Optional(Cap),
        },
        closed,
      ),
    ),
    /** What a session may ask of its model, without an option or with one; absent: no bound. */
    session_budget: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(Cap),
          tokens: Type.Optional(Cap),
          /** In the unit of `model_prices`. */
          cost: Type.Optional(Money),
        },
        closed,
      ),
    ),
    /** What models cost; the first entry whose pattern fits the name of a model counts. */
    model_prices: Type.Optional(Type.Array(ModelPriceSchema, { maxItems: 200 })),
    /** Hosts that only give: commands may read from them without a question. */
    read_only_hosts: Type.Optional(Type.Array(Type.String())),
    /** Names of variables that every run sees besides the usual ones; a star ends a name. */
    pass_environment: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Za-z_][A-Za-z0-9_]*\\*?$',
          'x-says': 'the name of a variable, or its beginning and a star',
        }),
        { maxItems: 100 },
      ),
    ),
    /** Places that no run sees, besides those that writ hides. */
    hidden: Type.Optional(Globs),
    /** Places that runs without a network see although writ hides them. */
    shown: Type.Optional(Globs),
    /** The unix-socket profile of every run; absent: inside, and none from HIGH. */
    unix_sockets: Type.Optional(Type.Enum([...SOCKET_PROFILES])),
    /** SUMMARY keeps no outputs beyond a day, FORENSIC drops no body by itself. */
    audit_level: Type.Optional(Type.Enum([...AUDIT_LEVELS])),
    retention: Type.Optional(RetentionSchema),
    /** How tasks reach devices that do not ask for them over HTTP. */
    dispatch: Type.Optional(Type.Array(DispatchWaySchema, { maxItems: 20 })),
    /** How people hear of questions that wait; without it no message is sent. */
    notify: Type.Optional(Type.Array(NotifyWaySchema, { maxItems: 20 })),
    /** Where links in messages lead: the address of the console. */
    notify_link: Type.Optional(
      Type.String({
        pattern: '^https?://[^\\s@]+$',
        'x-code': { pattern: 'notify' },
        'x-says': 'the address of the console, such as `https://writ.example.org`',
      }),
    ),
  },
  closed,
)

const LawsFileSchema = Type.Object(
  {
    laws: Type.Array(LawSchema),
    /** Without the default laws and grants; over them without it. */
    replace: Type.Optional(Type.Boolean()),
    /** Ids of default laws and grants that do not hold here. */
    disable: Type.Optional(Type.Array(PolicyId)),
    grants: Type.Optional(Type.Array(GrantSchema)),
    ephemeral: Type.Optional(Type.Array(Type.String())),
    settings: Type.Optional(SettingsSchema),
  },
  closed,
)

export type LawsFile = Type.Static<typeof LawsFileSchema>
export type LawDocument = Type.Static<typeof LawSchema>
export type LawSettings = Type.Static<typeof SettingsSchema>
export type GrantDocument = Type.Static<typeof GrantSchema>
export type LawAction = LawDocument['violation_action']
export type LawTier = 0 | 1 | 2

export const lawsFileContract: Contract = {
  name: 'law_file_v1',
  title: 'The laws of a home, what it does not keep, and the settings of its gate.',
  prefix: 'laws',
  schema: LawsFileSchema,
  checks: LAWS_FILE_CHECKS,
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
