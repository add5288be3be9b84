/**
 * Pre-images of exchanges that never began: a process died after it had made the directory and before
 * its intent was durable. The directory holds nothing of anybody's, no journal and no fact knows of it,
 * and it must neither hold up an undo of older acts nor pass for an act that is in place.
 */
import type { Promotion, RequestFact } from '../../contracts/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { directoriesInUse, isAttempt, type KeptAct, readHead } from '../../promotion/index.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { preimageNames, preimagesOf, stagePlaces } from '../stage/stage-place.ts'
import type { GateContext } from '../surface/context.ts'
import { isAnswerNote } from './outgoing-requests.ts'

export class Unbegun {
  readonly #context: GateContext
  readonly #view: LedgerView

  constructor(context: GateContext, view: LedgerView) {
    this.#context = context
    this.#view = view
  }

  /** Returns true if there may be something to sweep. A process that is at work makes it true too. */
  isFound(): boolean {
    return this.#attempts().length > 0
  }

  /** Removes what never began. Works under the workspace's lock only, after recovery. */
  async sweep(): Promise<void> {
    for (const act of await this.unrecorded(this.#attempts())) removeTreeSync(act.keep)
  }

  /** Returns those that no fact calls done and no open journal needs. */
  async unrecorded<Act extends KeptAct>(acts: readonly Act[]): Promise<readonly Act[]> {
    const inUse = directoriesInUse(this.#context.home.state)
    const found: Act[] = []
    for (const act of acts) {
      if (!inUse.has(act.keep) && !(await this.#isRecorded(act))) found.push(act)
    }
    return found
  }

  #attempts(): readonly KeptAct[] {
    return stagePlaces(this.#context.home).flatMap((place) =>
      preimageNames(place)
        .map((id) => ({ id, keep: preimagesOf(place, id) }))
        .filter(({ keep }) => isAttempt(keep)),
    )
  }

  async #isRecorded({ id, keep }: KeptAct): Promise<boolean> {
    if ((await this.#view.standing()).promotion(id) !== null) return true
    const head = readHead(keep)
    // A rollback that is done leaves no directory; without a plan nothing can be taken back.
    if (head === null || head.kind === 'rollback') return false
    const { stream } = (head.note ?? {}) as { readonly stream?: string }
    const streams = stream === undefined ? await this.#context.ledger.store.streams() : [stream]
    for (const each of streams) {
      const isDone = isAnswerNote(head.note)
        ? await this.#isSaved(id, head.note.answer_of.action_id, each)
        : await this.#isApplied(id, each)
      if (isDone) return true
    }
    return false
  }

  async #isApplied(id: string, stream: string): Promise<boolean> {
    const found = await this.#view.factOf('promotion_v1', id, stream)
    // A fact is of its contract.
    return (found?.payload as Promotion | undefined)?.status === 'APPLIED'
  }

  async #isSaved(id: string, actionId: string, stream: string): Promise<boolean> {
    const facts = await this.#view.factsOf('request_v1', actionId, stream)
    return facts.some(({ payload }) => {
      // A fact is of its contract.
      const { state, save } = payload as RequestFact
      return state === 'SAVED' && save?.save_id === id
    })
  }
}
