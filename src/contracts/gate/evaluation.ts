/**
 * `evaluation_v1`: everything that a decision depends on besides the proposal and the result (L-9):
 * what the host found at admission, the obstacles to the intent, the outcomes of laws, and which
 * evaluator judged. Proposal, result, manifest and evaluation are enough to compute the decision
 * again. Only the host writes it, before the decision.
 *
 * Its parts are what the gate's functions take as arguments, so that nothing is lost between what
 * was judged and what was recorded.
 */
import * as Type from 'typebox'
import { GRAPH_LIMITS, show, showName } from '../../base/index.ts'
import { ACTION_KINDS, RISK_LEVELS } from '../descriptor/descriptor.ts'
import { type Contract, elements, field, type Subject } from '../kernel/contract.ts'
import { UUID_PATTERN } from '../kernel/schema.ts'
import { ActionId, Count, closed, DigestText, Word } from './shapes.ts'

/** After a tool call, when the processes that wrote are done, at the end, or when a person says so. */
const SETTLE_BOUNDARIES = ['tool', 'quiet', 'end', 'command'] as const

const PathText = Type.String({
  pattern: '^/',
  'x-code': { pattern: 'path' },
  'x-says': 'an absolute path',
})
const Paths = Type.Array(PathText)
const Cap = Type.Integer({ minimum: 1, 'x-code': { minimum: 'count' } })
const Risk = Type.Enum([...RISK_LEVELS])

/** What the host found at the literal part of one path of the scope. */
const RootFacts = Type.Object(
  {
    /** The path of the scope without its wildcards. */
    declared: PathText,
    /** Symbolic links resolved; where the end does not exist, as far as there is something. */
    real: PathText,
    /** Null when there is nothing yet. */
    kind: Type.Union([Type.Enum(['file', 'directory', 'other']), Type.Null()]),
    filesystem: Word,
    read_only: Type.Boolean(),
    /** Mounts strictly below. */
    mounts: Paths,
    /** Of the root, or of the nearest directory that exists; the digits of a whole number. */
    device: Word,
    inode: Word,
  },
  closed,
)

const HostFacts = Type.Object(
  {
    now_ms: Type.Integer(),
    max_age_ms: Count,
    max_future_ms: Count,
    ceilings: Type.Object(
      { max_cpu_ms: Cap, max_memory_mb: Cap, max_disk_mb: Cap, max_duration_ms: Cap },
      closed,
    ),
    /** Those action ids of the proposal that were used before, in lower case. */
    seen_action_ids: Type.Array(ActionId),
    /** Real path of what the person works on; configuration outside of it weighs more. */
    workspace: PathText,
    /** Directories of git that belong to the workspace and lie outside it. */
    workspace_places: Type.Optional(Paths),
    roots: Type.Array(RootFacts),
    /** Other declared paths that lead through symbolic links, longest known part first or not. */
    real_paths: Type.Array(Type.Object({ declared: PathText, real: PathText }, closed)),
    /** Real paths of the homes of this machine; `own` is the actor's. */
    homes: Type.Array(Type.Object({ path: PathText, own: Type.Boolean() }, closed)),
    /** Real paths of writ's own state, keys, laws and configuration. */
    writ_places: Paths,
    /** The machine that rehearsed it, by its fingerprint; absent where the home has one machine. */
    machine: Type.Optional(Word),
  },
  closed,
)

const Standing = Type.Object(
  {
    halted: Type.Boolean(),
    laws_changed: Type.Boolean(),
    /** The intent is refused until a human lifts it; already false when one did. */
    permanent: Type.Boolean(),
    cooldown_until_ms: Type.Union([Type.Integer(), Type.Null()]),
    /** The intent was rolled back, and no human has confirmed it since. */
    reconfirm: Type.Boolean(),
    /** The intent left processes behind before. */
    background_before: Type.Boolean(),
  },
  closed,
)

