/**
 * What follows a decision: the answer of a human put on the record, a yes carried out, silence counted
 * as a no, and what stopped a promotion told as a decision of its own. For proposals and for attempts
 * alike.
 *
 * INVARIANT (all who were asked): where a law wants several humans, nothing is promoted before each of
 *   them has signed for exactly this question.
 * INVARIANT (one act, one promotion, I3): only `promoteDecided` changes the tree, with staged bytes,
 *   after a decision that is a fact, and once: the fact of a promotion ends the question.
 */
import { type Fault, FaultError, fault } from '../base/index.ts'
import type { Confirmation, Evaluation, Proposal, SandboxResult } from '../contracts/index.ts'
import {
  answerFault,
  type Change,
  decide,
  declaredInputs,
  displayOfRaw,
  heldRequests,
  isBelow,
  lawsSetAside,
  lawValues,
  type PendingQuestion as Pending,
  type RawPath,
  rawOfText,
  type StandingFold,
} from '../gate/index.ts'
import { occurredAtText, principalText } from '../ledger/index.ts'
import { removeTreeSync } from '../machine/index.ts'
import { answerOf, sentRequest } from './answer.ts'
import { Approving } from './approving.ts'
import { earlierCompensation, refuseSecondCompensation } from './compensating.ts'
import type { GateContext } from './context.ts'
import type { Decided } from './decided.ts'
import { endedQuestion } from './ended-question.ts'
import { isHalted } from './halt.ts'
import { realPathOf } from './host-facts.ts'
import { type ActOf, keepHouse, undoRetention } from './housekeeping.ts'
import { changedInputs } from './inputs.ts'
import type { LawBook } from './law-book.ts'
import type { LedgerView } from './ledger-view.ts'
import type { LockAhead } from './lock-ahead.ts'
import { probePreconditions } from './preconditions.ts'
import type { Promoter } from './promoting.ts'
import { Purging } from './purging.ts'
import type { Questions } from './questions.ts'
import { obstacleFrom } from './readings.ts'
import { recordWhile } from './record-while.ts'
import { findStage } from './stage-place.ts'
import { isAnswer, isPassing, StageVoid } from './stopped-promotion.ts'
import type { Answered, Assurance, GateAnswer, SentRequest } from './surface.ts'

const MINUTE_MS = 60_000
const INPUTS_CHANGED = 'promote.inputs_changed'
/** Of a question that an earlier version asked. */
const NO_BASIS = { actor: '', machine: '', home: '/', recent_rollbacks: 0 }

export class Settling {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #book: LawBook
  readonly #promoter: Promoter
  readonly #questions: Questions
  readonly #approving: Approving

  constructor(
    context: GateContext,
    view: LedgerView,
    book: LawBook,
    promoter: Promoter,
    questions: Questions,
  ) {
    this.#approving = new Approving(context, view)
    this.#context = context
    this.#view = view
    this.#book = book
    this.#promoter = promoter
    this.#questions = questions
  }

