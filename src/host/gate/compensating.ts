/**
 * Compensations at a rollback: each is an act of its own that goes through the gate with all that
 * belongs to it, before any file is restored. What cannot be compensated stops the rollback beforehand,
 * with the whole list; what waits for a human leaves everything as it is, and the next rollback goes on
 * from there.
 */
import { randomUUID } from 'node:crypto'
import { fault, showName } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  composeCompensation,
  type PromotedAction,
  type Undoing,
  undoingsOf,
} from '../../gate/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { PromotionFailure } from '../promotion/index.ts'
import type { GateContext } from './context.ts'
import type { LedgerView } from './ledger-view.ts'
import type { GateAnswer } from './surface.ts'

export type Compensated =
  | { readonly done: true; readonly by: readonly string[] }
  /** Somebody has to answer first, or it did not come about. */
  | { readonly done: false; readonly answer: GateAnswer }

/** Carries a proposal through the gate, as one that undoes a step of an act. */
export type Carry = (proposal: Proposal, stepId: string) => Promise<GateAnswer>

export class Compensating {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  /** All that has to be undone beyond files; throws when something of it cannot be. */
  async needed(actions: readonly PromotedAction[]): Promise<readonly Undoing[]> {
    const standing = await this.#view.standing()
    const undoings: Undoing[] = []
    const final: string[] = []
    for (const { actionId } of actions) {
      const found = await this.#view.factOf('proposal_v1', actionId)
      const proposal = found === null ? null : await this.#view.originalOf(found)
      if (proposal !== null) {
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

  async carryOut(undoings: readonly Undoing[], carry: Carry): Promise<Compensated> {
    const by: string[] = []
    for (const undoing of undoings) {
      const { stepId, compensation } = undoing
      const done = await this.#doneBefore(stepId)
      if (done !== null || compensation === null) {
        by.push(done ?? '')
        continue
      }
      const fresh = { actionId: randomUUID(), createdAt: occurredAtText(this.#context.nowMs()) }
      const answer = await carry(composeCompensation(undoing, compensation, fresh), stepId)
      if (!answer.promoted) return { done: false, answer }
      by.push(answer.action_id)
    }
    return { done: true, by }
  }

  async #doneBefore(stepId: string): Promise<string | null> {
    const standing = await this.#view.standing()
    const acts = standing.compensationsOf(stepId)
    return acts.find((id) => standing.promotion(id)?.rolledBackBy === null) ?? null
  }
}

function irreversible(ids: readonly string[]): PromotionFailure {
  const message = `nothing undoes what ${ids.map(showName).join(', ')} sent`
  const hint = 'an operation can name its `compensation` when it is proposed'
  return new PromotionFailure(
    fault('rollback.irreversible', ids[0] ?? '', { ids }, { message, hint }),
  )
}
