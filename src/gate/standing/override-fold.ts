/** What keeps an intent back and what sets that aside, folded from facts. */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Evaluation, EvaluationBasis, Override } from '../../contracts/index.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'

/** An override that may be used, and the law that it sets aside. */
export type OverrideInForce = EvaluationBasis['overrides'][number]

interface KnownOverride {
  readonly override: Override
  /** The actions that it was used for. */
  readonly usedBy: readonly string[]
}

interface Brief {
  readonly laws: readonly (readonly [string, KnownOverride])[]
  readonly setAside: readonly (readonly [string, readonly string[]])[]
}

/**
 * Overrides that humans gave, folded from facts: which of them an act can use, and which were used.
 * Every proposal queries the overrides of laws, so those are one list. The others are found by id.
 */
export class OverrideFold implements FoldMemory {
  readonly #laws: Map<string, KnownOverride>
  readonly #others: MemoryTable<KnownOverride>
  /** By the action that is being decided: the overrides without which a law would speak. */
  readonly #setAside: Map<string, readonly string[]>

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    // What is kept was written by a fold of the same version.
    const brief = (kept.brief('overrides') ?? { laws: [], setAside: [] }) as Brief
    this.#laws = new Map(brief.laws)
    this.#setAside = new Map(brief.setAside)
    this.#others = new MemoryTable(kept.table('overrides'))
  }

  get tables() {
    return { overrides: this.#others }
  }

  brief(): Brief {
    return { laws: [...this.#laws], setAside: [...this.#setAside] }
  }

  take(override: Override): void {
    const known = { override, usedBy: [] }
    if (override.kind === 'law') this.#laws.set(override.override_id, known)
    else this.#others.set(override.override_id, known)
  }

  takeEvaluation(evaluation: Evaluation): void {
    const id = evaluation.action_id.toLowerCase()
    const used = this.#usedBy(evaluation)
    if (used.length === 0) this.#setAside.delete(id)
    else this.#setAside.set(id, used)
  }

  /** A refused act uses up no override. */
  takeDecision(id: string, isBlocked: boolean): void {
    for (const overrideId of this.#setAside.get(id) ?? []) {
      const known = this.#laws.get(overrideId)
      if (isBlocked || known === undefined || known.usedBy.includes(id)) continue
      this.#laws.set(overrideId, { ...known, usedBy: [...known.usedBy, id] })
    }
    this.#setAside.delete(id)
  }

  /** An override, and for how many actions it was used; null when there is none of this id. */
  of(id: string): { readonly override: Override; readonly used: number } | null {
    const known = this.#laws.get(id) ?? this.#others.get(id)
    return known === undefined ? null : { override: known.override, used: known.usedBy.length }
  }

  /** Overrides of laws that can be used for this action at this time, oldest first. */
  usable(actionId: string, intent: string, nowMs: number): readonly Override[] {
    const id = actionId.toLowerCase()
    return [...this.#laws.values()]
      .filter(({ override }) => isInForce(override, nowMs))
      .filter(({ override, usedBy }) => usedBy.length < override.uses || usedBy.includes(id))
      .map(({ override }) => override)
      .filter((override) =>
        // Ids are used once: what a human overrode for an action holds for its intent.
        override.intent === undefined
          ? override.action_id === undefined || override.action_id.toLowerCase() === id
          : override.intent === intent,
      )
  }

  /** The same, each with the law that it sets aside. */
  inForce(actionId: string, intent: string, nowMs: number): readonly OverrideInForce[] {
    return this.usable(actionId, intent, nowMs).flatMap(({ override_id, policy_id }) =>
      policy_id === undefined ? [] : [{ override_id, policy_id }],
    )
  }

  /** The first override in force of each law that was broken and set aside. */
  #usedBy(evaluation: Evaluation): readonly string[] {
    const { action_id, intent = '', host, basis, law_outcomes } = evaluation
    const inForce = basis?.overrides ?? this.inForce(action_id, intent, host.now_ms)
    return law_outcomes
      .filter(({ overridden }) => overridden)
      .flatMap((law) => {
        const used = inForce.find(({ policy_id }) => policy_id === law.policy_id)
        return used === undefined ? [] : [used.override_id]
      })
  }
}

export function isInForce({ expires_at }: Override, nowMs: number): boolean {
  const expiresMs = expires_at === undefined ? null : parseIsoMomentMs(expires_at)
  return expiresMs === null || nowMs < expiresMs
}

export interface IntentMemory {
  readonly permanent: boolean
  /** When the cooldown last began. The laws in force say how long it lasts. */
  readonly cooledFromMs: number | null
  readonly reconfirm: boolean
  readonly background: boolean
}

/** Names one intent, or all intents of an operation. */
export type Lift = Pick<Override, 'intent' | 'operation_digest'>

const NOTHING_AGAINST: IntentMemory = {
  permanent: false,
  cooledFromMs: null,
  reconfirm: false,
  background: false,
}

/**
 * Obstacles to intents (G-18d), folded from facts: permanent blocks, cooldowns, and intents that a
 * human must confirm again. A lift names one intent, or an operation and so all of its intents.
 */
export class IntentFold implements FoldMemory {
  /** Intents with at least one obstacle. */
  readonly #intents: MemoryTable<IntentMemory>
  /** Operations with their intents, as one key: nothing has to be read to add one. */
  readonly #operations: MemoryTable<true>
  /** The same for what came since it was kept, by operation. */
  readonly #newOperations = new Map<string, Set<string>>()

  constructor(kept: KeptMemory = NOTHING_KEPT) {
    this.#intents = new MemoryTable(kept.table('intents'))
    this.#operations = new MemoryTable(kept.table('operations'))
  }

  get tables() {
    return { intents: this.#intents, operations: this.#operations }
  }

  brief(): null {
    return null
  }

  of(intent: string): IntentMemory {
    return this.#intents.get(intent) ?? NOTHING_AGAINST
  }

  takeOperation(operation: string, intent: string): void {
    this.#operations.set(`${operation}/${intent}`, true)
    const known = this.#newOperations.get(operation) ?? new Set()
    this.#newOperations.set(operation, known.add(intent))
  }

  takeLift(lift: Lift): void {
    for (const one of this.namedBy(lift)) {
      this.note(one, { permanent: false, background: false, cooledFromMs: null })
    }
  }

  /** Returns the intents that a lift is about. */
  namedBy({ intent, operation_digest: operation }: Lift): ReadonlySet<string> {
    const intents = new Set(intent === undefined ? [] : [intent])
    if (operation !== undefined) for (const one of this.#intentsOf(operation)) intents.add(one)
    return intents
  }

  coolDown(intent: string, from: string): void {
    const fromMs = parseIsoMomentMs(from) ?? 0
    const before = this.of(intent).cooledFromMs ?? fromMs
    this.note(intent, { cooledFromMs: Math.max(before, fromMs) })
  }

  /** Records a change to an intent. Forgets the intent once it has no obstacle. */
  note(intent: string, change: Partial<IntentMemory>): void {
    const before = this.#intents.get(intent)
    const after = { ...NOTHING_AGAINST, ...before, ...change }
    const { permanent, cooledFromMs, reconfirm, background } = after
    const hasObstacle = permanent || cooledFromMs !== null || reconfirm || background
    if (hasObstacle) this.#intents.set(intent, after)
    else if (before !== undefined) this.#intents.delete(intent)
  }

  *#intentsOf(operation: string): Iterable<string> {
    yield* this.#newOperations.get(operation) ?? []
    for (const key of this.#operations.keptUnder(`${operation}/`)) {
      yield key.slice(operation.length + 1)
    }
  }
}
