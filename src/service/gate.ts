/**
 * The gate: from an actor's intent to a bounded, proven, reversible act. Wires what decides (gate,
 * policy), what runs (sandbox), what looks (tree), what changes (promotion) and what remembers
 * (ledger), in the one order that there is.
 *
 * INVARIANT (approval is of effects, I4): an answer counts for the digests it was asked about, while
 *   the question stands.
 */
import type { Fault } from '../base/index.ts'
import type { HostFacts, Proposal } from '../contracts/index.ts'
import { droppedNames, type PendingQuestion as Pending } from '../gate/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import { StandingKeeper } from '../store/index.ts'
import { answerOf, withLawTexts } from './answer.ts'
import { Approving } from './approving.ts'
import type { AttemptSurface } from './attempt-surface.ts'
import { Attempts } from './attempts.ts'
import type { FoundBody } from './body-search.ts'
import { type GateContext, workspaceOf } from './context.ts'
import { type Decided, decidedOf, type KnownAct } from './decided.ts'
import { endedQuestion } from './ended-question.ts'
import { isHalted, liftHalt, raiseHalt } from './halt.ts'
import { type Holdings, holdingsOf } from './holdings.ts'
import { type KeptState, keptState } from './kept-state.ts'
import { type LawBook, openLawBook } from './law-book.ts'
import { LedgerView } from './ledger-view.ts'
import { LockAhead } from './lock-ahead.ts'
import { overrideFact, refuseLaw } from './overriding.ts'
import { Promoter } from './promoting.ts'
import { Proposing } from './proposing.ts'
import { type PurgeAnswer, type PurgeOrder, Purging } from './purging.ts'
import { pendingId, Questions } from './questions.ts'
import { ReleasedRuns } from './released-run.ts'
import { releaseFact, releasesNeeded } from './releasing.ts'
import { refusal, Settling } from './settling.ts'
import type {
  Answered,
  FinishedYes,
  GateAnswer,
  GateSurface,
  OpenRecovery,
  OverrideOrder,
  PendingQuestion,
  ProposeOptions,
  Question,
  RecoveryOrder,
  RollbackAnswer,
  RollbackOptions,
  RollbackTarget,
} from './surface.ts'
import { TakingBack } from './taking-back.ts'
import { UnfinishedYes } from './unfinished-yes.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Nothing is asked of the machine before the first call. */
export async function openGate(context: GateContext): Promise<GateSurface> {
  const book = await openLawBook(context.home, context.ledger)
  return new Gate(context, book)
}

class Gate implements GateSurface {
  readonly #context: GateContext
  readonly #book: LawBook
  readonly #keeper: StandingKeeper
  readonly #view: LedgerView
  readonly #promoter: Promoter
  readonly #questions: Questions
  readonly #settling: Settling
  readonly #takingBack: TakingBack
  readonly #released: ReleasedRuns
  readonly #unfinished: UnfinishedYes
  readonly attempts: AttemptSurface

