/** Acts that a human approved and about which nothing else is on the record yet. */
import { parseIsoMomentMs } from '../../base/index.ts'

export interface ApprovedAct {
  readonly actionId: string
  readonly answeredMs: number
}

export class ApprovedFold {
  readonly #byId: Map<string, ApprovedAct>

  constructor(kept: readonly ApprovedAct[]) {
    this.#byId = new Map(kept.map((act) => [act.actionId.toLowerCase(), act]))
  }

  take(actionId: string, answeredAt: string): void {
    const answeredMs = parseIsoMomentMs(answeredAt) ?? 0
    this.#byId.set(actionId.toLowerCase(), { actionId, answeredMs })
  }

  /** It was promoted, or decided about again. */
  end(id: string): void {
    this.#byId.delete(id)
  }

  /** Oldest first. */
  brief(): readonly ApprovedAct[] {
    return [...this.#byId.values()]
  }
}
