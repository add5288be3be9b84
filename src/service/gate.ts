/**
 * The gate: from an actor's intent to a bounded, proven, reversible act. Wires what decides (gate,
 * policy), what runs (sandbox), what looks (tree), what changes (promotion) and what remembers
 * (ledger), in the one order that there is.
 *
 * INVARIANT (approval is of effects, I4): an answer counts for the digests it was asked about, as
 *   long as the question is open.
 * PROMISE (nothing half done): when a call rejects, the tree is as it was or as promoted, or a journal
 *   is left that the next call under the workspace's lock finishes.
 * PROMISE (asked about effects): `confirm` is called after the rehearsed bytes and the result are
 *   durable, and its answer counts for exactly that proposal and that result.
 */
import { randomUUID } from 'node:crypto'
import type { Fault } from '../base/index.ts'
import {
  GRANT_MS_MAX,
  GRANT_USES_MAX,
  type GrantDocument,
  type GrantFact,
  type HostFacts,
  type Proposal,
} from '../contracts/index.ts'
import { droppedNames, type KnownGrant, type OfferedGrant } from '../gate/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { StandingKeeper } from '../store/index.ts'
import { Attempts } from './attempts/attempts.ts'
import {
  overrideFact,
  refuseLaw,
  releaseFact,
  releasesNeeded,
  underAcceptedLaws,
} from './laws/accept-laws.ts'
import { type LawBook, openLawBook } from './laws/law-book.ts'
import { type GateParts, type Outcome, recordedAct } from './lifecycle/act.ts'
import { answerOf, withLawTexts } from './lifecycle/answer.ts'
import { endedFailure, expire, type GivenAnswer } from './lifecycle/confirm.ts'
import { act, answer } from './lifecycle/lifecycle.ts'
import { withPart } from './lifecycle/part.ts'
import { findPending } from './lifecycle/pending-question.ts'
import { UnfinishedActs } from './lifecycle/unfinished-acts.ts'
import { Approvers } from './questions/approvers.ts'
import { endedQuestion } from './questions/ended-question.ts'
import { Questions } from './questions/questions.ts'
import { isHalted, liftHalt, raiseHalt } from './readings/halt.ts'
import { LedgerView } from './records/ledger-view.ts'
import { ReleasedRuns } from './rehearsal/released-run.ts'
import { Rollbacks } from './rollback/rollbacks.ts'
import { UndoRequests } from './rollback/undo-requests.ts'
import { SessionActs } from './sessions/session-acts.ts'
import type { AttemptSurface } from './surface/attempt-surface.ts'
import type { GateContext } from './surface/context.ts'
import type { SessionSurface } from './surface/session-surface.ts'
import type {
  FinishedYes,
  GateAnswer,
  InboxQuestion,
  OpenRecovery,
  OverrideAnswer,
  OverrideOrder,
  ProposeOptions,
  Question,
  RecoveryOrder,
  ResolvedRecovery,
  RollbackAnswer,
  RollbackOptions,
  RollbackTarget,
} from './surface/surface.ts'
import { BodyPurge, type PurgeAnswer, type PurgeOrder } from './upkeep/body-purge.ts'
import type { FoundBody } from './upkeep/body-search.ts'
import { type Holdings, holdingsOf } from './upkeep/home-use.ts'
import { type KeptState, keptState } from './upkeep/surplus.ts'
import { haltedQuestion, refusal } from './workspace/stopped-promotion.ts'
import { Workspace } from './workspace/workspace.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Nothing is asked of the machine before the first call. */
export async function openGate(given: GateContext): Promise<GateSurface> {
  const home = await underAcceptedLaws(given.home, given.ledger)
  const context = { ...given, home }
  return new GateSurface(context, await openLawBook(home, context.ledger))
}

/** The gate as its callers see it. */
export class GateSurface {
  readonly #context: GateContext
  readonly #book: LawBook
  readonly #view: LedgerView
  readonly #keeper: StandingKeeper
  readonly #parts: GateParts
  readonly #rollbacks: Rollbacks
  readonly #released: ReleasedRuns
  readonly #unfinished: UnfinishedActs
  /** Attempts of flow participants: their effects stay staged until another caller approves them. */
  readonly attempts: AttemptSurface
  /** What coding agents changed in their sessions. */
  readonly sessions: SessionSurface
  /** Requests of actors that their acts are taken back. */
  readonly undoRequests: UndoRequests

