/**
 * Attempts of participants (F-13): begun over the stages they stand on, held when they are finished,
 * promoted when somebody asks, once, or dropped. What is held lives in the stage and on the ledger;
 * nothing of it lives in memory, so any process can go on with it.
 */
import { FaultError, fault } from '../base/index.ts'
import type { Confirmation } from '../contracts/index.ts'
import { type Change, isComplete, type StandingFold } from '../gate/index.ts'
import { principalText } from '../ledger/index.ts'
import { answerOf } from './answer.ts'
import { Approving } from './approving.ts'
import { OpenAttempt } from './attempt.ts'
import { readThrough } from './attempt-bases.ts'
import { AttemptScene } from './attempt-scene.ts'
import type { Attempt, AttemptOrder, AttemptSurface } from './attempt-surface.ts'
import { type GateContext, workspaceOf } from './context.ts'
import { type Decided, decidedOf } from './decided.ts'
import { isHalted } from './halt.ts'
import type { LawBook } from './law-book.ts'
import type { LedgerView } from './ledger-view.ts'
import type { Promoter } from './promoting.ts'
import type { Questions } from './questions.ts'
import { refusal, type Settling } from './settling.ts'
import { StageVoid } from './stopped-promotion.ts'
import type { Confirm, GateAnswer } from './surface.ts'

/** What the gate shares with its attempts. */
interface AttemptGate {
  readonly context: GateContext
  readonly view: LedgerView
  readonly book: LawBook
  readonly promoter: Promoter
  readonly questions: Questions
  readonly settling: Settling
}

export class Attempts implements AttemptSurface {
  readonly #gate: AttemptGate

  constructor(gate: AttemptGate) {
    this.#gate = gate
  }

  async begin(order: AttemptOrder): Promise<Attempt> {
    await this.#gate.promoter.recover()
    return new OpenAttempt(await AttemptScene.open({ ...this.#gate, order }))
  }

  async readStaged(bases: readonly string[], path: string): Promise<Uint8Array | null> {
    const { context, promoter } = this.#gate
    await promoter.recover()
    const root = workspaceOf(context)
    if (!path.startsWith(`${root}/`)) throw new FaultError(fault('attempt.order', path, null))
    return readThrough(this.#gate, bases, root, path)
  }

  async promoteHeld(actionId: string, confirm: Confirm): Promise<GateAnswer> {
    const { view, promoter, settling } = this.#gate
    await promoter.recover()
    const { decided, discarded } = await this.#decided(actionId)
    const standing = await view.standing()
    const ended = await this.#ended(decided, standing)
    if (ended !== null) return ended
    this.#refuseNow(standing)
    const current = await settling.underPresentLaws(decided, discarded)
    const { evaluation, decision } = current
    if (decision.decision === 'BLOCK') return answerOf(current)
    const { state, base } = standing.footing(evaluation.held?.bases ?? [])
    if (state === 'waiting') throw new StageVoid(state, base)
    if (state === 'void') return settling.end(current, new StageVoid(state, base))
    if (decision.decision === 'PROMOTE' || (await this.#isApproved(current))) {
      return settling.promoteDecided(current)
    }
    return this.#ask(current, standing, confirm)
  }

  async dropHeld(actionId: string): Promise<void> {
    const { view, promoter, settling } = this.#gate
    await promoter.recover()
    const standing = await view.standing()
    if (standing.promotion(actionId) !== null) return
    if (standing.heldMark(actionId) === null) {
      const found = await view.factOf('sandbox_result_v1', actionId)
      // A fact is of its contract.
      settling.dropStage((found?.payload as Decided['result'] | undefined) ?? null)
      return
    }
    const { decided } = await this.#decided(actionId)
    await settling.end(decided, new FaultError(fault('attempt.dropped', actionId, null)))
  }

  async held(): Promise<readonly string[]> {
    return (await this.#gate.view.standing()).heldActions()
  }

  /** Everything about a held act, from the ledger. */
  async #decided(
    actionId: string,
  ): Promise<{ readonly decided: Decided; readonly discarded: readonly Change[] }> {
    const record = await this.#gate.questions.record(actionId)
    if (record === null || record.evaluation.held === undefined) {
      throw new FaultError(fault('attempt.unknown', actionId, null))
    }
    return { decided: decidedOf(actionId, record), discarded: record.discarded }
  }

  /** The answer when all is over: promoted, blocked, or a human said no. */
  async #ended(decided: Decided, standing: StandingFold): Promise<GateAnswer | null> {
    const { actionId, changes, decision } = decided
    const promotion = standing.promotion(actionId)?.promotion
    if (promotion !== undefined) return answerOf(decided, { promotion, changes })
    if (decision.decision === 'BLOCK') return answerOf(decided)
    const { settling, context } = this.#gate
    const pending = standing.question(actionId)
    if (pending !== null && context.nowMs() >= pending.expiresMs) await settling.expire([pending])
    const confirmation = await this.#confirmation(actionId)
    return confirmation === null || confirmation.answer === 'APPROVED' ? null : answerOf(decided)
  }

  /** Somebody said yes, or all who have to. */
  async #isApproved({ actionId, decision }: Decided): Promise<boolean> {
    const { context, view } = this.#gate
    const approvals = await new Approving(context, view).count(decision)
    if (approvals !== null) return isComplete(approvals)
    return (await this.#confirmation(actionId)) !== null
  }

  async #confirmation(actionId: string): Promise<Confirmation | null> {
    const found = await this.#gate.view.factOf('confirmation_v1', actionId)
    // A fact is of its contract.
    return found === null ? null : (found.payload as Confirmation)
  }

  /** Nothing is promoted now; what is held stays. */
  #refuseNow(standing: StandingFold): void {
    const { context, book } = this.#gate
    if (standing.halted || isHalted(context.home.state)) throw refusal('halted', '')
    const { laws } = standing
    if (book.isLost || !book.isOf(laws)) {
      throw refusal('laws.changed', '')
    }
  }

  /** The question is opened now, for these digests, and expires from now on. */
  async #ask(decided: Decided, standing: StandingFold, confirm: Confirm): Promise<GateAnswer> {
    const { view, questions, settling } = this.#gate
    const { actionId } = decided
    const asked = standing.question(actionId) === null ? await settling.ask(decided) : decided
    const pending = (await view.standing()).question(actionId)
    const question = pending === null ? null : await questions.open(pending)
    if (pending === null || question === null) return answerOf(asked)
    const by = principalText(this.#gate.context.caller.principal)
    // Whoever approved before is not asked again while others have to.
    const isOthers = question.approvals?.given.some((one) => one.by === by) === true
    const answered = isOthers ? ({ kind: 'wait' } as const) : await confirm(question)
    if (answered.kind === 'wait') {
      return answerOf(asked, { pending: await questions.pendingOf(pending) })
    }
    return settling.settle(pending, asked, answered)
  }
}
