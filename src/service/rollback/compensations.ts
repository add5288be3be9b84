/**
 * Compensations at a rollback: each is an act of its own that goes through the lifecycle, before
 * any file is restored. What cannot be compensated stops the rollback beforehand,
 * with the whole list; what waits for a human leaves everything as it is, and the next rollback goes on
 * from there.
 */
import { randomUUID } from 'node:crypto'
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  compensationInForce,
  composeCompensation,
  type PromotedAction,
  type UndoStep,
  undoingsOf,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { type GateParts, recordedAct } from '../lifecycle/act.ts'
import { answerOf, withLawTexts } from '../lifecycle/answer.ts'
import { act } from '../lifecycle/lifecycle.ts'
import { findPending } from '../lifecycle/pending-question.ts'
import type { Confirm, GateAnswer } from '../surface/surface.ts'

type Compensated =
  | { readonly done: true; readonly by: readonly string[] }
  /** A human has to answer first, or it did not come about. */
  | { readonly done: false; readonly answer: GateAnswer }

export class Compensations {
  readonly #gate: GateParts

  constructor(gate: GateParts) {
    this.#gate = gate
  }

  /** All that has to be undone beyond files; throws when something of it cannot be. */
  async needed(actions: readonly PromotedAction[]): Promise<readonly UndoStep[]> {
    const standing = await this.#gate.view.standing()
    const undoings: UndoStep[] = []
    const final: string[] = []
    for (const { actionId } of actions) {
      const found = await this.#gate.view.factOf('proposal_v1', actionId)
      const proposal = found === null ? null : await this.#gate.view.originalOf(found)
      if (proposal !== null) {
        // The original has the digest of a proposal that was checked.
        undoings.push(...undoingsOf(proposal as Proposal, standing.requests.of(actionId)))
      } else if (standing.reachesBeyondFiles(actionId)) {
        // Its words are not kept any more, and with them what would undo it.
        final.push(actionId)
      }
    }
    for (const { compensation, stepId } of undoings) if (compensation === null) final.push(stepId)
    if (final.length > 0) throw irreversible(final)
    return undoings
  }

  /** Takes each through the lifecycle, one after another, until one of them waits or is refused. */
  async carryOut(undoings: readonly UndoStep[], confirm: Confirm): Promise<Compensated> {
    const by: string[] = []
    for (const undoing of undoings) {
      const known = await this.#inForce(undoing.stepId)
      const answer = known ?? (await this.#propose(undoing, confirm))
      if (answer !== null && !answer.promoted) return { done: false, answer }
      by.push(answer?.action_id ?? '')
    }
    return { done: true, by }
  }

  /** Null where nothing has to be compensated. */
  async #propose(undoing: UndoStep, confirm: Confirm): Promise<Answered | null> {
    const { stepId, compensation } = undoing
    if (compensation === null) return null
    const { context, questions, book } = this.#gate
    const fresh = { actionId: randomUUID(), createdAt: occurredAtText(context.nowMs()) }
    const proposal = composeCompensation(undoing, compensation, fresh)
    const { signal: abort } = new AbortController()
    const door = { door: 'propose', declaredByApproval: false, dryRun: false } as const
    const outcome = await act(this.#gate, proposal, {
      ...door,
      confirm,
      compensates: stepId,
      abort,
    })
    const answer = withLawTexts(await answerOf(questions, outcome), book)
    // Another command proposed it at the same time, and was first.
    if (answer.superseded_by !== undefined) return (await this.#inForce(stepId)) ?? answer
    return answer
  }

  /** What was carried out before or waits; null when there is nothing. Fails while it is under way. */
  async #inForce(stepId: string): Promise<Answered | null> {
    const { view } = this.#gate
    const standing = await view.standing()
    const id = compensationInForce(standing, stepId)
    if (id === null) return null
    if (standing.promotion(id) !== null) return { action_id: id, promoted: true }
    const waiting = await this.#waiting(id)
    if (waiting !== null) return { ...waiting, promoted: false }
    // The look itself ends a question whose time is over.
    const isSame = compensationInForce(await view.standing(), stepId) === id
    if (isSame) throw underWay(id)
    return this.#inForce(stepId)
  }

  async #waiting(actionId: string): Promise<GateAnswer | null> {
    const pending = await findPending(this.#gate, actionId)
    const known = pending === null ? null : await this.#gate.questions.known(pending.actionId)
    if (pending === null || known === null) return null
    const waiting = recordedAct(pending.actionId, known)
    const { questions } = this.#gate
    return answerOf(questions, { kind: 'waiting', act: waiting, pending, question: null })
  }
}

type Answered = { readonly action_id: string; readonly promoted: true } | NotDone
type NotDone = GateAnswer & { readonly promoted: false }

const UNKNOWN_PROCESS = { process: null, command: null }

function underWay(id: string): FaultError {
  const message = `the compensation ${showName(id)} was approved and is being carried out`
  const hint = 'run the same command again in a moment'
  return new FaultError(fault('workspace.busy', id, UNKNOWN_PROCESS, { message, hint }))
}

function irreversible(ids: readonly string[]): FaultError {
  const message = `nothing undoes what ${ids.map(showName).join(', ')} sent`
  const hint = 'an operation can name its `compensation` when it is proposed'
  return new FaultError(fault('rollback.irreversible', ids[0] ?? '', { ids }, { message, hint }))
}
