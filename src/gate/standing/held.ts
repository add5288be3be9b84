/**
 * Effects that stay staged until a caller asks for their promotion (F-13): which acts are held now, and
 * whether the stages that an act was rehearsed on are unchanged. A function of facts.
 *
 * A promotion, a decision that blocks, or a human's no ends the hold. A promotion that recovery
 * reverted does not: the stage still exists and can be promoted.
 */
import type { Confirmation, Decision, Evaluation, Promotion } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, NOTHING_KEPT } from './memory-table.ts'

export type HeldMark = NonNullable<Evaluation['held']>
/** A stage that an act was rehearsed on, named by the act that made it. */
export type HeldBase = HeldMark['bases'][number]

interface HeldAct {
  readonly actionId: string
  readonly mark: HeldMark
}

export class HeldFold implements FoldMemory {
  readonly tables = {}
  readonly #held: Map<string, HeldAct>

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    this.#held = new Map((kept.brief('held') ?? []) as readonly (readonly [string, HeldAct])[])
  }

  brief(): readonly (readonly [string, HeldAct])[] {
    return [...this.#held]
  }

  takeEvaluation({ action_id, held }: Evaluation): void {
    if (held !== undefined) {
      this.#held.set(action_id.toLowerCase(), { actionId: action_id, mark: held })
    }
  }

  takeDecision({ action_id, decision }: Decision): void {
    if (decision === 'BLOCK') this.#held.delete(action_id.toLowerCase())
  }

  takeConfirmation({ action_id, answer }: Confirmation): void {
    if (answer !== 'APPROVED') this.#held.delete(action_id.toLowerCase())
  }

  takePromotion({ action_id, status }: Promotion): void {
    if (status === 'APPLIED') this.#held.delete(action_id.toLowerCase())
  }

  /** Null when the act is not held, or not any more. */
  markOf(actionId: string): HeldMark | null {
    return this.#held.get(actionId.toLowerCase())?.mark ?? null
  }

  /** In the order in which they came to be held. */
  actionIds(): readonly string[] {
    return [...this.#held.values()].map(({ actionId }) => actionId)
  }
}

/** `waiting`: a base is held itself. `void`: a base is not what it was, and never will be again. */
export interface BaseCheck {
  readonly state: 'sound' | 'waiting' | 'void'
  /** The first base that is the reason; empty when all are sound. */
  readonly base: string
}

/** What is known of one base. */
export interface BaseStanding {
  readonly isHeld: boolean
  /** The manifest it was promoted with; null when it was not, or was taken back. */
  readonly promoted: string | null
}

/** Whether an act may be promoted on what its bases have become. */
export function footingOf(
  bases: readonly HeldBase[],
  standingOf: (actionId: string) => BaseStanding,
): BaseCheck {
  let waiting: string | null = null
  for (const { action_id, manifest } of bases) {
    const { isHeld, promoted } = standingOf(action_id)
    if (promoted === manifest) continue
    if (promoted !== null || !isHeld) return { state: 'void', base: action_id }
    waiting ??= action_id
  }
  return waiting === null ? { state: 'sound', base: '' } : { state: 'waiting', base: waiting }
}
