/**
 * The parts of flow documents: participants, nodes, guards, policies, access rules, claims, evidence,
 * invariants, budgets, state. Expressions are texts here; what they mean is for the room that runs
 * them.
 */
import * as Type from 'typebox'
import { REQUIREMENT_KINDS, REQUIREMENT_SOURCES } from '../agent/plan.ts'
import {
  ACCESS_MODES,
  CHECK_TIMINGS,
  EXCEPTION_CAUSES,
  FAIL_ACTIONS,
  GUARD_FAIL_ACTIONS,
  GUARD_SCOPES,
  GUARD_TYPES,
  JOINS,
  NODE_KINDS,
  OVERRIDE_MODES,
  SEVERITIES,
  STATE_TYPES,
  TEXT_KINDS,
  TRUST_LEVELS,
  TRUST_REQUIREMENTS,
  VERIFICATION_STATUSES,
  VIOLATION_ACTIONS,
} from './vocabulary.ts'

export const closed = { additionalProperties: false } as const

/** A name or an expression: a string that says something. */
export const Name = Type.String({ minLength: 1, 'x-code': { minLength: 'empty' } })
export const Names = Type.Array(Name)

const notEmpty = { minItems: 1, 'x-code': { minItems: 'empty' } } as const

/** A path or pattern that stays under the workspace: relative, and never upwards. */
export const WORKSPACE_PATTERN = '^(?!/)(?!(?:[\\s\\S]*/)?\\.\\.(?:/|$))[^\\u0000]+$'
const WorkspacePath = Type.String({
  pattern: WORKSPACE_PATTERN,
  'x-code': { pattern: 'outside_workspace' },
  'x-says': 'a relative path without `..`',
})

export const Duration = Type.Number({ minimum: 0, 'x-code': { minimum: 'range' } })
export const Attempts = Type.Integer({ minimum: 1, 'x-code': { minimum: 'range' } })

const Command = Type.Array(Type.String(), notEmpty)

/**
 * Hosts that a participant may call, and names of the variables that hold its secrets. `tools: none`
 * waives TOOL_USE_NONZERO: this participant has no tools.
 */
const reach = {
  egress: Type.Optional(Names),
  secrets: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        'x-code': { pattern: 'secret_name' },
        'x-says': 'the name of an environment variable',
      }),
    ),
  ),
  tools: Type.Optional(Type.Literal('none')),
  /** Labels of the machines that can do this work; a worker needs all of them. */
  labels: Type.Optional(Names),
}

/**
 * Files, directories and patterns of the workspace that the program is made of: pinned and sealed. A
 * reviewer with `runs_work` may run or load the work that it judges; a person answers for that.
 */
const made = {
  programs: Type.Optional(Type.Array(WorkspacePath, notEmpty)),
  runs_work: Type.Optional(Type.Literal(true)),
}

/** How a model is spoken to: what comes before the host's own words, and how it answers. */
const speech = {
  system: Type.Optional(Name),
  temperature: Type.Optional(
    Type.Number({ minimum: 0, maximum: 2, 'x-code': { minimum: 'range', maximum: 'range' } }),
  ),
  max_tokens: Type.Optional(Attempts),
}

/** Who does the work: a program, an endpoint, a tool of an MCP server, a model, or a person. */
export const ParticipantSchema = Type.Union(
  [
    Type.Object({ command: Command, ...made, ...reach }, closed),
    Type.Object({ http: Name, ...reach }, closed),
    Type.Object({ mcp: Type.Union([Name, Command]), tool: Name, ...made, ...reach }, closed),
    Type.Object({ chat: Name, model: Name, ...speech, ...reach }, closed),
    Type.Object({ human: Type.Union([Name, Type.Literal(true)]), ...reach }, closed),
  ],
  {
    'x-choose': ['command', 'http', 'mcp', 'chat', 'human'],
    'x-code': { anyOf: 'participant' },
  },
)

export type Participant = Type.Static<typeof ParticipantSchema>

/** What has to be there before a node runs, as plans say it (`requirements`). */
const RequirementSchema = Type.Object(
  {
    name: Name,
    kind: Type.Enum([...REQUIREMENT_KINDS]),
    source: Type.Enum([...REQUIREMENT_SOURCES]),
    required: Type.Boolean(),
    min_count: Attempts,
    allowed_types: Type.Array(Type.String()),
    description: Type.Optional(Type.String()),
  },
  closed,
)

export type FlowRequirement = Type.Static<typeof RequirementSchema>

/**
 * Something that an earlier node left, under a name: its last artifact, or with `file` a file of the
 * workspace as that node left it. Without `optional` the node waits for nothing less.
 */
const NodeInputSchema = Type.Object(
  {
    from: Name,
    as: Name,
    file: Type.Optional(WorkspacePath),
    optional: Type.Optional(Type.Boolean()),
  },
  closed,
)

