/**
 * What stands after all facts so far: a fold, taken further fact by fact, that answers at any given
 * time. Facts of the host's stream (halt, laws) and of the caller's are taken in alike.
 *
 * INVARIANT (facts alone): nothing is known here that is not on the ledger, so a process that starts
 *   later comes to the same answers.
 */
import { parseIsoMomentMs } from '../base/index.ts'
import type {
  Confirmation,
  Decision,
  Evaluation,
  EvaluationBasis,
  Halt,
  Laws,
  Override,
  Promotion,
  RequestFact,
  Rollback,
  StandingExcerpt,
} from '../contracts/index.ts'

import { type Footing, footingOf, type HeldBase, HeldFold, type HeldMark } from './held.ts'
import {
  type InterruptedRun,
  type ReleasedRun,
  ReleaseFold,
  type UsableRelease,
} from './network/release-fold.ts'
import { RequestHistory } from './request-history.ts'

export const COOLDOWN_MS = 15 * 60 * 1000

/** A fact with its payload whole, also of a record that was kept by reference. */
export interface StandingFact {
  readonly type: string
  readonly payload: unknown
  /** ISO 8601. */
  readonly occurredAt: string
  readonly seq: number
}

export interface PendingQuestion {
  readonly actionId: string
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly askedAt: string
  readonly expiresMs: number
}

export interface PromotedAction {
  readonly actionId: string
  readonly promotedAt: string
  readonly undoUntil: string
  readonly promotion: Promotion
  /** The rollback that undid it; null while it stands. */
  readonly rolledBackBy: string | null
  readonly rolledBackAt: string | null
}

/** An override that may be used, and the law that it sets aside. */
export type OverrideInForce = EvaluationBasis['overrides'][number]

export interface StandingOptions {
  /** How long a question waits for its answer. */
  readonly confirmationMs: number
  readonly cooldownMs: number
}

/** What is remembered of one action. */
interface ActionMemory {
  /** Null where the record does not tell. */
  readonly actor: string | null
  readonly intent: string | null
  readonly proposalDigest: string
  readonly cooldownOnRepeat: boolean
}

/** What stands against one intent. */
interface IntentMemory {
  permanent: boolean
  /** The last moment from which it cools down; how long that takes is the law of the day. */
  cooledFromMs: number | null
  reconfirm: boolean
  background: boolean
}

interface KnownOverride {
  readonly override: Override
  /** The actions that it was used for. */
  readonly usedBy: Set<string>
}

export class StandingFold {
  readonly #options: StandingOptions
  readonly #seen = new Set<string>()
  readonly #actions = new Map<string, ActionMemory>()
  readonly #intents = new Map<string, IntentMemory>()
  readonly #intentsOfOperation = new Map<string, Set<string>>()
  readonly #pending = new Map<string, PendingQuestion>()
  readonly #promoted = new Map<string, PromotedAction>()
  readonly #overrides = new Map<string, KnownOverride>()
  /** By the action that is being decided: the overrides without which a law would speak. */
  readonly #setAside = new Map<string, readonly string[]>()
  readonly #held = new HeldFold()
  readonly #releases = new ReleaseFold()
  readonly #compensations = new Map<string, string[]>()
  readonly #beyondFiles = new Set<string>()
  /** What became of requests that were held. */
  readonly requests = new RequestHistory()
  #halted = false
  #laws: Laws | null = null

  constructor(options: StandingOptions) {
    this.#options = options
  }

  /** Takes in one fact; the facts of a stream come in their order. */
  take(fact: StandingFact): void {
    // The store judged every record by its contract before it was written.
    const { payload } = fact
    switch (fact.type) {
      case 'halt_v1':
        this.#halted = (payload as Halt).state === 'HALTED'
        return
      case 'laws_v1':
        this.#laws = payload as Laws
        return
      case 'proposal_v1':
        return this.#takeProposal(payload)
      case 'evaluation_v1':
        return this.#takeEvaluation(payload as Evaluation)
      case 'decision_v1':
        return this.#takeDecision(payload as Decision, fact.occurredAt)
      case 'confirmation_v1':
        return this.#takeConfirmation(payload as Confirmation)
      case 'promotion_v1':
        return this.#takePromotion(payload as Promotion)
      case 'rollback_v1':
        return this.#takeRollback(payload as Rollback)
      case 'override_v1':
        return this.#takeOverride(payload as Override)
      case 'request_v1':
        return this.requests.take(payload as RequestFact)
      default:
    }
  }

  get halted(): boolean {
    return this.#halted
  }