  constructor(context: GateContext, book: LawBook) {
    this.#context = context
    this.#book = book
    const { confirmationMinutes, questionMinutes, cooldownMinutes } = book.settings
    const { home, ledger, stream, nowMs } = context
    this.#keeper = new StandingKeeper({ state: home.state, stream, ledger, nowMs })
    this.#view = new LedgerView(
      context,
      {
        confirmationMs: confirmationMinutes * MINUTE_MS,
        questionMs: questionMinutes * MINUTE_MS,
        cooldownMs: cooldownMinutes * MINUTE_MS,
      },
      this.#keeper,
    )
    const { undoDays } = book.settings.retention
    this.#promoter = new Promoter(context, this.#view, undoDays * DAY_MS)
    this.#questions = new Questions(context, this.#view, book)
    this.#settling = new Settling(context, this.#view, book, this.#promoter, this.#questions)
    this.#takingBack = new TakingBack(context, this.#view, this.#promoter)
    this.#released = new ReleasedRuns(context, this.#view, book)
    const parts = {
      context,
      view: this.#view,
      book,
      promoter: this.#promoter,
      questions: this.#questions,
      settling: this.#settling,
    }
    this.#unfinished = new UnfinishedYes(parts)
    this.attempts = new Attempts(parts)
  }

  get ceilings(): HostFacts['ceilings'] {
    return this.#book.settings.ceilings
  }

  get droppedVariables(): readonly string[] {
    const { lists, settings } = this.#book
    return droppedNames(lists, this.#context.environment, settings.passEnvironment)
  }

  async propose(document: unknown, options: ProposeOptions): Promise<GateAnswer> {
    return withLawTexts(await this.#propose(document, options), this.#book)
  }

  async #propose(document: unknown, options: ProposeOptions): Promise<GateAnswer> {
    await this.#recover()
    const ahead = new LockAhead(workspaceOf(this.#context))
    try {
      const ordered = { ...options, onStaging: () => ahead.begin() }
      const proposing = new Proposing(this.#context, this.#view, this.#book, ordered)
      const decided = await proposing.run(document)
      const isGoing = decided.decision.decision === 'PROMOTE' && decided.promotion === null
      if (isGoing && !options.dryRun) {
        return await this.#settling.promoteDecided(decided, { lockAhead: ahead })
      }
      return await this.#answered(decided, options)
    } finally {
      ahead.letGo()
    }
  }

  /** What is not promoted at once: refused, without effects, or for a human to say. */
  async #answered(decided: Decided, options: ProposeOptions): Promise<GateAnswer> {
    const { decision } = decided
    if (options.dryRun || decision.decision === 'BLOCK') return answerOf(decided)
    if (decided.promotion !== null) return answerOf(decided, { promotion: decided.promotion })
    const pending = (await this.#view.standing()).question(decided.actionId)
    this.#questions.askHere(decided.actionId)
    if (decided.known !== undefined) this.#questions.remember(decided.known)
    const question = pending === null ? null : await this.#questions.open(pending)
    this.#questions.forget()
    if (pending === null || question === null) return answerOf(decided)
    await this.#settling.supersede(decided)
    const first = await this.#settling.endSecondCompensation(pending, decided)
    if (first !== null) return { ...answerOf(decided), superseded_by: first }
    const answered = await options.confirm(question)
    if (answered.kind === 'wait') {
      return answerOf(decided, { pending: await this.#questions.pendingOf(pending) })
    }
    return this.#settling.settle(pending, decided, answered)
  }

  async pending(): Promise<readonly PendingQuestion[]> {
    await this.#released.settle()
    await this.#unfinished.finish()
    const standing = await this.#view.standing()
    const nowMs = this.#context.nowMs()
    await this.#settling.expire(standing.expired(nowMs))
    const questions: PendingQuestion[] = []
    for (const pending of standing.pending(nowMs)) {
      const row = await this.#questions.row(pending)
      if (row === null) continue
      const named = await this.#questions.pendingOf(pending)
      questions.push({ ...named, action_id: pending.actionId, ...row })
    }
    return questions
  }

  async question(id: string): Promise<Question | null> {
    const pending = await this.#find(id)
    return pending === null ? null : this.#questions.open(pending)
  }

  ended(actionId: string): Promise<Fault | null> {
    return endedQuestion(this.#view, actionId)
  }

  async answer(id: string, answered: Exclude<Answered, { kind: 'wait' }>): Promise<GateAnswer> {
    await this.#recover()
    const pending = await this.#find(id)
    if (pending === null) throw await this.#settling.ended(id)
    const { actionId } = pending
    // A no needs nothing but the question.
    const known =
      answered.kind === 'no' ? await this.#known(actionId) : await this.#questions.record(actionId)
    this.#questions.forget()
    if (known === null) throw refusal('confirm.used', id)
    const decided = decidedOf(pending.actionId, known)
    return withLawTexts(await this.#settling.settle(pending, decided, answered), this.#book)
  }

  async rollback(target: RollbackTarget, options: RollbackOptions): Promise<RollbackAnswer> {
    await this.#recover()
    await this.#promoter.sweep()
    return this.#takingBack.rollback(target, options, {
      propose: (proposal, compensates) => this.#compensate(proposal, compensates, options),
      waiting: (actionId) => this.#waiting(actionId),
    })
  }

  /** What is on the record of an act, as far as it is kept. */
  async #known(actionId: string): Promise<KnownAct | null> {
    const record = await this.#questions.record(actionId)
    if (record !== null) return record
    const bare = await this.#questions.bare(actionId)
    return bare === null ? null : { ...bare, proposal: null, changes: [] }
  }

  async #waiting(actionId: string): Promise<GateAnswer | null> {
    const pending = await this.#find(actionId)
    const known = pending === null ? null : await this.#known(pending.actionId)
    if (pending === null || known === null) return null
    const decided = decidedOf(pending.actionId, known)
    return answerOf(decided, { pending: await this.#questions.pendingOf(pending) })
  }

  #compensate(
    proposal: Proposal,
    compensates: string,
    { confirm = async () => ({ kind: 'wait' }) }: RollbackOptions,
  ): Promise<GateAnswer> {
    const { signal: abort } = new AbortController()
    const door = { door: 'propose', declaredByApproval: false, dryRun: false } as const
    return this.propose(proposal, { ...door, confirm, compensates, abort })
  }

  async override(order: OverrideOrder) {
    const nowMs = this.#context.nowMs()
    if (order.kind === 'law') refuseLaw(order.policyId, this.#book.laws)
    const { confirmationMinutes } = this.#book.settings
    const payload = await this.#view.ask((standing) =>
      order.kind === 'release'
        ? releaseFact(order, confirmationMinutes, nowMs)
        : overrideFact(order, standing, nowMs),
    )
    const key = `override/${payload.override_id}`
    const seq = await this.#view.record([{ type: 'override_v1', payload, key }])
    return { ok: true as const, seq }
  }

  releasesNeeded(proposal: Proposal): readonly string[] {
    return releasesNeeded(proposal, this.#book)
  }

  interrupted() {
    return this.#released.recent()
  }

  /** Ends or tells what others left undone. */
  async #recover(): Promise<void> {
    await this.#promoter.recover()
    await this.#released.settle()
    await this.#unfinished.finish()
  }

  async recoveries(): Promise<readonly OpenRecovery[]> {
    await this.#released.settle()
    const open = await this.#promoter.openRecoveries()
    if (open.length === 0) await this.#unfinished.finish()
    return open
  }

  async finished(): Promise<readonly FinishedYes[]> {
    return [...this.#promoter.putBack, ...this.#unfinished.finished]
  }

  async resolve(order: RecoveryOrder): Promise<void> {
    return this.#promoter.resolve(order)
  }

  async approvalsWanted() {
    const needed = Math.max(1, ...this.#book.laws.map(({ approvals }) => approvals))
    if (needed === 1) return null
    return { needed, humans: await new Approving(this.#context, this.#view).humans() }
  }

  async kept(): Promise<KeptState> {
    const { home, nowMs } = this.#context
    const { settings } = this.#book
    const kept = await this.#view.ask((standing) => keptState(home, standing, settings, nowMs()))
    const standing = { ...this.#view.extent, dropped: this.#keeper.dropped() }
    const laws_differ = this.#book.unaccepted !== null
    return { ...kept, laws_differ, standing }
  }

  holdings(): Promise<Holdings> {
    return holdingsOf(this.#view, this.#book.settings, this.#context.nowMs())
  }

  async tidy({ dryRun }: { readonly dryRun: boolean }): Promise<readonly FoundBody[]> {
    if (!dryRun) {
      await this.#recover()
      await this.#promoter.sweep()
      const standing = await this.#view.standing()
      await this.#settling.expire(standing.expired(this.#context.nowMs()))
    }
    return new Purging(this.#context, this.#view).dropOld(this.#book.settings, dryRun)
  }

  async purge(order: PurgeOrder, { dryRun }: { readonly dryRun: boolean }): Promise<PurgeAnswer> {
    await this.#recover()
    return new Purging(this.#context, this.#view).purge(order, dryRun)
  }

  async halt(reason: string | null) {
    const at = occurredAtText(this.#context.nowMs())
    raiseHalt(this.#context.home.state, at)
    return this.#recordHalt('HALTED', at, reason)
  }

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

  async #find(id: string): Promise<Pending | null> {
    const standing = await this.#view.standing()
    const nowMs = this.#context.nowMs()
    await this.#settling.expire(standing.expired(nowMs))
    const wanted = id.toLowerCase()
    const found = standing
      .pending(nowMs)
      .filter(
        (pending) =>
          isNamed(pending.actionId.toLowerCase(), wanted) || pendingId(pending).startsWith(wanted),
      )
    return wanted !== '' && found.length === 1 ? (found[0] ?? null) : null
  }
}

const SHORT_MIN = 4

/** By the whole id, or by a beginning of it that is long enough to be meant. */
function isNamed(id: string, wanted: string): boolean {
  return wanted.length >= SHORT_MIN ? id.startsWith(wanted) : id === wanted
}