const ApprovalCount = Type.Integer({
  minimum: 2,
  maximum: 9,
  'x-code': { minimum: 'approvals', maximum: 'approvals' },
})

const LawOutcome = Type.Object(
  {
    policy_id: Word,
    tier: Type.Integer({ minimum: 0, maximum: 2, 'x-code': 'tier' }),
    action: Type.Enum(['block', 'confirm', 'alert']),
    /** Laws that hold are not listed. */
    state: Type.Enum(['broken', 'error']),
    reads_result: Type.Boolean(),
    /** A human's override for this proposal or this time was found. */
    overridden: Type.Boolean(),
    /** How many different humans have to say yes; one without it. */
    approvals: Type.Optional(ApprovalCount),
  },
  closed,
)

const ReasonCode = Type.String({
  pattern: '^[a-z][a-z0-9_]*(?:\\.[^\\s.]+)*$',
  'x-code': { pattern: 'code' },
  'x-says': 'a code such as `sandbox.control_missing`',
})

const Obstacle = Type.Object(
  { code: ReasonCode, path: Type.Optional(Type.String()), detail: Type.Optional(Type.String()) },
  closed,
)

const Words = Type.Array(Word)

/** By which rules the proxy of the run passed and refused; absent when the run had no network. */
const NetworkGrounds = Type.Object(
  {
    /** As the scope names them. */
    hosts: Words,
    /** Those hosts that the laws mark read-only and the scope names too. */
    read_only_hosts: Words,
    /** What a human released for this proposal before the run. */
    release: Type.Union([
      Type.Object({ override_id: Word, hosts: Words, methods: Words }, closed),
      Type.Null(),
    ]),
    /** Hosts that the participant itself lives by, declared with it by a human; not of the proposal. */
    service_hosts: Type.Optional(Words),
  },
  closed,
)

/** What laws and standing were judged with, beyond the documents; absent before evaluator 2. */
const Basis = Type.Object(
  {
    /** The id of the principal. */
    actor: Word,
    /** The name of the machine. */
    machine: Word,
    /** Real path; `~/` of a law's glob begins here. */
    home: PathText,
    /** Of this actor's acts, within a day. */
    recent_rollbacks: Count,
    /** Overrides of laws that could be used for this proposal; the first of a law is the one used. */
    overrides: Type.Array(
      Type.Object(
        {
          override_id: Type.String({
            pattern: UUID_PATTERN,
            'x-code': { pattern: 'id' },
            'x-says': 'a UUID',
          }),
          policy_id: Word,
        },
        closed,
      ),
    ),
    /** What the acts of this actor created, changed and deleted within the hour before. */
    hour_use: Type.Optional(Type.Object({ files: Count, bytes: Count }, closed)),
    /** Grants that humans gave at questions and that are in force; absent where there are none. */
    given: Type.Optional(
      Type.Array(Type.Object({ grant_id: Word, agent: Word, glob: Word, until: Word }, closed)),
    ),
    /** How many facts of the two streams the host had taken in. */
    facts_seen: Type.Object({ host: Count, stream: Count }, closed),
  },
  closed,
)

/** Effects that stay staged until a caller asks for their promotion (F-13). */
const Held = Type.Object(
  {
    /** Promotion was asked for, and a human has to answer. */
    asked: Type.Boolean(),
    /** The stages that it was rehearsed on, in the order of their promotion. */
    bases: Type.Array(Type.Object({ action_id: ActionId, manifest: DigestText }, closed)),
  },
  closed,
)

/** The attempt of a run that did this (F-13). */
const RunMark = Type.Object(
  {
    run_id: Word,
    node_id: Word,
    attempt: Count,
    /** `participant:DIGEST` of a program's declaration; of a person the principal. */
    participant: Word,
    /** What laws read as `context.actor`: `actor:NAME` of the node; of a person the id. */
    actor: Word,
  },
  closed,
)

