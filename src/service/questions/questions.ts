/**
 * Questions that wait, put together again from the ledger: what was proposed, what the rehearsal did,
 * and what would be promoted. Any process can ask and answer; nothing of a question lives in memory.
 */
import { type Code, type Digest, invariant } from '../../base/index.ts'
import type { Decision, Evaluation, Proposal, SandboxResult } from '../../contracts/index.ts'
import {
  type AskedAct,
  approvalsAsked,
  type Change,
  type Circumstances,
  compareAgain,
  confirmationNeed,
  countsAhead,
  displayOfRaw,
  effectClasses,
  FINDINGS_SHOWN_MAX,
  finalRisk,
  type GateLists,
  isComparedCode,
  knownAgent,
  type Manifest,
  type Need,
  type OfferedGrant,
  offeredGrant,
  overridesUsed,
  type PendingQuestion as Pending,
  questionShape,
  type RawPath,
  readLists,
  readManifest,
} from '../../gate/index.ts'
import { type Fact, occurredAtText, parseBodyMarker, principalText } from '../../ledger/index.ts'
import { readSeen, readStage, stagedPath } from '../../tree/index.ts'
import { isPush } from '../acts/git-push.ts'
import { isHeldCommand } from '../acts/held-command.ts'
import { isBudget } from '../acts/session-budget.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { machineToAnswer } from '../stage/elsewhere.ts'
import { findStage } from '../stage/stage-place.ts'
import type { GateContext } from '../surface/context.ts'
import type {
  ApprovalsSoFar,
  Asker,
  GateAnswer,
  InboxQuestion,
  Question,
  SetAsideLaw,
} from '../surface/surface.ts'
import { Approvers } from './approvers.ts'

/** Everything about one action that is on the ledger. */
interface ActionRecord {
  readonly proposal: Proposal
  readonly result: SandboxResult
  readonly decision: Decision
  readonly evaluation: Evaluation
  /** What would be promoted. */
  readonly changes: readonly Change[]
  /** What was dropped. */
  readonly discarded: readonly Change[]
  /** Those of `changes` that other programs run by themselves. */
  readonly deferred: ReadonlySet<RawPath>
  /** Those of `changes` that a build or a test runs. */
  readonly builds: ReadonlySet<RawPath>
  /** All that were found; the result on the record names the first of each code. */
  readonly findings: SandboxResult['findings']
  /** What the answer "always" would grant; null where it is no answer. */
  readonly always: OfferedGrant | null
  readonly asker: Asker
}

/** What the need of a question is computed from. */
type AskedRecord = Pick<ActionRecord, 'proposal' | 'evaluation' | 'result' | 'changes'>

/** A part of an act as it would be recorded, with the list of everything that its run changed. */
type PartRecord = Pick<KnownAct, 'proposal' | 'decision' | 'evaluation'> &
  Manifest & { readonly result: SandboxResult | null }

/** The part of it that is never dropped. */
type BareRecord = Pick<ActionRecord, 'result' | 'decision' | 'evaluation'>

/** What is known of an act that was decided before; without its proposal where that is not kept. */
export interface KnownAct extends BareRecord {
  readonly proposal: Proposal | null
  readonly changes: readonly Change[]
}

const LOST = {
  code: 'body.missing',
  message: 'what it asks about is no longer kept; it can only be denied',
} as const

/** Named while it lasts: a human who gets a credential in time can still approve. */
function fewHumans(approvals: ApprovalsSoFar | null): Pick<InboxQuestion, 'problem'> {
  const { needed, humans } = approvals ?? { needed: 1 }
  if (humans === undefined) return {}
  const have = humans === 1 ? '1 human here has' : `${humans} humans here have`
  const message = `${needed} humans have to approve it, and ${have} a credential of their own; so far it can only wait or be denied`
  return { problem: { code: 'confirm.few_humans', message } }
}

const ID_DIGITS = 12

/** Short, and the same digits that the prompt shows first. */
export function pendingId({ resultDigest }: Pick<Pending, 'resultDigest'>): string {
  return resultDigest.slice('sha256:'.length, 'sha256:'.length + ID_DIGITS)
}

type DeferringAct = Pick<ActionRecord, 'proposal' | 'evaluation' | 'result'> & {
  readonly manifest: Manifest
}

/** Returns those changes that findings of this code name. */
function changesWith(wanted: Code, { result, manifest }: DeferringAct): readonly Change[] {
  const found = new Set(
    result.findings.flatMap(({ code, path = null }) => (code === wanted ? [path] : [])),
  )
  return manifest.changes.filter(({ path }) => found.has(displayOfRaw(path)))
}

function pathsOf(changes: readonly Change[]): ReadonlySet<RawPath> {
  return new Set(changes.map(({ path }) => path))
}

