/**
 * The standing after all facts so far: blocks, cooldowns, open questions, promotions, releases. A fold
 * that takes in fact by fact and answers for any given time. It takes in the facts of the host's stream
 * (halt, laws) and of the caller's stream alike.
 *
 * INVARIANT (facts alone): every answer follows from the ledger, so a process that starts later gives
 *   the same answers.
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import type {
  Confirmation,
  Decision,
  Evaluation,
  Laws,
  Override,
  Promotion,
  Rollback,
  StandingExcerpt,
} from '../../contracts/index.ts'
import type { Principal } from '../../ledger/index.ts'
import { isBounded } from '../comparison/grants.ts'
import { isAmended } from '../evidence/findings.ts'
import {
  type Approvals,
  type ApprovedAct,
  ApprovedFold,
  isSupersededBy,
  stillOpen,
} from './approvals.ts'
import { GrantFold } from './grant-fold.ts'
import { type BaseCheck, footingOf, type HeldBase, HeldFold, type HeldMark } from './held.ts'
import { type FoldMemory, type KeptMemory, MemoryTable, NOTHING_KEPT } from './memory-table.ts'
import {
  IntentFold,
  type IntentMemory,
  type Lift,
  OverrideFold,
  type OverrideInForce,
} from './override-fold.ts'
import { type PromotedAction, PromotedFold } from './promoted-fold.ts'
import {
  type InterruptedRun,
  type ReleasedRun,
  ReleaseFold,
  type UsableRelease,
} from './release-fold.ts'
import { RequestHistory } from './request-history.ts'
import {
  type ActionMemory,
  idsOf,
  type StandingFact,
  type StandingOptions,
  type TypedFact,
} from './standing-fact.ts'

export const COOLDOWN_MS = 15 * 60 * 1000

export interface PendingQuestion {
  readonly actionId: string
  readonly proposalDigest: string
  readonly resultDigest: string
  readonly askedAt: string
  readonly expiresMs: number
  /** Where several humans have to approve; absent where one is enough. */
  readonly approvals?: Approvals
}

/** A question as it is remembered, without its expiry: the options of the day give that. */
type AskedQuestion = Omit<PendingQuestion, 'expiresMs'> & {
  readonly askedMs: number
  /** A yes would send something, or let something be sent. */
  readonly sends: boolean
}

interface Brief {
  readonly halted: boolean
  readonly laws: Laws | null
  readonly pending: readonly (readonly [string, AskedQuestion])[]
  readonly approved: readonly ApprovedAct[]
}

const NO_BRIEF: Brief = { halted: false, laws: null, pending: [], approved: [] }

export class StandingFold implements FoldMemory {
  readonly #options: StandingOptions
  readonly #seen: MemoryTable<true>
  readonly #actions: MemoryTable<ActionMemory>
  readonly #compensations: MemoryTable<readonly string[]>
  readonly #beyondFiles: MemoryTable<true>
  readonly #pending: Map<string, AskedQuestion>
  readonly #approved: ApprovedFold
  readonly #intents: IntentFold
  readonly #promoted: PromotedFold
  readonly #overrides: OverrideFold
  readonly grants: GrantFold
  readonly #held: HeldFold
  readonly #releases: ReleaseFold
  /** The outcomes of held requests. */
  readonly requests: RequestHistory
  #halted: boolean
  #laws: Laws | null

  /** Begins with what was kept of the facts before, or with nothing. */
  constructor(options: StandingOptions, kept: KeptMemory = NOTHING_KEPT) {
    this.#options = options
    // What is kept was written by a fold of the same version.
    const brief = (kept.brief('standing') ?? NO_BRIEF) as Brief
    this.#halted = brief.halted
    this.#laws = brief.laws
    this.#pending = new Map(brief.pending)
    this.#approved = new ApprovedFold(brief.approved)
    this.#seen = new MemoryTable(kept.table('seen'))
    this.#actions = new MemoryTable(kept.table('actions'))
    this.#compensations = new MemoryTable(kept.table('compensations'))
    this.#beyondFiles = new MemoryTable(kept.table('beyond_files'))
    this.#intents = new IntentFold(kept)
    this.#promoted = new PromotedFold(kept)
    this.#overrides = new OverrideFold(kept)
    this.grants = new GrantFold(kept)
    this.#held = new HeldFold(kept)
    this.#releases = new ReleaseFold(kept)
    this.requests = new RequestHistory(kept)
  }