/** What a coding agent changed in its session so far, judged at one of its settles (S-3). */
const SessionMark = Type.Object(
  {
    session_id: Type.String({
      pattern: UUID_PATTERN,
      'x-code': { pattern: 'id' },
      'x-says': 'a UUID',
    }),
    /** Counts the settles of the session. */
    settle: Count,
    /** What made the host settle. */
    boundary: Type.Enum([...SETTLE_BOUNDARIES]),
    /** The person named with `--write` or `--delete` what the agent may change. */
    declared: Type.Boolean(),
    /** The tool call after which the host settled, as the agent's hook reported it (S-5). */
    tool: Type.Optional(
      Type.Object(
        {
          name: Word,
          call_id: Type.Optional(Word),
          /** Real paths that the arguments of an edit tool name; absent for every other tool. */
          paths: Type.Optional(Paths),
          model: Type.Optional(Word),
          arguments_digest: Type.Optional(DigestText),
        },
        closed,
      ),
    ),
    /** Programs that ran since the settle before, by their first words. */
    programs: Type.Optional(Type.Array(Word)),
  },
  closed,
)

const EvaluationSchema = Type.Object(
  {
    action_id: ActionId,
    proposal_digest: DigestText,
    result_digest: Type.Optional(DigestText),
    /** Absent when the document is too broken to have one. */
    intent: Type.Optional(DigestText),
    /** What a human names to lift a block: the digest of the operation, or of the children. */
    operation_digest: Type.Optional(DigestText),
    action_type: Type.Optional(Type.Enum([...ACTION_KINDS])),
    cooldown_on_repeat: Type.Boolean(),
    evaluator: Type.Object({ name: Word, version: Word }, closed),
    laws: DigestText,
    /** Of the law file in the tree, where it is not the one that a human accepted. */
    laws_file: Type.Optional(DigestText),
    lists: DigestText,
    door: Type.Enum(['propose', 'exec']),
    /** The act whose effects this one undoes, composed by the host from that act's own words. */
    compensates: Type.Optional(ActionId),
    /** The human's approval of the shown effects is the declaration. */
    declared_by_approval: Type.Boolean(),
    /** A person chose to keep what their run changed in the home outside the scope. */
    home_kept: Type.Optional(Type.Boolean()),
    /** The part that a person took of an act without a declaration: absolute paths and globs (N-4). */
    part: Type.Optional(Type.Object({ only: Type.Array(PathText, { minItems: 1 }) }, closed)),
    actor_kind: Type.Enum(['human', 'ai', 'script', 'device']),
    /** The known agent program that started the command, by its name. */
    agent: Type.Optional(Word),
    /** What the contract found; the document is then not on the ledger. */
    violations: Type.Array(Type.Object({ code: ReasonCode, path: Type.String() }, closed)),
    host: HostFacts,
    basis: Type.Optional(Basis),
    held: Type.Optional(Held),
    run: Type.Optional(RunMark),
    session: Type.Optional(SessionMark),
    network: Type.Optional(NetworkGrounds),
    standing: Standing,
    /** Names of what failed; null when preconditions were not reached. */
    preconditions: Type.Union([Type.Object({ failed: Type.Array(Word) }, closed), Type.Null()]),
    law_outcomes: Type.Array(LawOutcome),
    /** Why no rehearsal could be had or used, beyond what a result says. */
    obstacles: Type.Array(Obstacle),
    /** What the comparison needed besides proposal and manifest; null without a rehearsal. */
    comparison: Type.Union([
      Type.Object(
        {
          /** Raw paths, one character a byte, of package.json files whose `scripts` differ. */
          scripts_changed: Type.Array(Type.String()),
          /** Real paths of the directories that commands are looked for in. */
          path_directories: Paths,
          /** Raw paths that configuration or a link points to, and by what; since evaluator 3. */
          pointed: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  path: Type.String(),
                  by: Word,
                  /** Of a branch or an index the first files that it brings, one character a byte. */
                  names: Type.Optional(Type.Array(Type.String())),
                },
                closed,
              ),
            ),
          ),
          /** Raw paths of changed files that git tracked before, where a grant asks for that. */
          tracked: Type.Optional(Type.Array(Type.String())),
          /** Raw paths of changed files of git whose bytes are as git's commands leave them. */
          git_checked: Type.Optional(Type.Array(Type.String())),
          /** Raw paths of changed or deleted entries that the same session created. */
          made: Type.Optional(Type.Array(Type.String())),
          /** Those of the grants in `basis` without which a human would have been asked. */
          given_used: Type.Optional(Type.Array(Word)),
          /** Room that the act would take to be taken back, what is kept for this actor, and the bound. */
          undo: Type.Optional(
            Type.Object({ needed_bytes: Count, kept_bytes: Count, quota_bytes: Count }, closed),
          ),
          /** Of a composite: what each child changed, in the order they ran. */
          steps: Type.Array(Type.Object({ action_id: ActionId, manifest: DigestText }, closed)),
        },
        closed,
      ),
      Type.Null(),
    ]),
    risk: Type.Object({ declared: Risk, floor: Risk, effective: Risk }, closed),
  },
  closed,
)