  constructor(context: GateContext, book: LawBook) {
    this.#context = context
    this.#book = book
    const { confirmationMinutes, questionMinutes, cooldownMinutes, retention } = book.settings
    const { home, ledger, stream, nowMs } = context
    this.#keeper = new StandingKeeper({ state: home.state, stream, ledger, nowMs })
    const times = {
      confirmationMs: confirmationMinutes * MINUTE_MS,
      questionMs: questionMinutes * MINUTE_MS,
      cooldownMs: cooldownMinutes * MINUTE_MS,
    }
    const view = new LedgerView(context, times, this.#keeper)
    this.#view = view
    this.#parts = {
      context,
      view,
      book,
      workspace: new Workspace(context, view, retention.undoDays * DAY_MS),
      questions: new Questions(context, view, book),
      approvers: new Approvers(context, view),
      prepared: new Map(),
    }
    this.#rollbacks = new Rollbacks(this.#parts)
    this.undoRequests = new UndoRequests(this.#parts, this.#rollbacks, times.questionMs)
    this.#released = new ReleasedRuns(context, view, book)
    this.#unfinished = new UnfinishedActs(this.#parts)
    this.attempts = new Attempts(this.#parts)
    this.sessions = new SessionActs(this.#parts, () => this.#recover())
  }

  /** The most that this host grants to one act. */
  get ceilings(): HostFacts['ceilings'] {
    return this.#book.settings.ceilings
  }

  /** What a session may ask of its model. */
  get sessionBudget(): LawBook['settings']['sessionBudget'] {
    return this.#book.settings.sessionBudget
  }

  get modelPrices(): LawBook['settings']['modelPrices'] {
    return this.#book.settings.modelPrices
  }

  /** How tasks reach devices; none while the laws in the file are not the accepted ones. */
  get dispatch(): LawBook['settings']['dispatch'] {
    return this.#book.settings.dispatch ?? []
  }

  /** How people hear of questions, and where links lead. */
  get notify(): {
    readonly ways: LawBook['settings']['notify']
    readonly link: LawBook['settings']['notifyLink']
  } {
    const { notify: ways = [], notifyLink: link = null } = this.#book.settings
    return { ways, link }
  }

  /** The questions that wait, by act and moment. */
  async asked(): Promise<readonly { readonly actionId: string; readonly askedAt: string }[]> {
    return (await this.#view.standing()).pending(this.#context.nowMs())
  }

  /** What agents may do without a question. */
  get grants(): readonly GrantDocument[] {
    return this.#book.lists.grants ?? []
  }

  /** Names of the caller's variables that runs do not see. */
  get droppedVariables(): readonly string[] {
    const { lists, settings } = this.#book
    return droppedNames(lists, this.#context.environment, settings.passEnvironment)
  }

  async propose(proposal: unknown, options: ProposeOptions): Promise<GateAnswer> {
    await this.#recover()
    if (!options.dryRun) await this.#parts.workspace.requireRecovered()
    return this.#answerOf(await act(this.#parts, proposal, options))
  }

  async #answerOf(outcome: Outcome): Promise<GateAnswer> {
    return withLawTexts(await answerOf(this.#parts.questions, outcome), this.#book)
  }

  async pending(): Promise<readonly InboxQuestion[]> {
    await this.#released.settle()
    await this.#unfinished.finish()
    const standing = await this.#view.standing()
    const nowMs = this.#context.nowMs()
    await expire(this.#parts, standing.expired(nowMs))
    const { questions } = this.#parts
    const rows: InboxQuestion[] = []
    for (const pending of standing.pending(nowMs)) {
      const row = await questions.row(pending)
      if (row === null) continue
      const named = await questions.pendingOf(pending)
      rows.push({ ...named, action_id: pending.actionId, ...row })
    }
    return rows
  }

  /** By the pending id or the action id; null when there is no such question (any more). */
  async question(id: string): Promise<Question | null> {
    const pending = await findPending(this.#parts, id)
    const found = pending === null ? null : await this.#parts.questions.openRecorded(pending)
    if (pending === null || found === null) return null
    const act = recordedAct(pending.actionId, found.record)
    return withPart(this.#parts, { act, pending }, found.question)
  }

  /** What became of the question of an act that no longer waits; null when there was none. */
  ended(actionId: string): Promise<Fault | null> {
    return endedQuestion(this.#view, actionId)
  }

  /** `answered` is the human's; a yes promotes. */
  async answer(id: string, answered: GivenAnswer): Promise<GateAnswer> {
    await this.#recover()
    const pending = await findPending(this.#parts, id)
    if (pending === null) throw await endedFailure(this.#parts, id)
    if (answered.kind === 'yes' && (await this.isHalted())) throw haltedQuestion(id)
    const { actionId } = pending
    const { questions } = this.#parts
    // A no needs nothing but the question.
    const isNo = answered.kind === 'no'
    const known = isNo ? await questions.known(actionId) : await questions.record(actionId)
    questions.forget()
    if (known === null) throw refusal('confirm.used', id)
    const waiting = { act: recordedAct(actionId, known), pending }
    const outcome = await this.#answerOf(await answer(this.#parts, waiting, answered))
    const always = answered.kind === 'yes' ? answered.always : undefined
    if (always !== undefined && outcome.promoted) await this.#give(actionId, always)
    return outcome
  }

  async #give(actionId: string, { agent, glob }: OfferedGrant): Promise<void> {
    const nowMs = this.#context.nowMs()
    const grant_id = randomUUID()
    const payload: GrantFact = {
      grant_id,
      event: 'GIVEN',
      at: occurredAtText(nowMs),
      action_id: actionId,
      agent,
      glob,
      uses: GRANT_USES_MAX,
      until: occurredAtText(nowMs + GRANT_MS_MAX),
    }
    await this.#view.record([{ type: 'grant_v1', payload, key: `grant/${grant_id}` }])
  }

  /** What humans granted at questions and is in force. */
  given(): Promise<readonly KnownGrant[]> {
    return this.#view.ask((standing) => standing.grants.all(this.#context.nowMs()))
  }

  /** Takes a grant back, by its id. */
  async revoke(grantId: string): Promise<void> {
    const at = occurredAtText(this.#context.nowMs())
    const payload: GrantFact = { grant_id: grantId, event: 'REVOKED', at }
    await this.#view.record([{ type: 'grant_v1', payload, key: `grant/${grantId}/revoked` }])
  }

  async rollback(target: RollbackTarget, options: RollbackOptions): Promise<RollbackAnswer> {
    await this.#recover()
    if (!options.dryRun) await this.#parts.workspace.requireRecovered()
    await this.#parts.workspace.sweep()
    return this.#rollbacks.rollback(target, options)
  }

  async override(order: OverrideOrder): Promise<OverrideAnswer> {
    const nowMs = this.#context.nowMs()
    if (order.kind === 'law') refuseLaw(order.policyId, this.#book.laws)
    const { confirmationMinutes } = this.#book.settings
    const payload = await this.#view.ask((standing) => {
      if (order.kind === 'release') return releaseFact(order, confirmationMinutes, nowMs)
      const made = overrideFact(order, standing, nowMs)
      return order.kind === 'lift' && !standing.isLiftable(made, nowMs) ? null : made
    })
    if (payload === null) return { ok: true, lifted: false }
    const key = `override/${payload.override_id}`
    const seq = await this.#view.record([{ type: 'override_v1', payload, key }])
    return { ok: true as const, seq }
  }

  /** Hosts of a proposal to which nothing is sent unless a human releases it before the run. */
  releasesNeeded(proposal: Proposal): readonly string[] {
    return releasesNeeded(proposal, this.#book)
  }

  /** Released runs that were interrupted lately: something may have been sent. */
  interrupted() {
    return this.#released.recent()
  }

  /** Ends or tells what others left undone. */
  async #recover(): Promise<void> {
    await this.#parts.workspace.recover()
    await this.#released.settle()
    await this.#unfinished.finish()
  }

  /** Ends what is left of acts whose process is gone, as far as no human has to choose. */
  finish(): Promise<void> {
    return this.#recover()
  }

  /** What waits for a human's choice; everything else that was interrupted is ended by the call. */
  async recoveries(): Promise<readonly OpenRecovery[]> {
    await this.#released.settle()
    const open = await this.#parts.workspace.openRecoveries()
    if (open.length === 0) await this.#unfinished.finish()
    return open
  }

  /** Approved acts that a crash had interrupted and that this gate has ended. */
  async finished(): Promise<readonly FinishedYes[]> {
    return [...this.#parts.workspace.recovered, ...this.#unfinished.finished]
  }

  /** Approved acts that were interrupted and wait for a person's command. */
  unfinished(): Promise<readonly string[]> {
    return this.#unfinished.approved()
  }

  /** Ends these without a promotion. */
  endUnfinished(): Promise<void> {
    return this.#unfinished.endApproved()
  }

  /** Ends one interrupted promotion or rollback as a human chose; touches no other act. */
  async resolve(order: RecoveryOrder): Promise<ResolvedRecovery> {
    return this.#parts.workspace.resolve(order)
  }

  /** The most approvals that a law wants, and how many humans can give one; null where one does. */
  async approvalsWanted() {
    const needed = Math.max(1, ...this.#book.laws.map(({ approvals }) => approvals))
    if (needed === 1) return null
    return { needed, humans: await this.#parts.approvers.humans() }
  }

  /** What is kept of the past, and for how long. */
  async kept(): Promise<KeptState> {
    const { home, nowMs } = this.#context
    const { settings } = this.#book
    const kept = await this.#view.ask((standing) => keptState(home, standing, settings, nowMs()))
    const standing = { ...this.#view.extent, dropped: this.#keeper.dropped() }
    const laws_differ = this.#book.unaccepted !== null
    return { ...kept, laws_differ, standing }
  }

  /** What this stream still needs of the state directory. */
  holdings(): Promise<Holdings> {
    return holdingsOf(this.#view, this.#book.settings, this.#context.nowMs())
  }

  /** Ends what was interrupted or expired, and drops bodies whose time is over; returns those. */
  async tidy({ dryRun }: { readonly dryRun: boolean }): Promise<readonly FoundBody[]> {
    if (!dryRun) {
      await this.#recover()
      await this.#parts.workspace.sweep()
      const standing = await this.#view.standing()
      await expire(this.#parts, standing.expired(this.#context.nowMs()))
    }
    return new BodyPurge(this.#context, this.#view).dropOld(this.#book.settings, dryRun)
  }

  /** Drops bodies of the past, never facts, and nothing that is still needed. */
  async purge(order: PurgeOrder, { dryRun }: { readonly dryRun: boolean }): Promise<PurgeAnswer> {
    await this.#recover()
    return new BodyPurge(this.#context, this.#view).purge(order, dryRun)
  }

  async halt(reason: string | null) {
    const at = occurredAtText(this.#context.nowMs())
    raiseHalt(this.#context.home.state, at)
    return this.#recordHalt('HALTED', at, reason)
  }

  /** Returns whether a human halted everything and no human has resumed since. */
  async isHalted(): Promise<boolean> {
    return isHalted(this.#context.home.state) || (await this.#view.standing()).halted
  }

  async resume(reason: string | null) {
    const at = occurredAtText(this.#context.nowMs())
    const answer = await this.#recordHalt('RESUMED', at, reason)
    liftHalt(this.#context.home.state)
    return answer
  }

  async close(): Promise<void> {
    this.#view.close()
    if (this.#context.leavesClosing !== true) await this.#context.driver.close()
  }

  async #recordHalt(state: 'HALTED' | 'RESUMED', at: string, reason: string | null) {
    const payload = reason === null ? { state, at } : { state, at, reason }
    const seq = await this.#view.recordOnHost({
      type: 'halt_v1',
      payload,
      key: `halt/${at}/${state}`,
    })
    return { ok: true as const, seq }
  }
}