  /** Records the answer, and carries a yes out. */
  async settle(
    pending: Pending,
    decided: Decided,
    answered: Exclude<Answered, { kind: 'wait' }>,
  ): Promise<GateAnswer> {
    if (answered.kind === 'no') {
      const { reason } = answered
      await this.#confirm(pending, this.#answer(pending, 'DENIED', 'none', { reason }))
      this.dropStage(decided.result)
      return answerOf(decided)
    }
    const { proposal, evaluation, result, changes } = decided
    const need =
      proposal === null || result === null
        ? 'passkey'
        : this.#questions.needOf(decided.actionId, { proposal, evaluation, result, changes })
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
    if (refused === 'confirm.expired') await this.expire([pending])
    if (refused !== null) throw await this.ended(pending.actionId, refused)
    const { assurance, proof, toldFailure: told_failure, isAhead: given_ahead } = answered
    const changed = await this.#changedMeanwhile(pending, decided, answered.together ?? [])
    const meanwhile = { changed_meanwhile: changed.map(displayOfRaw) }
    const more = { told_failure, given_ahead, proof, ...meanwhile }
    const yes = this.#answer(pending, 'APPROVED', assurance, more)
    await this.#approving.check(pending, yes)
    const asked = await this.#askedAgain(pending, decided, changed)
    if (asked !== null) return asked
    await this.#confirm(pending, yes)
    return (await this.#waitingForMore(pending, decided)) ?? this.promoteDecided(decided)
  }

  /** What became of a question that is over, as a failure that says what to do now. */
  async ended(actionId: string, code: RefusalCode = 'confirm.used'): Promise<FaultError> {
    const found = await endedQuestion(this.#view, actionId)
    return found === null ? refusal(code, actionId) : new FaultError(found)
  }

  /** The answer while other humans have to approve as well; null for the last one. */
  async #waitingForMore(pending: Pending, decided: Decided): Promise<GateAnswer | null> {
    if (pending.approvals === undefined || (await this.#approving.isLast(decided.decision))) {
      return null
    }
    // Another one may have been the last meanwhile, and carries it out.
    const now = (await this.#view.standing()).question(pending.actionId) ?? pending
    return answerOf(decided, { pending: await this.#questions.pendingOf(now) })
  }

  /** Returns the other files of the scope that changed while the question was open (G-19d). */
  async #changedMeanwhile(
    pending: Pending,
    { result, evaluation, changes }: Decided,
    together: readonly RawPath[],
  ): Promise<readonly RawPath[]> {
    if (result === null) return []
    const asked = evaluation.obstacles.filter(({ code }) => code === INPUTS_CHANGED)
    // What was held was seen by others in the meantime, who had their own say; a human is asked now.
    const wasAsked = asked.length > 0 || evaluation.held !== undefined
    const sinceMs = Date.parse(wasAsked ? pending.askedAt : result.execution.started_at)
    const roots = evaluation.host.roots.flatMap(({ real, kind }) =>
      kind === 'directory' ? [real] : [],
    )
    // What a human approved in one breath with this was shown with it.
    const touched = new Set([...changes.map(({ path }) => path), ...together])
    const shown = new Set(asked.map(({ path = '' }) => path))
    return changedInputs(roots, sinceMs, touched, shown)
  }

  /**
   * Asks once more if a declared input changed while the question was open and a law wants it. Null
   * when there is nothing to ask: other changes are recorded with the answer, and the paths of the act
   * itself are compared byte by byte before anything is promoted.
   */
  async #askedAgain(
    pending: Pending,
    decided: Decided,
    changed: readonly RawPath[],
  ): Promise<GateAnswer | null> {
    if (decided.proposal === null) return null
    const inputs = declaredInputs(decided.proposal).map((path) => rawOfText(realPathOf(path)))
    const isInput = (path: RawPath): boolean =>
      inputs.some((input) => path === input || isBelow(path, input))
    const obstacles = changed
      .filter(isInput)
      .map((path) => ({ code: INPUTS_CHANGED, path: displayOfRaw(path) }))
    if (obstacles.length === 0 || !this.#asksAboutInputs(decided)) return null
    const again = await this.decideAgain(decided, obstacles, `inputs/${this.#context.nowMs()}`)
    const renewed = (await this.#view.standing()).question(pending.actionId)
    if (renewed === null) return answerOf(again)
    return answerOf(again, { pending: await this.#questions.pendingOf(renewed) })
  }

  /** Whether a law is broken by such a finding that was not broken without it. */
  #asksAboutInputs({ proposal, result, evaluation }: Decided): boolean {
    if (proposal === null || result === null) return false
    const known = new Set(evaluation.law_outcomes.map(({ policy_id }) => policy_id))
    const basis = evaluation.basis ?? NO_BASIS
    const changed = { ...result, findings: [...result.findings, { code: INPUTS_CHANGED }] }
    const changes = { promoted: [], discarded: [] }
    const values = lawValues(proposal, evaluation, basis, { result: changed, changes })
    const outcomes = this.#book.judge('after', values, new Set())
    return outcomes.some(({ policy_id, action }) => action !== 'alert' && !known.has(policy_id))
  }

  /** A held act that somebody wants promoted and a human has to answer for. */
  ask(decided: Decided): Promise<Decided> {
    const { held } = decided.evaluation
    const mark = held === undefined ? {} : { held: { ...held, asked: true } }
    const evaluation = { ...decided.evaluation, ...mark }
    return this.decideAgain({ ...decided, evaluation }, [], `asked/${this.#context.nowMs()}`)
  }

  /**
   * A held act may have been judged by laws that a human changed since: then it is judged again, by
   * those that hold when it is to be promoted.
   */
  async underPresentLaws(decided: Decided, discarded: readonly Change[]): Promise<Decided> {
    const { proposal, result, evaluation, changes } = decided
    const { digest } = this.#book
    if (proposal === null || result === null || evaluation.laws === digest) return decided
    const basis = evaluation.basis ?? NO_BASIS
    const setAside = lawsSetAside(evaluation)
    const seen = { result, changes: { promoted: changes, discarded } }
    const outcomes = [
      ...this.#book.judge('before', lawValues(proposal, evaluation, basis, null), setAside),
      ...this.#book.judge('after', lawValues(proposal, evaluation, basis, seen), setAside),
    ]
    const judged = { ...evaluation, laws: digest, law_outcomes: outcomes }
    const key = `laws/${this.#context.nowMs()}`
    const again = await this.decideAgain({ ...decided, evaluation: judged }, [], key)
    if (again.decision.decision === 'BLOCK') this.dropStage(result)
    return again
  }

  /** Ends an act for good: a decision of its own, and its stage is gone. */
  async end(decided: Decided, { fault: failed }: Pick<FaultError, 'fault'>): Promise<GateAnswer> {
    const again = await this.decideAgain(decided, [obstacleFrom(failed)], 'promotion')
    this.dropStage(decided.result)
    return answerOf(again, { requests: await this.#sent(decided.actionId) })
  }

  /** The same act with what turned up since, as a decision of its own. */
  async decideAgain(
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

  #answer(
    pending: Pending,
    answer: Confirmation['answer'],
    assurance: Assurance,
    more: {
      readonly reason?: string | undefined
      readonly told_failure?: boolean | undefined
      readonly given_ahead?: boolean | undefined
      readonly proof?: Confirmation['proof'] | undefined
      readonly changed_meanwhile?: Confirmation['changed_meanwhile']
      readonly superseded_by?: string | undefined
    },
  ): Confirmation {
    const { reason, told_failure, given_ahead, proof, superseded_by } = more
    const { changed_meanwhile: changed = [] } = more
    return {
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
      ...(told_failure === undefined ? {} : { told_failure }),
      ...(given_ahead === undefined ? {} : { given_ahead }),
      ...(proof === undefined ? {} : { proof }),
      ...(changed.length === 0 ? {} : { changed_meanwhile: changed }),
      ...(superseded_by === undefined ? {} : { superseded_by }),
    }
  }

  /** While the question stands: whoever comes after its end has not answered it. */
  async #confirm(pending: Pending, payload: Confirmation): Promise<boolean> {
    const { actionId, askedAt, approvals } = pending
    const { principal } = this.#context.caller
    const by = payload.answer === 'APPROVED' ? principalText(principal) : 'end'
    const several = approvals === undefined ? '' : `/${askedAt}/${by}`
    const key = `confirmation/${actionId}${several}`
    const records = [{ type: 'confirmation_v1', payload, key }]
    const isRecorded = await recordWhile(
      this.#view,
      records,
      (standing) => standing.question(actionId)?.askedAt === askedAt,
    )
    if (!isRecorded && payload.answer !== 'EXPIRED') throw await this.ended(actionId)
    return isRecorded
  }

  /** Silence is a no, and goes on the record as soon as somebody looks. */
  async expire(questions: readonly Pending[]): Promise<void> {
    for (const pending of questions) await this.#endUnanswered(pending, {})
  }

  /** Ends older questions of the same actor about the same intent: the newest one is asked. */
  async supersede({ actionId, evaluation }: Decided): Promise<void> {
    // What undoes an act belongs to that act, however alike it is to another.
    if (evaluation.compensates !== undefined) return
    const standing = await this.#view.standing()
    for (const older of standing.olderAlike(actionId, evaluation.host.now_ms)) {
      await this.#endUnanswered(older, { superseded_by: actionId })
    }
  }

  /** Ends the question of a compensation that another one was faster than; returns that one. */
  async endSecondCompensation(pending: Pending, decided: Decided): Promise<string | null> {
    const first = earlierCompensation(await this.#view.standing(), decided)
    if (first !== null) await this.#endUnanswered(pending, { superseded_by: first })
    return first
  }

  async #endUnanswered(pending: Pending, why: { readonly superseded_by?: string }): Promise<void> {
    const silence = this.#answer(pending, 'EXPIRED', 'none', why)
    if (!(await this.#confirm(pending, silence))) return
    const found = await this.#view.factOf('sandbox_result_v1', pending.actionId)
    // A fact is of its contract.
    this.dropStage((found?.payload as SandboxResult | undefined) ?? null)
  }

  dropStage(result: SandboxResult | null): void {
    const found = result === null ? null : findStage(this.#context.home, result.sandbox_id)
    if (found !== null) removeTreeSync(found.stage)
  }

  /** Where an earlier process was to do it (`isLate`), others may find it as well. */
  async promoteDecided(
    decided: Decided,
    {
      lockAhead,
      isLate = false,
    }: { readonly lockAhead?: LockAhead; readonly isLate?: boolean } = {},
  ): Promise<GateAnswer> {
    const { proposal, result, changes, evaluation } = decided
    if (proposal === null || result === null) return answerOf(decided)
    const { actionId } = decided
    await this.#approving.require(decided.decision)
    const isHeld = evaluation.held !== undefined
    try {
      const promotion = await this.#promoter.promote({
        actionId,
        takenBack: isHeld ? await this.#view.countOf('promotion_v1', actionId) : 0,
        proposalDigest: decided.proposalDigest,
        resultDigest: decided.decision.result_digest ?? '',
        result,
        changes,
        roots: evaluation.host.roots.filter(({ kind }) => kind === 'directory'),
        ...requestsOf(proposal),
        ...(lockAhead === undefined ? {} : { lockAhead }),
        onLocked: async () => {
          if (isHalted(this.#context.home.state)) throw refusal('halted', '')
          // Its own failure code, and nothing about which one (G-9).
          if (probePreconditions(proposal).length > 0) throw refusal('precondition.failed', '')
          await this.#checkOpen(decided, isLate)
          refuseSecondCompensation(await this.#view.standing(), decided)
          await this.#checkFooting(decided)
        },
      })
      await this.#keepHouse(await this.#view.standing())
      return answerOf(decided, { promotion, changes, requests: await this.#sent(actionId) })
    } catch (error) {
      return this.#notPromoted(decided, error)
    }
  }

  async #sent(actionId: string): Promise<readonly SentRequest[]> {
    const { requests } = await this.#view.standing()
    return requests.of(actionId).map(sentRequest)
  }

  /** Under the lock: another process may have carried the same yes out, or ended it. */
  async #checkOpen(
    { actionId, decision, evaluation: { held } }: Decided,
    isLate: boolean,
  ): Promise<void> {
    if (held !== undefined || (decision.decision !== 'CONFIRM' && !isLate)) return
    const standing = await this.#view.standing()
    if (decision.decision === 'PROMOTE') {
      if (standing.promotion(actionId) === null && (await this.#isLast(decision))) return
      throw refusal('confirm.used', actionId)
    }
    const isOpen = standing.approved().some((act) => act.actionId === actionId)
    if (!isOpen) throw refusal('confirm.used', actionId)
  }

  /** Whether nothing was decided about the act since. */
  async #isLast({ action_id, decided_at }: Decided['decision']): Promise<boolean> {
    const last = await this.#view.factOf('decision_v1', action_id)
    return (last?.payload as Decided['decision'] | undefined)?.decided_at === decided_at
  }

  /** Under the lock nothing that it stands on is promoted or taken back any more. */
  async #checkFooting({ actionId, evaluation: { held } }: Decided): Promise<void> {
    if (held === undefined) return
    const standing = await this.#view.standing()
    // Somebody else was faster; what they did is the answer.
    if (standing.heldMark(actionId) === null) throw refusal('confirm.used', actionId)
    const { state, base } = standing.footing(held.bases)
    if (state !== 'sound') throw new StageVoid(state, base)
  }

  async #keepHouse(standing: StandingFold): Promise<void> {
    const { confirmationMinutes, questionMinutes, retention } = this.#book.settings
    const { nowMs } = this.#context
    const kept = undoRetention(retention)
    const minutesMs = Math.max(confirmationMinutes, questionMinutes) * MINUTE_MS
    await keepHouse(this.#context, actOf(standing), minutesMs, kept, nowMs())
    await new Purging(this.#context, this.#view).keepTime(this.#book.settings)
  }

  /** What stopped a promotion is a decision of its own: BLOCK, and it takes a new proposal. */
  async #notPromoted(decided: Decided, error: unknown): Promise<GateAnswer> {
    const { fault: failed } = error as { readonly fault?: Fault }
    if (!(error instanceof Error) || failed === undefined) throw error
    const { actionId, changes, evaluation } = decided
    const promotion = (await this.#view.standing()).promotion(actionId)?.promotion
    if (promotion !== undefined) return answerOf(decided, { promotion, changes })
    if (!isAnswer(failed)) throw error
    if (evaluation.held !== undefined && isPassing(error, failed)) throw error
    return this.end(decided, { fault: failed })
  }
}

/** Answers that became files have pre-images of their own, which are kept as long as their act's. */
export function actOf(standing: StandingFold): ActOf {
  return (name) => {
    const act = standing.promotion(standing.requests.actionOfSave(name) ?? name)
    return act === null
      ? null
      : { ...act, isUnapproved: standing.unapproved(act.actionId) !== null }
  }
}

/** What is to be sent once the files are in place. */
function requestsOf(proposal: Proposal) {
  const { length } = heldRequests(proposal)
  return length === 0 ? {} : { requests: { count: length, proposal } }
}

type RefusalCode =
  | NonNullable<ReturnType<typeof answerFault>>
  | 'halted'
  | 'laws.changed'
  | 'rollback.nothing'

export function refusal(code: RefusalCode, at: string): FaultError {
  // None of these codes carries details.
  return new FaultError(fault(code as 'halted', at, null))
}