export type Evaluation = Type.Static<typeof EvaluationSchema>
export type RunMark = NonNullable<Evaluation['run']>
export type SessionMark = NonNullable<Evaluation['session']>
export type NetworkGrounds = NonNullable<Evaluation['network']>
export type HostFacts = Evaluation['host']
export type RootFacts = HostFacts['roots'][number]
export type EvaluationBasis = NonNullable<Evaluation['basis']>
export type StandingExcerpt = Evaluation['standing']
export type LawOutcome = Evaluation['law_outcomes'][number]
export type Obstacle = Evaluation['obstacles'][number]

/** The higher of the two risks counts, and the host's floor never lowers it. */
function checkRisk({ document, report }: Subject): void {
  const risk = field(document, 'risk')
  const levels: readonly unknown[] = RISK_LEVELS
  const rank = (name: string): number => levels.indexOf(field(risk, name))
  const [declared, floor, effective] = [rank('declared'), rank('floor'), rank('effective')]
  if (declared < 0 || floor < 0 || effective < 0) return
  if (effective === Math.max(declared, floor)) return
  const message = 'the effective risk is not the higher of the declared one and the floor'
  report.add('gate_record.contradiction', '/risk/effective', message)
}

/** A result, and what was compared with it, come and go together. */
function checkResult({ document, report }: Subject): void {
  const comparison = field(document, 'comparison')
  if (comparison === undefined) return
  const hasResult = Object.hasOwn(document, 'result_digest')
  if (comparison !== null && !hasResult) {
    const message = 'a comparison needs the result that was compared'
    report.add('gate_record.required', '/result_digest', message)
  }
  if (hasResult) return
  for (const [index, law] of elements(field(document, 'law_outcomes')).entries()) {
    if (field(law, 'reads_result') !== true) continue
    const message = `the law ${show(field(law, 'policy_id'), '')} reads a result that is not there`
    report.add('gate_record.contradiction', `/law_outcomes/${index}/reads_result`, message)
  }
}

/** What is recorded as overridden is so by an override that was in force. */
function checkBasis({ document, report }: Subject): void {
  const basis = field(document, 'basis')
  if (basis === undefined) return
  const inForce = new Set(
    elements(field(basis, 'overrides')).map((override) => field(override, 'policy_id')),
  )
  for (const [index, law] of elements(field(document, 'law_outcomes')).entries()) {
    if (field(law, 'overridden') !== true || inForce.has(field(law, 'policy_id'))) continue
    const message = `no override of the law ${show(field(law, 'policy_id'), '')} was in force`
    report.add('gate_record.contradiction', `/law_outcomes/${index}/overridden`, message)
  }
}

/** A declaration by approval is a person's own command, never a document. */
function checkDoor({ document, report }: Subject): void {
  if (field(document, 'declared_by_approval') !== true || field(document, 'door') !== 'propose') {
    return
  }
  const message = `a ${showName('propose')} declares its effects itself`
  report.add('gate_record.contradiction', '/declared_by_approval', message)
}