export type NodeInput = Type.Static<typeof NodeInputSchema>

/** Words of a plan or a flow that are handed on as they are: keys are the author's. */
export const Words = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}))

/** How long to wait before the next attempt: `initial` seconds, `factor` times as long each time, at most `max`. */
const backoffFields = {
  factor: Type.Optional(Type.Number({ minimum: 1, 'x-code': { minimum: 'range' } })),
  max: Type.Optional(Duration),
}
const KindSchema = Type.Optional(
  Type.Union([
    Type.Object({ initial: Duration, ...backoffFields }, closed),
    // This kind of failure is not tried again.
    Type.Literal(false),
  ]),
)
const RetrySchema = Type.Object(
  {
    initial: Type.Optional(Duration),
    ...backoffFields,
    failed: KindSchema,
    timeout: KindSchema,
    invalid: KindSchema,
    unreachable: KindSchema,
  },
  closed,
)

/** Seconds, and not none: a millisecond at least. */
const Seconds = Type.Number({ minimum: 0.001, 'x-code': { minimum: 'range' } })

/** What an entry waits for: so many seconds, and a signal of this name. */
const waitFields = { after: Type.Optional(Duration), signal: Type.Optional(Name) }

/** A place of a list: a file and a field, or a node and a field of its artifact; `.` is the whole file. */
const ListPlace = Type.String({
  pattern: '^[\\s\\S]+:[^:]+$',
  'x-code': { pattern: 'evidence_source' },
  'x-says': 'a path or a node, a colon and a field',
})

/**
 * The node runs once for each item of a list: a literal one, one of a file, or one of the last artifact
 * of a node. `minimum` says how many must be done; without it all, and a person decides about the rest.
 */
const MapSchema = Type.Object(
  {
    items: Type.Optional(Type.Array(Type.Unknown())),
    from: Type.Optional(ListPlace),
    artifact: Type.Optional(ListPlace),
    at_once: Type.Optional(Attempts),
    minimum: Type.Optional(Type.Integer({ minimum: 0, 'x-code': { minimum: 'range' } })),
    max: Type.Optional(Attempts),
  },
  closed,
)

export type NodeMap = Type.Static<typeof MapSchema>

/** What a node may say besides its id; the flow asks for some of it, the side file for none. */
export const nodeFields = {
  kind: Type.Enum([...NODE_KINDS]),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  instructions: Type.Optional(Type.String()),
  criteria: Type.Optional(Type.Array(Type.String())),
  details: Type.Optional(Words),
  inputs: Type.Optional(Type.Array(NodeInputSchema)),
  ignored: Type.Optional(Names),
  phase_id: Name,
  subphase_id: Type.Optional(Name),
  actor: Name,
  executor: Type.Optional(ParticipantSchema),
  reviewer: Type.Optional(ParticipantSchema),
  target: Type.Optional(Name),
  writes: Type.Optional(Type.Array(WorkspacePath)),
  minimum_duration: Type.Optional(Duration),
  max_attempts: Attempts,
  required_files: Type.Optional(Type.Array(WorkspacePath)),
  manifest: Type.Optional(Type.Union([Type.Boolean(), WorkspacePath])),
  trace: Type.Optional(Type.Literal('refused')),
  requirements: Type.Optional(Type.Array(RequirementSchema)),
  /** Entered for each edge that leads here, one after another; the caller goes on after the return. */
  call: Type.Optional(Type.Boolean()),
  /** A file with the flow that is the work of this node, and the digest that pins it. */
  flow: Type.Optional(Name),
  flow_digest: Type.Optional(
    Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      'x-code': { pattern: 'digest' },
      'x-says': '`sha256:` and 64 lower-case hex digits',
    }),
  ),
  map: Type.Optional(MapSchema),
  ...waitFields,
  /** How long one attempt may take. */
  timeout: Type.Optional(Seconds),
  /** By when the node has to be done, from its entry. */
  deadline: Type.Optional(Seconds),
  retry: Type.Optional(RetrySchema),
}

/** Line feed, carriage return, or both. */
const LINE_ENDS = ['lf', 'crlf', 'cr'] as const

/** How a table of edges was written, so that its export has the same bytes. */
export const TableSchema = Type.Object(
  {
    header: Type.Array(Type.String(), notEmpty),
    /** The text of the header where the usual way of writing would not give the same bytes. */
    header_row: Type.Optional(Type.String()),
    bom: Type.Boolean(),
    delimiter: Type.Enum([',', ';', '\t']),
    newline: Type.Enum([...LINE_ENDS]),
    quotes: Type.Enum(['needed', 'all']),
    /** What follows the last row: its line end and those of blank lines, or nothing. */
    tail: Type.Array(Type.Enum([...LINE_ENDS])),
  },
  closed,
)

