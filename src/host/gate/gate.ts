/**
 * The gate: from an actor's intent to a bounded, proven, reversible act. Wires what decides (gate,
 * policy), what runs (sandbox), what looks (tree), what changes (promotion) and what remembers
 * (ledger), in the one order that there is.
 *
 * INVARIANT (one act, one promotion, I3): only `#promote` changes the tree, with staged bytes, after a
 *   decision that is a fact, and once: the fact of a promotion ends the question.
 * INVARIANT (approval is of effects, I4): an answer counts for the digests it was asked about, while
 *   the question stands.
 */
import { type Fault, fault, showName } from '../../base/index.ts'
import type {
  Confirmation,
  Decision,
  Evaluation,
  HostFacts,
  Promotion,
  SandboxResult,
} from '../../contracts/index.ts'
import {
  answerFault,
  type Change,
  decide,
  displayOfRaw,
  inlineDiff,
  type PendingQuestion as Pending,
  type PromotedAction,
  type StandingFold,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { HomeFailure } from '../home/failure.ts'
import { PromotionFailure, removeTree } from '../promotion/index.ts'
import { type GateContext, workspaceOf } from './context.ts'
import { isHalted, liftHalt, raiseHalt } from './halt.ts'
import { keepHouse } from './housekeeping.ts'
import { changedInputs } from './inputs.ts'
import { type LawBook, openLawBook } from './law-book.ts'
import { LedgerView } from './ledger-view.ts'
import { overrideFact } from './overriding.ts'
import { probePreconditions } from './preconditions.ts'
import { Promoter } from './promoting.ts'
import { type Decided, Proposing } from './proposing.ts'
import { pendingId, Questions } from './questions.ts'
import { findStage } from './stage-place.ts'
import type {
  Answered,
  Assurance,
  GateAnswer,
  GateSurface,
  OpenRecovery,
  OverrideOrder,
  PendingQuestion,
  ProposeOptions,
  Question,
  RecoveryOrder,
  RollbackAnswer,
  RollbackTarget,
} from './surface.ts'

const MINUTE_MS = 60_000
const INPUTS_CHANGED = 'promote.inputs_changed'

/** Nothing is asked of the machine before the first call. */
export async function openGate(context: GateContext): Promise<GateSurface> {
  const book = await openLawBook(context.home)
  return new Gate(context, book)
}

class Gate implements GateSurface {
  readonly #context: GateContext
  readonly #book: LawBook
  readonly #view: LedgerView
  readonly #promoter: Promoter
  readonly #questions: Questions

  constructor(context: GateContext, book: LawBook) {
    this.#context = context
    this.#book = book
    const { confirmationMinutes, cooldownMinutes } = book.settings
    this.#view = new LedgerView(context, {
      confirmationMs: confirmationMinutes * MINUTE_MS,
      cooldownMs: cooldownMinutes * MINUTE_MS,
    })
    this.#promoter = new Promoter(context, this.#view)
    this.#questions = new Questions(context, this.#view, book)
  }

  get ceilings(): HostFacts['ceilings'] {
    return this.#book.settings.ceilings
  }

  async propose(document: unknown, options: ProposeOptions): Promise<GateAnswer> {
    await this.#promoter.recover()
    const proposing = new Proposing(this.#context, this.#view, this.#book, options)
    const decided = await proposing.run(document)
    const { decision } = decided
    if (options.dryRun || decision.decision === 'BLOCK') return answerOf(decided)
    if (decided.promotion !== null) return answerOf(decided, { promotion: decided.promotion })
    if (decision.decision === 'PROMOTE') return this.#promoteDecided(decided)
    const pending = (await this.#view.standing()).question(decided.actionId)
    const question = pending === null ? null : await this.#questions.open(pending)
    if (pending === null || question === null) return answerOf(decided)
    const answered = await options.confirm(question)
    if (answered.kind === 'wait') return answerOf(decided, { pending: pendingOf(pending) })
    return this.#settle(pending, decided, answered)
  }

  async pending(): Promise<readonly PendingQuestion[]> {
    const standing = await this.#view.standing()
    const nowMs = this.#context.nowMs()
    await this.#expire(standing.expired(nowMs))
    const questions: PendingQuestion[] = []
    for (const pending of standing.pending(nowMs)) {
      const record = await this.#questions.record(pending.actionId)
      if (record === null) continue
      const { proposal, result, evaluation } = record
      questions.push({
        ...pendingOf(pending),
        action_id: pending.actionId,
        kind: proposal.descriptor.action_type,
        proposal_digest: pending.proposalDigest,
        result_digest: pending.resultDigest,
        effects: result.diff.counts,
        needs: this.#questions.needOf(proposal, evaluation, result),
      })
    }
    return questions
  }

  async question(id: string): Promise<Question | null> {
    const pending = await this.#find(id)
    return pending === null ? null : this.#questions.open(pending)
  }

  async answer(id: string, answered: Exclude<Answered, { kind: 'wait' }>): Promise<GateAnswer> {
    await this.#promoter.recover()
    const pending = await this.#find(id)
    const record = pending === null ? null : await this.#questions.record(pending.actionId)
    if (pending === null || record === null) throw refusal('confirm.used', id)
    const { proposal, result, decision, evaluation, changes } = record
    const decided: Decided = {
      actionId: pending.actionId,
      proposal,
      proposalDigest: pending.proposalDigest as Decided['proposalDigest'],
      evaluation,
      result,
      decision,
      changes,
      violations: [],
      promotion: null,
    }
    return this.#settle(pending, decided, answered)
  }

  async rollback(
    target: RollbackTarget,
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<RollbackAnswer> {
    await this.#promoter.recover()
    const actions = this.#chosen(await this.#view.standing(), target)
    const { paths, verified } = await this.#promoter.rollback(actions, dryRun)
    return { action_id: actions[0]?.actionId ?? '', restored: paths, verified }
  }

  async override(order: OverrideOrder) {
    const nowMs = this.#context.nowMs()
    const standing = await this.#view.standing()
    const payload = overrideFact(order, standing, nowMs)
    const key = `override/${payload.override_id}`
    const seq = await this.#view.record([{ type: 'override_v1', payload, key }])
    return { ok: true as const, seq }
  }

  async recoveries(): Promise<readonly OpenRecovery[]> {
    return this.#promoter.openRecoveries()
  }

  async resolve(order: RecoveryOrder): Promise<void> {
    return this.#promoter.resolve(order)
  }

  async halt(reason: string | null) {
    const at = occurredAtText(this.#context.nowMs())
    raiseHalt(this.#context.home.state, at)
    return this.#recordHalt('HALTED', at, reason)
  }

  async resume(reason: string | null) {
    const at = occurredAtText(this.#context.nowMs())
    const answer = await this.#recordHalt('RESUMED', at, reason)
    liftHalt(this.#context.home.state)
    return answer
  }

  async close(): Promise<void> {
    await this.#context.driver.close()
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

  /** Records the answer, and carries a yes out. */
  async #settle(
    pending: Pending,
    decided: Decided,
    answered: Exclude<Answered, { kind: 'wait' }>,
  ): Promise<GateAnswer> {
    if (answered.kind === 'no') {
      await this.#confirm(pending, 'DENIED', 'none', answered.reason, undefined)
      this.#dropStage(decided.result)
      return answerOf(decided)
    }
    const { proposal, evaluation, result } = decided
    const need =
      proposal === null || result === null
        ? 'passkey'
        : this.#questions.needOf(proposal, evaluation, result)
    const standing = await this.#view.standing()
    const refused = answerFault(
      standing.question(pending.actionId),
      {
        proposalDigest: pending.proposalDigest,
        resultDigest: pending.resultDigest,
        assurance: answered.assurance,
      },
      need,
      this.#context.nowMs(),
    )
    if (refused === 'confirm.expired') await this.#expire([pending])
    if (refused !== null) throw refusal(refused, pending.actionId)
    const asked = await this.#askedAgain(pending, decided)
    if (asked !== null) return asked
    await this.#confirm(pending, 'APPROVED', answered.assurance, undefined, answered.toldFailure)
    return this.#promoteDecided(decided)
  }

  /**
   * Other files of the scope changed while somebody was asked: shown, and asked about once more, where
   * a law wants it (G-19d). Null when there is nothing to ask.
   */
  async #askedAgain(pending: Pending, decided: Decided): Promise<GateAnswer | null> {
    const { proposal, result, evaluation } = decided
    if (proposal === null || result === null) return null
    const asked = evaluation.obstacles.filter(({ code }) => code === INPUTS_CHANGED)
    const wasAsked = asked.length > 0
    const sinceMs = Date.parse(wasAsked ? pending.askedAt : result.execution.started_at)
    const roots = evaluation.host.roots.flatMap(({ real, kind }) =>
      kind === 'directory' ? [real] : [],
    )
    const touched = new Set(decided.changes.map(({ path }) => path))
    const shown = new Set(asked.map(({ path = '' }) => path))
    const changed = await changedInputs(roots, sinceMs, touched, shown)
    if (changed.length === 0 || !this.#asksAboutInputs(decided)) return null
    const obstacles = changed.map((path) => ({ code: INPUTS_CHANGED, path: displayOfRaw(path) }))
    const again = await this.#decideAgain(decided, obstacles, `inputs/${this.#context.nowMs()}`)
    const renewed = (await this.#view.standing()).question(pending.actionId)
    return answerOf(again, renewed === null ? {} : { pending: pendingOf(renewed) })
  }

  /** Whether a law is broken by such a finding that was not broken without it. */
  #asksAboutInputs({ proposal, result, evaluation }: Decided): boolean {
    if (proposal === null || result === null) return false
    const known = new Set(evaluation.law_outcomes.map(({ policy_id }) => policy_id))
    const findings = [...result.findings, { code: INPUTS_CHANGED }]
    const outcomes = this.#book.judge(
      'after',
      {
        proposal,
        risk: evaluation.risk.effective,
        result: { ...result, findings },
        changes: [],
        context: {
          now: occurredAtText(this.#context.nowMs()),
          actor: this.#context.caller.principal.id,
          actor_kind: evaluation.actor_kind,
          workspace: evaluation.host.workspace,
          host: '',
          recent_rollbacks: 0,
        },
        home: evaluation.host.homes.find(({ own }) => own)?.path ?? '/',
      },
      new Set(),
    )
    return outcomes.some(({ policy_id, action }) => action !== 'alert' && !known.has(policy_id))
  }

  /** The same act with what turned up since, as a decision of its own. */
  async #decideAgain(
    decided: Decided,
    obstacles: Evaluation['obstacles'],
    key: string,
  ): Promise<Decided> {
    const evaluation: Evaluation = {
      ...decided.evaluation,
      obstacles: [...decided.evaluation.obstacles, ...obstacles],
    }
    const { proposal, result, actionId } = decided
    const decidedAt = occurredAtText(this.#context.nowMs())
    const decision = decide({ proposal, evaluation, result, lists: this.#book.lists, decidedAt })
    await this.#view.record([
      { type: 'evaluation_v1', payload: evaluation, key: `evaluation/${actionId}/${key}` },
      { type: 'decision_v1', payload: decision, key: `decision/${actionId}/${key}` },
    ])
    return { ...decided, evaluation, decision }
  }

  async #confirm(
    pending: Pending,
    answer: Confirmation['answer'],
    assurance: Assurance,
    reason: string | undefined,
    toldFailure: boolean | undefined,
  ): Promise<void> {
    const payload: Confirmation = {
      action_id: pending.actionId,
      proposal_digest: pending.proposalDigest,
      result_digest: pending.resultDigest,
      answer,
      assurance,
      level: 'seatbelt',
      asked_at: pending.askedAt,
      answered_at: occurredAtText(this.#context.nowMs()),
      expires_at: occurredAtText(pending.expiresMs),
      ...(reason === undefined ? {} : { reason }),
      ...(toldFailure === undefined ? {} : { told_failure: toldFailure }),
    }
    const key = `confirmation/${pending.actionId}`
    await this.#view.record([{ type: 'confirmation_v1', payload, key }])
  }

  /** Silence is a no, and goes on the record as soon as somebody looks. */
  async #expire(questions: readonly Pending[]): Promise<void> {
    for (const pending of questions) {
      await this.#confirm(pending, 'EXPIRED', 'none', undefined, undefined)
      const found = await this.#view.factOf('sandbox_result_v1', pending.actionId)
      this.#dropStage((found?.payload as SandboxResult | undefined) ?? null)
    }
  }

  #dropStage(result: SandboxResult | null): void {
    const found = result === null ? null : findStage(this.#context.home, result.sandbox_id)
    if (found !== null) removeTree(found.stage)
  }

  async #promoteDecided(decided: Decided): Promise<GateAnswer> {
    const { proposal, result, changes, evaluation } = decided
    if (proposal === null || result === null) return answerOf(decided)
    try {
      const promotion = await this.#promoter.promote({
        actionId: decided.actionId,
        proposalDigest: decided.proposalDigest,
        resultDigest: decided.decision.result_digest ?? '',
        result,
        changes,
        roots: evaluation.host.roots.filter(({ kind }) => kind === 'directory'),
        onLocked: () => {
          if (isHalted(this.#context.home.state)) throw refusal('halted', '')
          // Its own failure code, and nothing about which one (G-9).
          if (probePreconditions(proposal).length > 0) throw refusal('precondition.failed', '')
        },
      })
      this.#keepHouse(await this.#view.standing())
      return answerOf(decided, { promotion, changes })
    } catch (error) {
      return this.#notPromoted(decided, error)
    }
  }

  #keepHouse(standing: StandingFold): void {
    const { confirmationMinutes } = this.#book.settings
    const { home, nowMs } = this.#context
    keepHouse(home, standing.promoted(), confirmationMinutes * MINUTE_MS, nowMs())
  }

  /** What stopped a promotion is a decision of its own: BLOCK, and it takes a new proposal. */
  async #notPromoted(decided: Decided, error: unknown): Promise<GateAnswer> {
    const { fault: failed } = error as { readonly fault?: Fault }
    if (!(error instanceof Error) || failed === undefined) throw error
    if (!isAnswer(failed)) throw error
    const obstacle = { code: failed.code, detail: failed.message, path: failed.at }
    const again = await this.#decideAgain(decided, [obstacle], 'promotion')
    this.#dropStage(decided.result)
    return answerOf(again)
  }

  async #find(id: string): Promise<Pending | null> {
    const standing = await this.#view.standing()
    const nowMs = this.#context.nowMs()
    await this.#expire(standing.expired(nowMs))
    const wanted = id.toLowerCase()
    const found = standing
      .pending(nowMs)
      .filter(
        (pending) =>
          pending.actionId.toLowerCase() === wanted || pendingId(pending).startsWith(wanted),
      )
    return wanted !== '' && found.length === 1 ? (found[0] ?? null) : null
  }

  #chosen(standing: StandingFold, target: RollbackTarget): readonly PromotedAction[] {
    const standingStill = standing
      .promoted()
      .filter(({ rolledBackBy, promotion }) => rolledBackBy === null && promotion.paths > 0)
    if ('actionId' in target) return [this.#named(standing, target.actionId)]
    const newestFirst = [...standingStill].reverse()
    const chosen =
      'last' in target
        ? newestFirst.slice(0, 1)
        : newestFirst.filter(({ promotedAt }) => promotedAt >= target.since)
    if (chosen.length > 0) return chosen
    throw refusal('rollback.nothing', workspaceOf(this.#context))
  }

  #named(standing: StandingFold, id: string): PromotedAction {
    const action = standing.promotion(id)
    if (action !== null && action.rolledBackBy === null && action.promotion.paths > 0) return action
    const message =
      action === null
        ? `no promoted action has the id ${showName(id)}`
        : action.rolledBackBy === null
          ? `the action ${showName(id)} changed nothing`
          : `the action ${showName(id)} was rolled back before`
    throw new HomeFailure(fault('rollback.nothing', id, null, { message }))
  }
}

/** A promotion that was refused is an answer; a machine that failed is a fault. */
function isAnswer({ code }: Fault): boolean {
  return ANSWERS.has(code)
}

const ANSWERS: ReadonlySet<string> = new Set([
  'promote.conflict',
  'promote.busy',
  'promote.no_space',
  'promote.unsupported_fs',
  'promote.stage_altered',
  'stage.missing',
  'precondition.failed',
  'halted',
])

type RefusalCode = NonNullable<ReturnType<typeof answerFault>> | 'halted' | 'rollback.nothing'

function refusal(code: RefusalCode, at: string): PromotionFailure {
  // None of these codes carries details.
  return new PromotionFailure(fault(code as 'halted', at, null))
}

function pendingOf(pending: Pending): { readonly id: string; readonly expires_at: string } {
  return { id: pendingId(pending), expires_at: occurredAtText(pending.expiresMs) }
}

function answerOf(
  { actionId, proposalDigest, decision, result, violations, changes: rehearsed }: Decided,
  more: {
    readonly pending?: GateAnswer['pending']
    readonly promotion?: Promotion
    readonly changes?: readonly Change[]
  } = {},
): GateAnswer {
  const { pending, promotion, changes = [] } = more
  return {
    action_id: actionId,
    proposal_digest: proposalDigest,
    decision: decision as Decision,
    result: result === null ? null : withWholeDiff(result, rehearsed),
    promoted: promotion?.status === 'APPLIED',
    ...(promotion === undefined
      ? {}
      : {
          promotion: {
            paths: changes.map(({ path }) => displayOfRaw(path)),
            snapshot_digest: promotion.snapshot_digest,
          },
        }),
    ...(pending === undefined ? {} : { pending }),
    ...(violations.length === 0 ? {} : { violations }),
  }
}

/** A recorded result lists some entries and names a manifest; whoever asked gets them all. */
function withWholeDiff(result: SandboxResult, changes: readonly Change[]): SandboxResult {
  const { diff } = result
  const listed = diff.added.length + diff.modified.length + diff.deleted.length
  const { added, modified, deleted } = diff.counts
  if (listed === added + modified + deleted) return result
  return { ...result, diff: { ...diff, ...inlineDiff(changes, Number.POSITIVE_INFINITY) } }
}
