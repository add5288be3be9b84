/**
 * Attempts of participants (F-13): begun over their bases, held when they are finished, then
 * promoted once on request, or dropped. A held attempt lives in its stage and on the ledger, not in
 * memory, so any process can continue with it.
 */
import { fault, faultError } from '../../base/index.ts'
import { rawOfText } from '../../gate/index.ts'
import type { GateParts } from '../lifecycle/act.ts'
import { answerOf } from '../lifecycle/answer.ts'
import { dropStageOf, end } from '../lifecycle/decide-again.ts'
import { readHeld } from '../lifecycle/held.ts'
import { proceedHeld } from '../lifecycle/lifecycle.ts'
import type {
  Attempt,
  AttemptOrder,
  AttemptSurface,
  HeldEffects,
  PromotedChanges,
} from '../surface/attempt-surface.ts'
import { workspaceOf } from '../surface/context.ts'
import type { Confirm, GateAnswer } from '../surface/surface.ts'
import { OpenAttempt } from './attempt.ts'
import { readThrough } from './attempt-bases.ts'
import { AttemptScene } from './attempt-scene.ts'
import { promotedBehind } from './promoted-changes.ts'

export class Attempts implements AttemptSurface {
  readonly #gate: GateParts

  constructor(gate: GateParts) {
    this.#gate = gate
  }

  async begin(order: AttemptOrder): Promise<Attempt> {
    await this.#gate.workspace.recover()
    return new OpenAttempt(this.#gate, await AttemptScene.open(this.#gate, order))
  }

  async readStaged(bases: readonly string[], path: string): Promise<Uint8Array | null> {
    await this.#gate.workspace.recover()
    const root = workspaceOf(this.#gate.context)
    if (!path.startsWith(`${root}/`)) throw faultError('attempt.order', path)
    return readThrough(this.#gate, bases, root, path)
  }

  async leftDigest(actionId: string, path: string): Promise<string | null> {
    const raw = rawOfText(path)
    const effects = await this.#gate.questions.effects(actionId)
    return effects?.changes.find((change) => change.path === raw)?.after?.digest ?? null
  }

  async promoteHeld(actionId: string, confirm: Confirm): Promise<GateAnswer> {
    await this.#gate.workspace.recover()
    const outcome = await proceedHeld(this.#gate, actionId, { confirm })
    return answerOf(this.#gate.questions, outcome)
  }

  async dropHeld(actionId: string): Promise<void> {
    await this.#gate.workspace.recover()
    const standing = await this.#gate.view.standing()
    if (standing.promotion(actionId) !== null) return
    if (standing.heldMark(actionId) === null) return dropStageOf(this.#gate, actionId)
    const { act } = await readHeld(this.#gate, actionId)
    await end(this.#gate, act, { fault: fault('attempt.dropped', actionId, null) })
  }

  promotedBehind(seq: number): Promise<readonly PromotedChanges[]> {
    return promotedBehind(this.#gate, seq)
  }

  async isPromoted(actionId: string): Promise<boolean> {
    await this.#gate.workspace.recover()
    return (await this.#gate.view.standing()).promotion(actionId) !== null
  }

  effects(actionId: string): Promise<HeldEffects | null> {
    return this.#gate.questions.effects(actionId)
  }

  async held(): Promise<readonly string[]> {
    return (await this.#gate.view.standing()).heldActions()
  }
}