export const guardFields = {
  guard_expr: Type.Optional(Name),
  guard_scope: Type.Optional(Type.Enum([...GUARD_SCOPES])),
  guard_type: Type.Optional(Type.Enum([...GUARD_TYPES])),
  on_guard_fail: Type.Optional(Type.Enum([...GUARD_FAIL_ACTIONS])),
  guard_evidence_source: Type.Optional(
    Type.String({
      pattern: '^[\\s\\S]+:[^:]+$',
      'x-code': { pattern: 'evidence_source' },
      'x-says': 'a path, a colon and a field',
    }),
  ),
  policy_refs: Type.Optional(Names),
  audit_invariant_refs: Type.Optional(Names),
  trust_requirement: Type.Optional(Type.Enum([...TRUST_REQUIREMENTS])),
  /** What an Exception edge is the way out of; a failure without it. */
  on: Type.Optional(Type.Enum([...EXCEPTION_CAUSES])),
  join: Type.Optional(Type.Enum([...JOINS])),
  group_id: Type.Optional(Name),
  ...waitFields,
}

export const PolicySchema = Type.Object(
  {
    policy_id: Name,
    policy_expr: Name,
    priority: Type.Integer(),
    conflicts_with: Type.Optional(Names),
    override_mode: Type.Enum([...OVERRIDE_MODES]),
    violation_action: Type.Enum([...VIOLATION_ACTIONS]),
  },
  closed,
)

/** Phrases are matched without case and punctuation, so one without a letter would match anything. */
export const TextPolicySchema = Type.Object(
  {
    policy_id: Name,
    applies_to: Type.Enum([...TEXT_KINDS]),
    patterns: Type.Array(
      Type.String({
        pattern: '[\\p{L}\\p{N}]',
        'x-code': { pattern: 'empty' },
        'x-says': 'a phrase with a letter or a digit',
      }),
      notEmpty,
    ),
    violation_action: Type.Enum([...VIOLATION_ACTIONS]),
    priority: Type.Integer(),
  },
  closed,
)

export const AccessRuleSchema = Type.Object(
  {
    actor: Name,
    resource_path: Name,
    access_mode: Type.Enum([...ACCESS_MODES]),
    access_allowed: Type.Boolean(),
    reason: Type.Optional(Type.String()),
  },
  closed,
)

export const claimFields = {
  claim_id: Name,
  text: Type.Optional(Type.String()),
  trust_level: Type.Enum([...TRUST_LEVELS]),
  evidence_ids: Names,
  verification_status: Type.Enum([...VERIFICATION_STATUSES]),
}

export const ClaimSchema = Type.Object({ ...claimFields, node_id: Name, actor: Name }, closed)

export type Claim = Type.Static<typeof ClaimSchema>

export const EvidenceDigest = Type.String({
  pattern: '^sha256:[0-9a-f]{64}$',
  'x-code': { pattern: 'digest' },
  'x-says': '`sha256:` and 64 lower-case hex digits',
})

/** Evidence of a participant or a human for a claim. Answers hold it; flows do not. */
export const EvidenceSchema = Type.Object(
  {
    evidence_id: Name,
    claim_id: Name,
    actor: Name,
    digest: EvidenceDigest,
    supports: Type.Boolean(),
  },
  closed,
)

export type Evidence = Type.Static<typeof EvidenceSchema>

export const InvariantSchema = Type.Object(
  {
    invariant_id: Name,
    invariant_expr: Name,
    check_timing: Type.Enum([...CHECK_TIMINGS]),
    severity: Type.Enum([...SEVERITIES]),
    fail_action: Type.Enum([...FAIL_ACTIONS]),
  },
  closed,
)

/** What a run may use, and how many participants may work at the same time. */
export const BudgetsSchema = Type.Object(
  {
    seconds: Type.Optional(Duration),
    attempts: Type.Optional(Attempts),
    tokens: Type.Optional(Type.Integer({ minimum: 0, 'x-code': { minimum: 'range' } })),
    parallel: Type.Optional(Attempts),
  },
  closed,
)

const [INT, DOUBLE, BOOL, STRING] = STATE_TYPES

/** A state field of the flow's own, with the value it starts with. */
const StateFieldSchema = Type.Union(
  [
    Type.Object({ type: Type.Literal(INT), initial: Type.Integer() }, closed),
    Type.Object({ type: Type.Literal(DOUBLE), initial: Type.Number() }, closed),
    Type.Object({ type: Type.Literal(BOOL), initial: Type.Boolean() }, closed),
    Type.Object({ type: Type.Literal(STRING), initial: Type.String() }, closed),
  ],
  { 'x-choose': 'type' },
)

export type StateField = Type.Static<typeof StateFieldSchema>

/** Field names are data, so they are keys of an open object; their form is a semantic check. */
export const StateFieldsSchema = Type.Unsafe<Readonly<Record<string, StateField>>>(
  Type.Object({}, { additionalProperties: StateFieldSchema }),
)