  /** What a human accepted last; null when nobody did yet. */
  get laws(): Laws | null {
    return this.#laws
  }

  hasSeen(actionId: string): boolean {
    return this.#seen.has(actionId.toLowerCase())
  }

  /** What stands against an intent at a time; `lawsChanged` is what the host found in the file. */
  against(intent: string, lawsChanged: boolean, nowMs: number): StandingExcerpt {
    const memory = this.#intents.get(intent)
    const from = memory?.cooledFromMs ?? null
    const until = from === null ? null : from + this.#options.cooldownMs
    return {
      halted: this.#halted,
      laws_changed: lawsChanged,
      permanent: memory?.permanent ?? false,
      cooldown_until_ms: until !== null && nowMs < until ? until : null,
      reconfirm: memory?.reconfirm ?? false,
      background_before: memory?.background ?? false,
    }
  }

  /** From when an intent cools down; null when nothing cools it down. */
  cooledFromMs(intent: string): number | null {
    return this.#intents.get(intent)?.cooledFromMs ?? null
  }

  /** Questions that wait at this time, oldest first. */
  pending(nowMs: number): readonly PendingQuestion[] {
    return [...this.#pending.values()].filter(({ expiresMs }) => nowMs < expiresMs)
  }

  /** Questions that nobody answered in time and that no fact has closed yet. */
  expired(nowMs: number): readonly PendingQuestion[] {
    return [...this.#pending.values()].filter(({ expiresMs }) => nowMs >= expiresMs)
  }

  question(actionId: string): PendingQuestion | null {
    return this.#pending.get(actionId.toLowerCase()) ?? null
  }

  /** Acts whose effects are staged and wait for somebody to ask for their promotion. */
  heldActions(): readonly string[] {
    return this.#held.actionIds()
  }

  /** How an act is held; null when it is not. */
  heldMark(actionId: string): HeldMark | null {
    return this.#held.markOf(actionId)
  }

  /** Whether the stages that an act stands on are still what it saw. */
  footing(bases: readonly HeldBase[]): Footing {
    return footingOf(bases, (id) => {
      const promoted = this.#promoted.get(id.toLowerCase())
      const stands = promoted !== undefined && promoted.rolledBackBy === null
      return {
        isHeld: this.#held.markOf(id) !== null,
        promoted: stands ? promoted.promotion.manifest : null,
      }
    })
  }

  /** Applied promotions in their order, with those that were undone. */
  promoted(): readonly PromotedAction[] {
    return [...this.#promoted.values()]
  }

  promotion(actionId: string): PromotedAction | null {
    return this.#promoted.get(actionId.toLowerCase()) ?? null
  }

  /** A human was asked about something that restoring files does not undo. */
  reachesBeyondFiles(actionId: string): boolean {
    return this.#beyondFiles.has(actionId.toLowerCase())
  }

  /** The acts that were proposed to undo what this one sent, oldest first. */
  compensationsOf(actionId: string): readonly string[] {
    return this.#compensations.get(actionId.toLowerCase()) ?? []
  }

  /** What an action wanted; null when nothing is known of it. */
  intentOf(actionId: string): string | null {
    return this.#actions.get(actionId.toLowerCase())?.intent ?? null
  }

  /** What a human released for a proposal and nothing has used yet. */
  releaseFor(actionId: string, proposalDigest: string, nowMs: number): UsableRelease | null {
    return this.#releases.usable(actionId, proposalDigest, nowMs)
  }

  /** Released runs that began and about which nothing was decided: they go on, or were interrupted. */
  releasedRuns(): readonly ReleasedRun[] {
    return this.#releases.openRuns()
  }

  /** Released runs of which nobody knows what they sent. */
  interruptedRuns(): readonly InterruptedRun[] {
    return this.#releases.interruptedRuns()
  }

  /** Whether nothing but refused runs of this very proposal used the id. */
  onlyRefused(actionId: string, proposalDigest: string): boolean {
    return this.#releases.onlyRefused(actionId, proposalDigest)
  }

  /** Overrides of a law that can still be used for this action at this time. */
  overridesOf(
    policyId: string,
    actionId: string,
    intent: string,
    nowMs: number,
  ): readonly Override[] {
    return this.#usable(actionId, intent, nowMs).filter(({ policy_id }) => policy_id === policyId)
  }

  /** Every override of a law that can be used for this action at this time, oldest first. */
  overridesInForce(actionId: string, intent: string, nowMs: number): readonly OverrideInForce[] {
    return this.#usable(actionId, intent, nowMs).flatMap(({ override_id, policy_id }) =>
      policy_id === undefined ? [] : [{ override_id, policy_id }],
    )
  }

  /** An override, and for how many actions it was used; null when there is none of this id. */
  overrideOf(id: string): { readonly override: Override; readonly used: number } | null {
    const known = this.#overrides.get(id)
    return known === undefined ? null : { override: known.override, used: known.usedBy.size }
  }

  /** How many acts of an actor were taken back within a span before a moment. */
  rollbacksOf(actor: string, nowMs: number, spanMs: number): number {
    let count = 0
    for (const { actionId, rolledBackAt } of this.#promoted.values()) {
      const atMs = rolledBackAt === null ? null : parseIsoMomentMs(rolledBackAt)
      if (atMs === null || nowMs - atMs >= spanMs) continue
      // A record that does not tell whose act it was counts against everybody.
      const whose = this.#actions.get(actionId.toLowerCase())?.actor ?? null
      if (whose === null || whose === actor) count++
    }
    return count
  }

  #usable(actionId: string, intent: string, nowMs: number): readonly Override[] {
    const id = actionId.toLowerCase()
    return [...this.#overrides.values()]
      .filter(({ override }) => override.kind === 'law' && isInForce(override, nowMs))
      .filter(({ override, usedBy }) => usedBy.size < override.uses || usedBy.has(id))
      .map(({ override }) => override)
      .filter((override) =>
        // Ids are used once: what a human overrode for an action holds for its intent.
        override.intent === undefined
          ? override.action_id === undefined || sameId(override.action_id, actionId)
          : override.intent === intent,
      )
  }

  #takeProposal(payload: unknown): void {
    const ids = idsOf(payload)
    for (const id of ids) this.#seen.add(id)
    this.#releases.takeProposal(ids)
  }

  #takeEvaluation(evaluation: Evaluation): void {
    const { action_id, intent, operation_digest, cooldown_on_repeat } = evaluation
    const id = action_id.toLowerCase()
    this.#setAside.set(id, this.#usedOverrides(evaluation))
    this.#releases.takeEvaluation(evaluation)
    if (evaluation.compensates !== undefined) this.#takeCompensation(evaluation.compensates, id)
    this.#seen.add(id)
    // The first use of an id is the action; what a later one says does not change it.
    if (!this.#actions.has(id)) {
      this.#actions.set(id, {
        actor: evaluation.basis?.actor ?? null,
        intent: intent ?? null,
        proposalDigest: evaluation.proposal_digest,
        cooldownOnRepeat: cooldown_on_repeat,
      })
    }
    if (this.#actions.get(id)?.proposalDigest === evaluation.proposal_digest) {
      this.#held.takeEvaluation(evaluation)
    }
    if (intent === undefined || operation_digest === undefined) return
    const known = this.#intentsOfOperation.get(operation_digest) ?? new Set()
    this.#intentsOfOperation.set(operation_digest, known.add(intent))
  }

  /** The first override in force of each law that was broken and set aside. */
  #usedOverrides(evaluation: Evaluation): readonly string[] {
    const { action_id, intent = '', host, basis, law_outcomes } = evaluation
    const inForce = basis?.overrides ?? this.overridesInForce(action_id, intent, host.now_ms)
    return law_outcomes
      .filter(({ overridden }) => overridden)
      .flatMap((law) => {
        const used = inForce.find(({ policy_id }) => policy_id === law.policy_id)
        return used === undefined ? [] : [used.override_id]
      })
  }

  #takeCompensation(undone: string, id: string): void {
    const known = this.#compensations.get(undone.toLowerCase()) ?? []
    if (!known.includes(id)) known.push(id)
    this.#compensations.set(undone.toLowerCase(), known)
  }

  #takeDecision(decision: Decision, occurredAt: string): void {
    const id = decision.action_id.toLowerCase()
    this.#seen.add(id)
    if (decision.codes.includes('confirm.class')) this.#beyondFiles.add(id)
    this.#releases.takeDecision(decision)
    const action = this.#actions.get(id)
    // The refusal of an id that was used before says nothing about its first use.
    if (action !== undefined && action.proposalDigest !== decision.proposal_digest) return
    // An act that is refused all the same has used nothing up.
    for (const overrideId of this.#setAside.get(id) ?? []) {
      if (decision.decision !== 'BLOCK') this.#overrides.get(overrideId)?.usedBy.add(id)
    }
    this.#setAside.delete(id)
    const intent = this.#intentOf(id)
    if (intent !== null && decision.codes.includes('rehearsal.background')) intent.background = true
    if (intent !== null && decision.permanent) intent.permanent = true
    this.#held.takeDecision(decision)
    // Of what is held a human is asked when somebody wants it promoted.
    const isAsked = this.#held.markOf(id)?.asked ?? true
    if (decision.decision !== 'CONFIRM' || decision.result_digest === undefined || !isAsked) {
      this.#pending.delete(id)
      return
    }
    const askedMs = parseIsoMomentMs(decision.decided_at) ?? parseIsoMomentMs(occurredAt) ?? 0
    this.#pending.set(id, {
      actionId: decision.action_id,
      proposalDigest: decision.proposal_digest,
      resultDigest: decision.result_digest,
      askedAt: decision.decided_at,
      expiresMs: askedMs + this.#options.confirmationMs,
    })
  }

  #takeConfirmation(confirmation: Confirmation): void {
    const { action_id, answer, answered_at } = confirmation
    const id = action_id.toLowerCase()
    this.#pending.delete(id)
    this.#held.takeConfirmation(confirmation)
    const intent = this.#intentOf(id)
    if (intent === null) return
    if (answer === 'APPROVED') intent.reconfirm = false
    else if (this.#actions.get(id)?.cooldownOnRepeat === true) this.#coolDown(intent, answered_at)
  }

  #takePromotion(promotion: Promotion): void {
    const id = promotion.action_id.toLowerCase()
    this.#pending.delete(id)
    this.#held.takePromotion(promotion)
    if (promotion.status !== 'APPLIED') return
    this.#promoted.set(id, {
      actionId: promotion.action_id,
      promotedAt: promotion.promoted_at,
      undoUntil: promotion.undo_until,
      promotion,
      rolledBackBy: null,
      rolledBackAt: null,
    })
  }

  /** Whatever the flag says, an intent that was taken back cools down and is asked about again. */
  #takeRollback({ rollback_id, action_ids, rolled_back_at }: Rollback): void {
    for (const actionId of action_ids) {
      const id = actionId.toLowerCase()
      const promoted = this.#promoted.get(id)
      if (promoted !== undefined) {
        const undone = { rolledBackBy: rollback_id, rolledBackAt: rolled_back_at }
        this.#promoted.set(id, { ...promoted, ...undone })
      }
      const intent = this.#intentOf(id)
      if (intent === null) continue
      intent.reconfirm = true
      this.#coolDown(intent, rolled_back_at)
    }
  }

  #takeOverride(override: Override): void {
    this.#releases.takeOverride(override)
    if (override.kind !== 'lift') {
      this.#overrides.set(override.override_id, { override, usedBy: new Set() })
      return
    }
    const intents = new Set(override.intent === undefined ? [] : [override.intent])
    for (const intent of this.#intentsOfOperation.get(override.operation_digest ?? '') ?? []) {
      intents.add(intent)
    }
    for (const intent of intents) {
      const memory = this.#intents.get(intent)
      if (memory === undefined) continue
      memory.permanent = false
      memory.background = false
      memory.cooledFromMs = null
    }
  }

  #coolDown(intent: IntentMemory, from: string): void {
    const fromMs = parseIsoMomentMs(from) ?? 0
    intent.cooledFromMs = Math.max(intent.cooledFromMs ?? fromMs, fromMs)
  }

  /** The memory of an action's intent; null when the action had none. */
  #intentOf(id: string): IntentMemory | null {
    const intent = this.#actions.get(id)?.intent ?? null
    if (intent === null) return null
    let memory = this.#intents.get(intent)
    if (memory === undefined) {
      memory = { permanent: false, cooledFromMs: null, reconfirm: false, background: false }
      this.#intents.set(intent, memory)
    }
    return memory
  }
}

function isInForce({ expires_at }: Override, nowMs: number): boolean {
  const expiresMs = expires_at === undefined ? null : parseIsoMomentMs(expires_at)
  return expiresMs === null || nowMs < expiresMs
}

function sameId(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Every action id of a recorded proposal; the view on the ledger keeps ids. */
function idsOf(payload: unknown): readonly string[] {
  const ids: string[] = []
  const open: unknown[] = [payload]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { descriptor, children } = next as {
      readonly descriptor?: { readonly action_id?: unknown }
      readonly children?: readonly unknown[]
    }
    if (typeof descriptor?.action_id === 'string') ids.push(descriptor.action_id.toLowerCase())
    if (Array.isArray(children)) open.push(...children)
  }
  return ids
}
