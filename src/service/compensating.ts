/**
 * Compensations at a rollback: each is an act of its own that goes through the gate with all that
 * belongs to it, before any file is restored. What cannot be compensated stops the rollback beforehand,
 * with the whole list; what waits for a human leaves everything as it is, and the next rollback goes on
 * from there.
 *
 * INVARIANT (undone once): a step has one compensation that waits, was approved or was carried out. Of
 *   two that were proposed at the same time the later one ends; under the workspace's lock none is
 *   carried out after another (`Settling`).
 */
import { randomUUID } from 'node:crypto'
import { FaultError, fault, showName } from '../base/index.ts'
import type { Proposal } from '../contracts/index.ts'
import {
  compensationInForce,
  composeCompensation,
  type PromotedAction,
  type StandingFold,
  type Undoing,
  undoingsOf,
} from '../gate/index.ts'
import { occurredAtText } from '../ledger/index.ts'
import type { GateContext } from './context.ts'
import type { Decided } from './decided.ts'
import type { LedgerView } from './ledger-view.ts'
import type { GateAnswer } from './surface.ts'

type Compensated =
  | { readonly done: true; readonly by: readonly string[] }
  /** Somebody has to answer first, or it did not come about. */
  | { readonly done: false; readonly answer: GateAnswer }

export interface Carrying {
  /** Carries a proposal through the gate, as one that undoes a step of an act. */
  propose(proposal: Proposal, stepId: string): Promise<GateAnswer>
  /** Returns the answer about an act whose question waits; null when it does not. */
  waiting(actionId: string): Promise<GateAnswer | null>
}

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

  async carryOut(undoings: readonly Undoing[], carrying: Carrying): Promise<Compensated> {
    const by: string[] = []
    for (const undoing of undoings) {
      const known = await this.#inForce(undoing.stepId, carrying)
      const answer = known ?? (await this.#propose(undoing, carrying))
      if (answer !== null && !answer.promoted) return { done: false, answer }
      by.push(answer?.action_id ?? '')
    }
    return { done: true, by }
  }

  /** Null where nothing has to be compensated. */
  async #propose(undoing: Undoing, carrying: Carrying): Promise<Answered | null> {
    const { stepId, compensation } = undoing
    if (compensation === null) return null
    const fresh = { actionId: randomUUID(), createdAt: occurredAtText(this.#context.nowMs()) }
    const proposal = composeCompensation(undoing, compensation, fresh)
    const answer = await carrying.propose(proposal, stepId)
    // Another command proposed it at the same time, and was first.
    if (answer.superseded_by !== undefined) return (await this.#inForce(stepId, carrying)) ?? answer
    return answer
  }

  /** What was carried out before or waits; null when there is nothing. Fails while it is under way. */
  async #inForce(stepId: string, carrying: Carrying): Promise<Answered | null> {
    const standing = await this.#view.standing()
    const id = compensationInForce(standing, stepId)
    if (id === null) return null
    if (standing.promotion(id) !== null) return { action_id: id, promoted: true }
    const waiting = await carrying.waiting(id)
    if (waiting !== null) return { ...waiting, promoted: false }
    // The look itself ends a question whose time is over.
    const isSame = compensationInForce(await this.#view.standing(), stepId) === id
    if (isSame) throw underWay(id)
    return this.#inForce(stepId, carrying)
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

type Undoer = Pick<Decided, 'actionId' | 'evaluation'>

/** Returns the compensation of the same step that came before this one; null for the first. */
export function earlierCompensation(standing: StandingFold, undoer: Undoer): string | null {
  const { compensates } = undoer.evaluation
  const first = compensates === undefined ? null : compensationInForce(standing, compensates)
  return first === undoer.actionId.toLowerCase() ? null : first
}

/** Under the lock: what was sent is compensated once, however many compensations were approved. */
export function refuseSecondCompensation(standing: StandingFold, undoer: Undoer): void {
  const first = earlierCompensation(standing, undoer)
  if (first === null || standing.promotion(first) === null) return
  const message = `${showName(first)} undid the same before, so this was not sent`
  throw new FaultError(fault('compensation.used', first, null, { message }))
}