/** Returns `ai` for a command that a known agent started, even if its actor says otherwise. */
function actorKindOf({ agent, actor_kind }: Evaluation): Circumstances['actorKind'] {
  return agent === undefined ? actor_kind : 'ai'
}

function askerOf(
  { principal, occurred_at: at }: Fact,
  { actor_kind: kind, agent, run, session }: Evaluation,
): Asker {
  return {
    principal: principalText(principal),
    kind,
    agent: agent ?? null,
    run: run ?? null,
    session: session?.session_id ?? null,
    at,
  }
}

type KnownManifest = Manifest & { readonly digest: string }

export class Questions {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #book: LawBook
  readonly #approvers: Approvers
  /** Questions that a run of this process asked. */
  readonly #askedHere = new Set<string>()
  #known: KnownManifest | null = null

  constructor(context: GateContext, view: LedgerView, book: LawBook) {
    this.#approvers = new Approvers(context, view)
    this.#context = context
    this.#view = view
    this.#book = book
  }

  /** Null when something of it is not kept any more. */
  async record(actionId: string): Promise<ActionRecord | null> {
    const types = ['proposal_v1', 'sandbox_result_v1', 'decision_v1', 'evaluation_v1']
    const [proposed, result, decided, evaluated] = await this.#view.newestOf(types, actionId)
    if (!proposed || !result || !decided || !evaluated) return null
    const proposal = await this.#view.originalOf(proposed)
    // The ledger has checked each payload below against the contract of its type.
    const whole = await this.#withOutputs(result.payload as SandboxResult)
    const manifest = await this.#manifest(whole.diff.manifest)
    if (proposal === null || manifest === null) return null
    // As above; the original of a proposal has the digest of the checked one.
    const evaluation = evaluated.payload as Evaluation
    const act = { proposal: proposal as Proposal, evaluation, result: whole, manifest }
    return {
      proposal: act.proposal,
      result: whole,
      decision: decided.payload as Decision, // As above.
      evaluation,
      ...(await this.#marked(act)),
      asker: askerOf(proposed.fact, evaluation),
      changes: manifest.changes.filter(({ path }) => !manifest.discarded.has(path)),
      discarded: manifest.changes.filter(({ path }) => manifest.discarded.has(path)),
    }
  }

  /** What an act changes, to be shown; null when something of it is not kept any more. */
  async effects(
    actionId: string,
  ): Promise<Pick<Question, 'changes' | 'deferred' | 'builds' | 'findings' | 'read'> | null> {
    const record = await this.record(actionId)
    if (record === null) return null
    const { changes, deferred, builds, findings, result } = record
    return { changes, deferred, builds, findings, read: await this.#reader(result.sandbox_id) }
  }

  /** What the facts alone tell of a question; enough to say no to it. */
  async bare(actionId: string): Promise<BareRecord | null> {
    const types = ['sandbox_result_v1', 'decision_v1', 'evaluation_v1']
    const [result, decided, evaluated] = await this.#view.newestOf(types, actionId)
    if (!result || !decided || !evaluated) return null
    // The ledger has checked each payload against the contract of its type.
    return {
      result: result.payload as SandboxResult,
      decision: decided.payload as Decision,
      evaluation: evaluated.payload as Evaluation, // As above.
    }
  }

  /** What is on the record of an act, as far as it is kept. */
  async known(actionId: string): Promise<KnownAct | null> {
    const record = await this.record(actionId)
    if (record !== null) return record
    const bare = await this.bare(actionId)
    return bare === null ? null : { ...bare, proposal: null, changes: [] }
  }

  /** Returns one line of the inbox. A question that lost its bodies is listed and can only be denied. */
  async row(
    pending: Pending,
  ): Promise<Omit<InboxQuestion, 'id' | 'expires_at' | 'action_id' | 'approvals'> | null> {
    const { actionId, proposalDigest: proposal_digest, resultDigest: result_digest } = pending
    const record = await this.record(actionId)
    const known = record ?? (await this.bare(actionId))
    if (known === null) return null
    const { result, evaluation, decision } = known
    const head = { proposal_digest, result_digest, effects: result.diff.counts }
    if (record === null) {
      const kind = evaluation.action_type ?? 'unknown'
      return { ...head, kind, needs: null, shape: null, problem: LOST }
    }
    const { proposal } = record
    const needs = this.needOf(actionId, record)
    const shape = questionShape(proposal, evaluation, result, decision, needs)
    const few = fewHumans(await this.approvalsOf(pending))
    return { ...head, kind: proposal.descriptor.action_type, needs, shape, ...few }
  }

  /** Null where one human is enough. */
  async approvalsOf({ approvals }: Pending): Promise<ApprovalsSoFar | null> {
    if (approvals === undefined) return null
    const { needed } = approvals
    const humans = await this.#approvers.humans()
    const given = approvals.given.map(({ by, at }) => ({ by, at }))
    return { needed, given, ...(humans < needed ? { humans } : {}) }
  }

  /** A question as an answer of the gate names it. */
  async pendingOf(pending: Pending): Promise<NonNullable<GateAnswer['pending']>> {
    const approvals = await this.approvalsOf(pending)
    const named = { id: pendingId(pending), expires_at: occurredAtText(pending.expiresMs) }
    return approvals === null ? named : { ...named, approvals }
  }

  async open(pending: Pending): Promise<Question | null> {
    return (await this.openRecorded(pending))?.question ?? null
  }

  /** A question with the record that it was made from; null when something of it is not kept. */
  async openRecorded(
    pending: Pending,
  ): Promise<{ readonly question: Question; readonly record: ActionRecord } | null> {
    const record = await this.record(pending.actionId)
    if (record === null) return null
    const read = await this.#reader(record.result.sandbox_id)
    return { question: await this.#shown(pending, record, read), record }
  }

  /** A part of a question that is on no record yet; its bytes lie in the stage of the whole. */
  async shownPart(pending: Pending, part: PartRecord, whole: Question): Promise<Question> {
    const { proposal, result, decision, evaluation, changes, discarded } = part
    invariant(proposal !== null && result !== null, 'a part of an act is made from its record')
    const act = { proposal, evaluation, result, manifest: { changes, discarded } }
    const record: ActionRecord = {
      ...act,
      decision,
      ...(await this.#marked(act)),
      asker: whole.asker,
      changes: changes.filter(({ path }) => !discarded.has(path)),
      discarded: changes.filter(({ path }) => discarded.has(path)),
      always: null,
    }
    const resultDigest = decision.result_digest ?? ''
    const { approvals: needed } = decision
    const { approvals: _given, ...open } = pending
    const several = needed === undefined ? {} : { approvals: { needed, given: [] } }
    const asked = { ...open, ...several, resultDigest, askedAt: decision.decided_at }
    return this.#shown(asked, record, whole.read)
  }

  async #shown(pending: Pending, record: ActionRecord, read: Question['read']): Promise<Question> {
    const { proposal, result, decision, evaluation, changes } = record
    const need = this.needOf(pending.actionId, record)
    return {
      actionId: pending.actionId,
      proposal,
      // Digests of facts are digests.
      proposalDigest: pending.proposalDigest as Digest,
      result,
      resultDigest: pending.resultDigest as Digest,
      decision,
      asker: record.asker,
      need,
      ...this.#weightOf(record),
      door: evaluation.door,
      machine: await machineToAnswer(this.#context, { changes, result, evaluation }),
      confinement: isOfSession(proposal, evaluation) ? 'confined' : 'advisory',
      custody: await this.#view.custody(),
      isDeclaredByApproval: evaluation.declared_by_approval,
      lawTexts: this.#lawTexts(),
      setAside: await this.#setAside(evaluation),
      askedAt: pending.askedAt,
      approvals: await this.approvalsOf(pending),
      shape: questionShape(proposal, evaluation, result, decision, need),
      expiresAt: new Date(pending.expiresMs).toISOString(),
      obstacles: evaluation.obstacles,
      changes,
      deferred: record.deferred,
      builds: record.builds,
      findings: record.findings,
      always: record.always,
      part: null,
      read,
    }
  }

  /** Marks a question as asked at the terminal of this very run. */
  askHere(actionId: string): void {
    this.#askedHere.add(actionId.toLowerCase())
  }

  needOf(actionId: string, act: AskedRecord): Need {
    return confirmationNeed(this.#askedAct(act), this.#circumstances(actionId, act.evaluation))
  }

  #weightOf(act: AskedRecord): Pick<Question, 'risk' | 'countsAhead' | 'undoDays'> {
    const { risk, isUndoKept } = this.#askedAct(act)
    const actorKind = actorKindOf(act.evaluation)
    const isStaged = [...effectClasses(act.proposal)].every((kind) => kind === 'staged')
    const { undoDays } = this.#book.settings.retention
    return {
      risk,
      countsAhead: countsAhead({ risk }, { actorKind }),
      undoDays: isStaged && isUndoKept ? undoDays : null,
    }
  }

  #setAside(evaluation: Evaluation): Promise<readonly SetAsideLaw[]> {
    return this.#view.ask((standing) =>
      overridesUsed(evaluation).flatMap(({ policy_id, override_id }) => {
        const known = standing.overrideOf(override_id)
        if (known === null) return []
        const { reason, uses, expires_at: until } = known.override
        const law = { policy_id, override_id, reason, uses }
        return [until === undefined ? law : { ...law, until }]
      }),
    )
  }

  #lawTexts(): ReadonlyMap<string, string> {
    return new Map(
      this.#book.laws.flatMap(({ policyId, text }) =>
        text === null ? [] : [[policyId, text] as const],
      ),
    )
  }