  get tables() {
    return {
      seen: this.#seen,
      actions: this.#actions,
      compensations: this.#compensations,
      beyond_files: this.#beyondFiles,
    }
  }

  brief(): Brief {
    const pending = [...this.#pending]
    return { halted: this.#halted, laws: this.#laws, pending, approved: this.approved() }
  }

  /** Returns everything that the fold remembers, part by part, for the store to keep. */
  parts(): Readonly<Record<string, FoldMemory>> {
    return {
      standing: this,
      intents: this.#intents,
      promoted: this.#promoted,
      overrides: this.#overrides,
      grants: this.grants,
      held: this.#held,
      releases: this.#releases,
      requests: this.requests,
    }
  }

  /** Takes in one fact; the facts of a stream come in their order. */
  take(fact: StandingFact): void {
    // The store validated the payload by its type before it wrote the record.
    const { type, payload, occurredAt, principal } = fact as TypedFact
    switch (type) {
      case 'halt_v1':
        this.#halted = payload.state === 'HALTED'
        return
      case 'laws_v1':
        this.#laws = payload
        return
      case 'proposal_v1':
        return this.#takeProposal(payload)
      case 'evaluation_v1':
        return this.#takeEvaluation(payload)
      case 'decision_v1':
        return this.#takeDecision(payload, occurredAt)
      case 'confirmation_v1':
        return this.#takeConfirmation(payload, principal)
      case 'promotion_v1':
        return this.#takePromotion(payload)
      case 'rollback_v1':
        return this.#takeRollback(payload)
      case 'override_v1':
        return this.#takeOverride(payload)
      case 'grant_v1':
        return this.grants.take(payload)
      case 'request_v1':
        return this.requests.take(payload)
      // Other records do not change the standing.
      default:
    }
  }

  get halted(): boolean {
    return this.#halted
  }

  /** The laws that a human accepted last; null before the first acceptance. */
  get laws(): Laws | null {
    return this.#laws
  }

  hasSeen(actionId: string): boolean {
    return this.#seen.has(actionId.toLowerCase())
  }

  /** Returns the obstacles to an intent at a time; `lawsChanged` is what the host found in the file. */
  against(intent: string, lawsChanged: boolean, nowMs: number): StandingExcerpt {
    const { permanent, cooledFromMs, reconfirm, background } = this.#intents.of(intent)
    const until = cooledFromMs === null ? null : cooledFromMs + this.#options.cooldownMs
    return {
      halted: this.#halted,
      laws_changed: lawsChanged,
      permanent,
      cooldown_until_ms: until !== null && nowMs < until ? until : null,
      reconfirm,
      background_before: background,
    }
  }

  /** Returns whether a lift would remove an obstacle: a block, a cooldown, or a background process. */
  isLiftable(lift: Lift, nowMs: number): boolean {
    return [...this.#intents.namedBy(lift)].some((intent) => {
      const found = this.against(intent, false, nowMs)
      return found.permanent || found.background_before || found.cooldown_until_ms !== null
    })
  }

  /** From when an intent cools down; null when nothing cools it down. */
  cooledFromMs(intent: string): number | null {
    return this.#intents.of(intent).cooledFromMs
  }

  /** Questions that wait at this time, oldest first. */
  pending(nowMs: number): readonly PendingQuestion[] {
    return this.#questions().filter(({ expiresMs }) => nowMs < expiresMs)
  }

  /** Returns the questions that expired unanswered and that no fact has closed yet. */
  expired(nowMs: number): readonly PendingQuestion[] {
    return this.#questions().filter(({ expiresMs }) => nowMs >= expiresMs)
  }

  question(actionId: string): PendingQuestion | null {
    const asked = this.#pending.get(actionId.toLowerCase())
    return asked === undefined ? null : this.#expiring(asked)
  }

  /** Open questions that a newer act takes the place of; `proposedMs` is when that was proposed. */
  olderAlike(actionId: string, proposedMs: number): readonly PendingQuestion[] {
    const newer = this.#actions.get(actionId.toLowerCase())
    return [...this.#pending.values()]
      .filter((asked) => asked.askedMs < proposedMs && this.#held.markOf(asked.actionId) === null)
      .filter((asked) =>
        isSupersededBy(asked, this.#actions.get(asked.actionId.toLowerCase()), newer),
      )
      .map((asked) => this.#expiring(asked))
  }

  /** Acts that a human approved and that were neither promoted nor refused since, oldest first. */
  approved(): readonly ApprovedAct[] {
    return this.#approved.brief()
  }

  #questions(): readonly PendingQuestion[] {
    return [...this.#pending.values()].map((asked) => this.#expiring(asked))
  }

  #expiring({ askedMs, sends, ...question }: AskedQuestion): PendingQuestion {
    const { confirmationMs, questionMs = confirmationMs } = this.#options
    return { ...question, expiresMs: askedMs + (sends ? confirmationMs : questionMs) }
  }

  /** Returns the acts whose effects stay staged until a caller asks for their promotion. */
  heldActions(): readonly string[] {
    return this.#held.actionIds()
  }

  /** How an act is held; null when it is not. */
  heldMark(actionId: string): HeldMark | null {
    return this.#held.markOf(actionId)
  }

  /** Returns whether the stages that an act was rehearsed on are unchanged. */
  footing(bases: readonly HeldBase[]): BaseCheck {
    return footingOf(bases, (id) => {
      const promoted = this.promotion(id)
      const isPromoted = promoted !== null && promoted.rolledBackBy === null
      return {
        isHeld: this.#held.markOf(id) !== null,
        promoted: isPromoted ? promoted.promotion.manifest : null,
      }
    })
  }

  /** Applied promotions in their order, with those that were undone. */
  promoted(): readonly PromotedAction[] {
    return [...this.#promoted.oldestFirst()]
  }

  /** The same from the last one backwards, each read when it is asked for. */
  promotedNewestFirst(): Iterable<PromotedAction> {
    return this.#promoted.newestFirst()
  }

  promotion(actionId: string): PromotedAction | null {
    return this.#promoted.of(actionId.toLowerCase())
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

  /** Returns the released runs that began and have no decision yet: running, or interrupted. */
  releasedRuns(): readonly ReleasedRun[] {
    return this.#releases.openRuns()
  }

  /** Returns the released runs that were interrupted: what they sent is unknown. */
  interruptedRuns(): readonly InterruptedRun[] {
    return this.#releases.interruptedRuns()
  }

  /** Whether nothing but refused runs of this very proposal used the id. */
  onlyRefused(actionId: string, proposalDigest: string): boolean {
    return this.#releases.onlyRefused(actionId, proposalDigest)
  }

  /** Every override of a law that can be used for this action at this time, oldest first. */
  overridesInForce(actionId: string, intent: string, nowMs: number): readonly OverrideInForce[] {
    return this.#overrides.inForce(actionId, intent, nowMs)
  }

  /** An override, and for how many actions it was used; null when there is none of this id. */
  overrideOf(id: string): { readonly override: Override; readonly used: number } | null {
    return this.#overrides.of(id)
  }

  /** How many acts of an actor were taken back within a span before a moment. */
  rollbacksOf(actor: string, nowMs: number, spanMs: number): number {
    return this.#promoted.countTakenBack(actor, nowMs, spanMs)
  }

  /** Returns the actor of an act; null where no record names one. */
  actorOf(actionId: string): string | null {
    return this.#actions.get(actionId.toLowerCase())?.actor ?? null
  }

  /** What an actor's act displaced that no human approved, in bytes; null for any other act. */
  unapproved(actionId: string): number | null {
    const action = this.#actions.get(actionId.toLowerCase())
    return action?.isActors === true && !action.isApproved ? action.displaced : null
  }

  #takeProposal(payload: unknown): void {
    const ids = idsOf(payload)
    for (const id of ids) this.#seen.set(id, true)
    this.#releases.takeProposal(ids)
  }

  #takeEvaluation(evaluation: Evaluation): void {
    const { action_id, intent, operation_digest, cooldown_on_repeat } = evaluation
    const id = action_id.toLowerCase()
    this.#overrides.takeEvaluation(evaluation)
    this.grants.takeEvaluation(evaluation)
    this.#releases.takeEvaluation(evaluation)
    if (evaluation.compensates !== undefined) this.#takeCompensation(evaluation.compensates, id)
    this.#seen.set(id, true)
    // The first use of an id is the action; what a later one says does not change it.
    if (!this.#actions.has(id)) {
      this.#actions.set(id, {
        actor: evaluation.basis?.actor ?? null,
        intent: intent ?? null,
        proposalDigest: evaluation.proposal_digest,
        cooldownOnRepeat: cooldown_on_repeat,
        isActors: isBounded(evaluation),
        displaced: evaluation.comparison?.undo?.needed_bytes ?? 0,
        isApproved: false,
        silenceDenies: !isAmended(evaluation),
      })
    }
    if (this.#actions.get(id)?.proposalDigest === evaluation.proposal_digest) {
      this.#held.takeEvaluation(evaluation)
    }
    if (intent === undefined || operation_digest === undefined) return
    this.#intents.takeOperation(operation_digest, intent)
  }

  #takeCompensation(undone: string, id: string): void {
    const known = this.#compensations.get(undone.toLowerCase()) ?? []
    if (!known.includes(id)) this.#compensations.set(undone.toLowerCase(), [...known, id])
  }

  #takeDecision(decision: Decision, occurredAt: string): void {
    const id = decision.action_id.toLowerCase()
    this.#seen.set(id, true)
    if (decision.codes.includes('confirm.class')) this.#beyondFiles.set(id, true)
    this.#releases.takeDecision(decision)
    const action = this.#actions.get(id)
    // The refusal of an id that was used before says nothing about its first use.
    if (action !== undefined && action.proposalDigest !== decision.proposal_digest) return
    this.#approved.end(id)
    this.#overrides.takeDecision(id, decision.decision === 'BLOCK')
    this.grants.takeDecision(id, decision.decision === 'BLOCK')
    const isBackground = decision.codes.includes('rehearsal.background')
    if (isBackground) this.#note(id, { background: true })
    if (decision.permanent) this.#note(id, { permanent: true })
    this.#held.takeDecision(decision)
    // A human is asked about a held act only when its promotion is asked for.
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
      sends: this.#beyondFiles.has(id),
      ...this.#severalAsked(id, decision, askedMs),
    })
  }

  /** Several humans share one deadline: it runs from the first question, even if the host asks again. */
  #severalAsked(id: string, { approvals: needed }: Decision, askedMs: number) {
    if (needed === undefined) return { askedMs }
    const first = this.#pending.get(id)?.askedMs ?? askedMs
    return { askedMs: first, approvals: { needed, given: [] } }
  }

  #takeConfirmation(confirmation: Confirmation, principal: Principal): void {
    const { action_id, answer, answered_at, superseded_by } = confirmation
    const id = action_id.toLowerCase()
    const pending = this.#pending.get(id)
    const approvals = pending === undefined ? null : stillOpen(pending, confirmation, principal)
    if (pending !== undefined && approvals !== null) {
      this.#pending.set(id, { ...pending, approvals })
      return
    }
    this.#pending.delete(id)
    this.#held.takeConfirmation(confirmation)
    const action = this.#actions.get(id)
    if (answer === 'APPROVED') this.#approved.take(action_id, answered_at)
    if (answer === 'APPROVED' && action) this.#actions.set(id, { ...action, isApproved: true })
    if (answer === 'APPROVED') this.#note(id, { reconfirm: false })
    // A question that expired or was superseded is not a human's no.
    else if (superseded_by !== undefined) return
    else if (answer === 'EXPIRED' && action?.silenceDenies === false) return
    else if (action?.cooldownOnRepeat === true) this.#coolDown(id, answered_at)
  }

  #takePromotion(promotion: Promotion): void {
    const id = promotion.action_id.toLowerCase()
    this.#approved.end(id)
    this.#pending.delete(id)
    this.#held.takePromotion(promotion)
    if (promotion.status === 'APPLIED') this.#promoted.takePromotion(promotion)
  }

  /** Cools down the intent of each undone act. A human has to confirm that intent again. */
  #takeRollback({ rollback_id, action_ids, rolled_back_at, run }: Rollback): void {
    for (const actionId of action_ids) {
      const id = actionId.toLowerCase()
      const actor = this.#actions.get(id)?.actor ?? null
      // What a flow takes back by its own rules is no sign that its participant does harm.
      this.#promoted.takeRollback(id, rollback_id, rolled_back_at, actor, run === undefined)
      this.#note(id, { reconfirm: true })
      this.#coolDown(id, rolled_back_at)
    }
  }

  #takeOverride(override: Override): void {
    this.#releases.takeOverride(override)
    if (override.kind === 'lift') this.#intents.takeLift(override)
    else this.#overrides.take(override)
  }

  #coolDown(id: string, from: string): void {
    const intent = this.intentOf(id)
    if (intent !== null) this.#intents.coolDown(intent, from)
  }

  /** Notes a change to the intent of an action, if it has one. */
  #note(id: string, change: Partial<IntentMemory>): void {
    const intent = this.intentOf(id)
    if (intent !== null) this.#intents.note(intent, change)
  }
}