/** Only where nothing was declared a person chooses what is kept. */
function checkHome({ document, report }: Subject): void {
  if (field(document, 'home_kept') !== true) return
  const isPersons =
    field(document, 'declared_by_approval') === true && field(document, 'actor_kind') === 'human'
  if (isPersons) return
  const message = 'only a person whose run declared nothing chooses to keep changes to the home'
  report.add('gate_record.contradiction', '/home_kept', message)
}

/** What was declared is promoted whole, or not at all. */
function checkPart({ document, report }: Subject): void {
  if (field(document, 'part') === undefined) return
  const isUndeclared =
    field(document, 'declared_by_approval') === true ||
    field(field(document, 'session'), 'declared') === false
  if (isUndeclared) return
  const message = 'a person takes a part only of an act that declared nothing'
  report.add('gate_record.contradiction', '/part', message)
}

/** Checks that a held act is no person's command and names each base stage once, never itself. */
function checkHeld({ document, report }: Subject): void {
  const held = field(document, 'held')
  if (held === undefined) {
    if (field(document, 'run') === undefined) return
    const message = 'only an act that a flow holds is of a run'
    report.add('gate_record.contradiction', '/run', message)
    return
  }
  if (field(document, 'door') === 'exec') {
    const message = 'a command of a person is not held'
    report.add('gate_record.contradiction', '/held', message)
  }
  const seen = new Set([lower(field(document, 'action_id'))])
  for (const [index, base] of elements(field(held, 'bases')).entries()) {
    const id = lower(field(base, 'action_id'))
    if (id !== null && seen.has(id)) {
      const message = `the stage of ${show(id, '')} is named twice`
      report.add('gate_record.contradiction', `/held/bases/${index}/action_id`, message)
    }
    seen.add(id)
  }
}

/** What an agent did in a session is its own act: no person's command, and not held by a flow. */
function checkSession({ document, report }: Subject): void {
  if (field(document, 'session') === undefined) return
  const isAgents = field(document, 'door') === 'propose' && field(document, 'actor_kind') === 'ai'
  if (isAgents && field(document, 'held') === undefined) return
  const message = 'an act of a session is proposed for an agent, and no flow holds it'
  report.add('gate_record.contradiction', '/session', message)
}

function lower(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null
}

/** Nothing below tier 1 is ever overridden. */
function checkOverrides({ document, report }: Subject): void {
  for (const [index, law] of elements(field(document, 'law_outcomes')).entries()) {
    if (field(law, 'tier') !== 0 || field(law, 'overridden') !== true) continue
    const message = `the law ${show(field(law, 'policy_id'), '')} of tier 0 cannot be overridden`
    report.add('gate_record.contradiction', `/law_outcomes/${index}/overridden`, message)
  }
}

/** Only laws of tier 2 ask, so only they wait for several humans. */
function checkApprovals({ document, report }: Subject): void {
  for (const [index, law] of elements(field(document, 'law_outcomes')).entries()) {
    if (field(law, 'approvals') === undefined || field(law, 'tier') === 2) continue
    const message = `the law ${show(field(law, 'policy_id'), '')} asks no human`
    report.add('gate_record.approvals', `/law_outcomes/${index}/approvals`, message)
  }
}

export const evaluationContract: Contract = {
  name: 'evaluation_v1',
  title: 'What a decision of the gate rests on besides the proposal and the result.',
  prefix: 'gate_record',
  schema: EvaluationSchema,
  checks: [
    checkRisk,
    checkResult,
    checkDoor,
    checkHome,
    checkPart,
    checkOverrides,
    checkBasis,
    checkHeld,
    checkSession,
    checkApprovals,
  ],
  // A proposal within its own limits may name more paths than an ordinary document could tell about.
  limits: GRAPH_LIMITS,
  isRecord: true,
}