  #askedAct({ proposal, evaluation, result, changes }: AskedRecord): AskedAct {
    const quotaBytes = this.#book.settings.retention.undoQuotaMb * 1024 ** 2
    const displaced = changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0)
    return {
      proposal,
      risk: finalRisk(evaluation.risk.effective, result),
      defers: result.findings.some(({ code }) => code === 'effect.deferred_execution'),
      isUndoKept: result.compliance.rollback_possible && displaced <= quotaBytes,
    }
  }

  #circumstances(actionId: string, evaluation: Evaluation): Circumstances {
    const { caller, ancestors, hasPasskey, hasCredential = true } = this.#context
    return {
      actorKind: actorKindOf(evaluation),
      startedByPerson: caller.principal.kind === 'human',
      agent: knownAgent(this.#book.lists, ancestors),
      plainYesAllowed: this.#book.settings.plainYes,
      hasPasskey,
      hasCredential,
      asksHere: this.#askedHere.has(actionId.toLowerCase()),
      approvals: approvalsAsked(evaluation.law_outcomes),
    }
  }

  /** The old bytes are in the tree, the new ones in the stage. */
  async #reader(sandboxId: string): Promise<Question['read']> {
    const found = findStage(this.#context.home, sandboxId)
    const captured = found === null ? null : readStage(found.stage)
    const places = new Map<RawPath, RawPath>()
    for (const entry of captured?.entries ?? []) {
      if (captured !== null) places.set(entry.path, stagedPath(captured, entry))
    }
    return (change, side) => {
      if (change[side]?.kind !== 'file') return null
      const path = side === 'before' ? change.path : places.get(change.path)
      return path === undefined ? null : readSeen(path, change[side]?.digest ?? null)
    }
  }

  /** Compared once more: the findings on the record name the first paths only. */
  async #marked(
    act: DeferringAct,
  ): Promise<Pick<ActionRecord, 'always' | 'builds' | 'deferred' | 'findings'>> {
    const { evaluation, result } = act
    const steps = []
    for (const { action_id, manifest: digest } of evaluation.comparison?.steps ?? []) {
      const step = await this.#manifest(digest)
      if (step !== null) steps.push({ actionId: action_id, ...step })
    }
    const lists = await this.#lists(evaluation.lists)
    const comparison = compareAgain({ ...act, steps, lists }, FINDINGS_SHOWN_MAX)
    const { deferred, builds } = comparison ?? {
      deferred: changesWith('effect.deferred_execution', act),
      builds: changesWith('effect.build_execution', act),
    }
    const others = result.findings.filter(({ code }) => !isComparedCode(code))
    const findings = comparison === null ? result.findings : [...comparison.findings, ...others]
    const always = offeredGrant({ ...act, steps, lists })
    return { deferred: pathsOf(deferred), builds: pathsOf(builds), findings, always }
  }

  async #lists(digest: string): Promise<GateLists> {
    const bytes = digest === this.#book.listsDigest ? null : await this.#view.body(digest)
    return bytes === null ? this.#book.lists : readLists(new TextDecoder().decode(bytes))
  }

  async #manifest(digest: string): Promise<Manifest | null> {
    if (this.#known?.digest === digest) return this.#known
    const lines = await this.#view.bodyLines(digest)
    const manifest = lines === null ? null : readManifest(lines)
    if (manifest !== null) this.remember({ ...manifest, digest })
    return manifest
  }

  /** Until the question is answered: who shows it and who answers it share one list, however long. */
  remember(manifest: KnownManifest): void {
    this.#known = manifest
  }

  forget(): void {
    this.#known = null
  }

  async #withOutputs(result: SandboxResult): Promise<SandboxResult> {
    const [stdout, stderr] = await Promise.all([
      this.#outputText(result.outputs.stdout),
      this.#outputText(result.outputs.stderr),
    ])
    return { ...result, outputs: { ...result.outputs, stdout, stderr } }
  }

  async #outputText(view: string): Promise<string> {
    const marker = parseBodyMarker(view)
    const bytes = marker === null ? null : await this.#view.body(marker.digest)
    return bytes === null ? view : new TextDecoder().decode(bytes.subarray(SALT_BYTES))
  }
}

const SALT_BYTES = 32

function isOfSession(proposal: Proposal, { session }: Evaluation): boolean {
  const isHeld = isPush(proposal) || isHeldCommand(proposal) || isBudget(proposal)
  return session !== undefined || isHeld
}
