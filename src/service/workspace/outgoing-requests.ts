/**
 * Requests of a promotion from beginning to end: sent when the files are in place, their answers kept,
 * and after a crash told as what is known of them. Works under the workspace's lock only.
 */
import { dirname } from 'node:path'
import { type Digest, FaultError, faultError, showName } from '../../base/index.ts'
import type { Evaluation, RequestFact } from '../../contracts/index.ts'
import { compensationInForce, type RequestMemory, type StandingFold } from '../../gate/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { applyStage, type WorkspaceLock } from '../../promotion/index.ts'
import { isForThisMachine } from '../../store/index.ts'
import { realPathOf } from '../readings/host-facts.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { preimagesOf, stageOf, stagePlaceFor } from '../stage/stage-place.ts'
import type { GateContext } from '../surface/context.ts'
import { Dispatcher, type DispatchOrder, stageAnswer } from './dispatch.ts'

/** Kept with the intent of an exchange that puts an answer in its place. */
interface AnswerNote {
  readonly answer_of: { readonly action_id: string; readonly step_id: string }
}

export function isAnswerNote(note: unknown): note is AnswerNote {
  return typeof note === 'object' && note !== null && 'answer_of' in note
}

/** What this machine has to end of requests. */
interface OpenRequests {
  readonly unsettled: readonly RequestMemory[]
  /** Each with whether this machine sent it, and so has the place for its answer. */
  readonly unsaved: readonly { readonly memory: RequestMemory; readonly isOwn: boolean }[]
}

export class OutgoingRequests {
  readonly #context: GateContext
  readonly #view: LedgerView
  readonly #dispatcher: Dispatcher

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
    this.#dispatcher = new Dispatcher(context, view)
  }

  send(order: DispatchOrder): Promise<void> {
    return this.#dispatcher.send(order)
  }

  /**
   * Whether files that were applied before a crash stay: they do when everything was sent, or may have
   * been. What was not begun is not sent by a recovery, so files that wait for it are put back.
   */
  async mayFinish(actionId: string, wanted: number): Promise<boolean> {
    const before = (await this.#view.standing()).requests.of(actionId)
    await this.#dispatcher.settleInterrupted(before.filter(({ ended }) => ended === null))
    const after = (await this.#view.standing()).requests.of(actionId)
    const states = after.map(({ ended }) => ended?.state)
    if (states.includes('FAILED')) return false
    return states.includes('UNKNOWN') || after.length >= wanted
  }

  /**
   * Returns the requests that are not ended or whose answer is not saved, because their process died or is at
   * work on this machine; null if there are none. Those that another machine of the home sends are its own.
   */
  async interrupted({ requests }: StandingFold): Promise<OpenRequests | null> {
    const unsettled = await this.#ours(requests.unsettled())
    const found = await this.#ours(requests.unsaved())
    if (unsettled.length + found.length === 0) return null
    const own = this.#context.ledger.machineNames()
    const unsaved = found.map((memory) => {
      const { machine } = memory.begun
      return { memory, isOwn: machine === undefined || own.includes(machine) }
    })
    return { unsettled, unsaved }
  }

  async #ours(memories: readonly RequestMemory[]): Promise<readonly RequestMemory[]> {
    const ours: RequestMemory[] = []
    for (const memory of memories) {
      const { machine } = memory.begun
      const isOurs =
        machine === undefined || (await isForThisMachine(this.#context.ledger, machine))
      if (isOurs) ours.push(memory)
    }
    return ours
  }

  /** Settles interrupted requests of acts without files, and lets `finish` record each act as done. */
  async recoverRest(
    { unsettled }: OpenRequests,
    finish: (begun: RequestFact) => Promise<void>,
  ): Promise<void> {
    await this.#dispatcher.settleInterrupted(unsettled)
    const acts = new Map(unsettled.map(({ begun }) => [begun.action_id, begun]))
    for (const begun of acts.values()) await finish(begun)
  }

  /** An answer is kept where it was sent for; where that machine is gone, a fact says that it is not. */
  async keepUnsaved(lock: WorkspaceLock): Promise<void> {
    const { unsaved = [] } = (await this.interrupted(await this.#view.standing())) ?? {}
    const detail = 'the machine that sent the request was removed from the home'
    for (const { memory, isOwn } of unsaved) {
      if (isOwn) await this.#keep(memory, lock)
      else await this.#dispatcher.recordKept(memory, { ok: false, detail })
    }
  }

  /** Of an exchange that recovery ended: the answer is in its place, or everything was put back. */
  async recordKept({ answer_of }: AnswerNote, isKept: boolean): Promise<void> {
    const { requests } = await this.#view.standing()
    const memory = requests
      .of(answer_of.action_id)
      .find(({ begun }) => begun.step_id === answer_of.step_id)
    if (memory === undefined) return
    const detail = 'interrupted, and put back'
    await this.#dispatcher.recordKept(memory, isKept ? { ok: true } : { ok: false, detail })
  }

  /** Saves an answer as a file; records why if it cannot. The answer stays in the objects. */
  async #keep(memory: RequestMemory, lock: WorkspaceLock): Promise<void> {
    const { save, answer } = memory.ended ?? memory.begun
    if (save === undefined) return
    if (answer?.digest === undefined) {
      await this.#dispatcher.recordKept(memory, { ok: false, detail: 'the answer was too long' })
      return
    }
    const place = stagePlaceFor(this.#context.home, dirname(realPathOf(save.path)))
    const stage = stageOf(place, save.save_id)
    try {
      // A name that a fact holds is a digest.
      const digest = answer.digest as Digest
      const bytes = await this.#context.ledger.objects.get(digest)
      removeTreeSync(stage)
      const change = await stageAnswer(stage, save.path, { digest, bytes })
      const { action_id, step_id } = memory.begun
      await applyStage({
        actionId: save.save_id,
        lock,
        changes: [change],
        stage,
        keep: preimagesOf(place, save.save_id),
        state: this.#context.home.state,
        roots: [],
        isHalted: () => false,
        note: { answer_of: { action_id, step_id } } satisfies AnswerNote,
        record: () => this.#dispatcher.recordKept(memory, { ok: true }),
      })
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      removeTreeSync(stage)
      await this.#dispatcher.recordKept(memory, { ok: false, detail: error.fault.message })
    }
  }
}

interface Undoer {
  readonly actionId: string
  readonly evaluation: Pick<Evaluation, 'compensates'>
}

/**
 * Which of several compensations of one step counts.
 *
 * INVARIANT (undone once): a step has one compensation that waits, was approved or was carried out.
 * Of
 * two that were proposed at the same time the later one ends (`ask`); under the workspace's lock
 * none
 * is carried out after another (`promote`). Returns the compensation of the same step that came
 * before this one; null for the first.
 */
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
  throw faultError('compensation.used', first, message)
}
