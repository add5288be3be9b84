/** Grants that humans gave at a question, folded from facts: which are in force, and how often each was used. */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Evaluation, EvaluationBasis, GrantFact } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, NOTHING_KEPT } from './memory-table.ts'

/** A grant that an act may be judged with. */
export type GivenGrant = NonNullable<EvaluationBasis['given']>[number]

export interface KnownGrant extends GivenGrant {
  readonly action_id: string
  readonly given_at: string
  readonly uses: number
  /** Acts that were let pass by it. */
  readonly usedBy: readonly string[]
}

interface Brief {
  readonly grants: readonly KnownGrant[]
  readonly judged: readonly (readonly [string, readonly string[]])[]
}

export class GrantFold implements FoldMemory {
  readonly tables = {}
  readonly #grants: Map<string, KnownGrant>
  /** By the action that is being decided: the grants without which it would be asked about. */
  readonly #judged: Map<string, readonly string[]>

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    const brief = (kept.brief('grants') ?? { grants: [], judged: [] }) as Brief
    this.#grants = new Map(brief.grants.map((grant) => [grant.grant_id, grant]))
    this.#judged = new Map(brief.judged)
  }

  brief(): Brief {
    return { grants: [...this.#grants.values()], judged: [...this.#judged] }
  }

  take(fact: GrantFact): void {
    const { grant_id, event, at, action_id, agent, glob, uses, until } = fact
    if (event === 'REVOKED') this.#grants.delete(grant_id)
    else if (action_id && agent && glob && uses && until) {
      const known = { grant_id, agent, glob, until, action_id, given_at: at, uses, usedBy: [] }
      this.#grants.set(grant_id, known)
    }
  }

  takeEvaluation({ action_id, comparison }: Evaluation): void {
    const used = comparison?.given_used ?? []
    const id = action_id.toLowerCase()
    if (used.length === 0) this.#judged.delete(id)
    else this.#judged.set(id, used)
  }

  /** A refused act uses up no grant. */
  takeDecision(id: string, isBlocked: boolean): void {
    for (const grantId of this.#judged.get(id) ?? []) {
      const known = this.#grants.get(grantId)
      if (isBlocked || known === undefined || known.usedBy.includes(id)) continue
      this.#grants.set(grantId, { ...known, usedBy: [...known.usedBy, id] })
    }
    this.#judged.delete(id)
  }

  /** Those that are neither over nor used up, oldest first. */
  all(nowMs: number): readonly KnownGrant[] {
    return [...this.#grants.values()].filter(
      ({ until, uses, usedBy }) => nowMs < (parseIsoMomentMs(until) ?? 0) && usedBy.length < uses,
    )
  }

  inForce(nowMs: number): readonly GivenGrant[] {
    return this.all(nowMs).map(({ grant_id, agent, glob, until }) => ({
      grant_id,
      agent,
      glob,
      until,
    }))
  }
}
