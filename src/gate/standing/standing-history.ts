/**
 * Computes the standing at each judgement of a stream again. Each record says how many facts its host
 * had taken in; `StandingHistory` queries the fold once it has taken in exactly those. It sorts the
 * judgements by that number, so one walk over the facts serves all of them.
 *
 * Also how much an actor did recently, from facts: the amount that grants limit by the hour, and the bytes
 * that are kept to undo its acts.
 */

import { parseIsoMomentMs } from '../../base/index.ts'
import type { Evaluation, EvaluationBasis } from '../../contracts/index.ts'
import type { Amount } from '../comparison/grants.ts'
import type { GivenGrant } from './grant-fold.ts'
import type { OverrideInForce } from './override-fold.ts'
import type { UsableRelease } from './release-fold.ts'
import { COOLDOWN_MS, StandingFold } from './standing.ts'
import type { StandingFact, TypedFact } from './standing-fact.ts'

const HOUR_MS = 60 * 60 * 1000
/** Within this span an actor's acts that were taken back are counted. */
export const RECENT_MS = 24 * 60 * 60 * 1000

/** What the facts said that a host had taken in. */
export interface StandingBefore {
  readonly halted: boolean
  /** A human had accepted other laws than those that were judged by. */
  readonly lawsDiffer: boolean
  readonly permanent: boolean
  readonly cooledFromMs: number | null
  readonly reconfirm: boolean
  readonly background: boolean
  readonly recentRollbacks: number
  /** What the actor did in the hour before. */
  readonly hourUse: { readonly files: number; readonly bytes: number }
  readonly overrides: readonly OverrideInForce[]
  readonly given: readonly GivenGrant[]
  /** What a human had released for the proposal. */
  readonly release: UsableRelease | null
}

interface Asked {
  readonly seq: number
  readonly basis: EvaluationBasis
  readonly actionId: string
  readonly proposalDigest: string
  readonly intent: string
  readonly nowMs: number
  readonly laws: string
}

/** Facts of the host's stream that count: up to which size, and what held from there on. */
interface HostState {
  readonly size: number
  readonly halted: boolean
  readonly laws: string | null
}

export class StandingHistory {
  readonly #fold = new StandingFold({ confirmationMs: 0, cooldownMs: COOLDOWN_MS })
  readonly #host: HostState[] = [{ size: 0, halted: false, laws: null }]
  readonly #asked: Asked[] = []
  readonly #answers = new Map<number, StandingBefore>()
  #next = 0

  /** First: the facts of the host's stream, in their order. */
  takeHost(fact: StandingFact): void {
    const { type, payload, seq } = fact as TypedFact // The store validated the payload by its type.
    const last = this.#host[this.#host.length - 1] as HostState // It begins with one.
    if (type === 'halt_v1') {
      this.#host.push({ ...last, size: seq + 1, halted: payload.state === 'HALTED' })
    }
    if (type === 'laws_v1') this.#host.push({ ...last, size: seq + 1, laws: payload.laws })
  }

  /** Second: every judgement of the stream that tells what it was made with. */
  ask(seq: number, evaluation: Evaluation): void {
    const { basis, action_id: actionId, intent = '', host, laws } = evaluation
    if (basis === undefined) return
    const proposalDigest = evaluation.proposal_digest
    const nowMs = host.now_ms
    this.#asked.push({ seq, basis, actionId, proposalDigest, intent, nowMs, laws })
  }

  /** Third: all facts of the stream, in their order, and then `finish`. */
  take(fact: StandingFact): void {
    if (this.#next === 0) this.#asked.sort((one, other) => seenOf(one) - seenOf(other))
    this.#answerUpTo(fact.seq)
    this.#fold.take(fact)
  }

  finish(): void {
    if (this.#next === 0) this.#asked.sort((one, other) => seenOf(one) - seenOf(other))
    this.#answerUpTo(Number.POSITIVE_INFINITY)
  }

  /** By the place of the judgement; null when it was not asked about. */
  at(seq: number): StandingBefore | null {
    return this.#answers.get(seq) ?? null
  }

  #answerUpTo(size: number): void {
    for (let next = this.#asked[this.#next]; next !== undefined; next = this.#asked[this.#next]) {
      if (seenOf(next) > size) return
      this.#answers.set(next.seq, this.#answer(next))
      this.#next++
    }
  }

  #answer({ basis, actionId, proposalDigest, intent, nowMs, laws }: Asked): StandingBefore {
    const { permanent, reconfirm, background_before } = this.#fold.against(intent, false, nowMs)
    const host = this.#hostAt(basis.facts_seen.host)
    return {
      halted: host.halted,
      lawsDiffer: host.laws !== null && host.laws !== laws,
      permanent,
      cooledFromMs: this.#fold.cooledFromMs(intent),
      reconfirm,
      background: background_before,
      recentRollbacks: this.#fold.rollbacksOf(basis.actor, nowMs, RECENT_MS),
      hourUse: hourUse(this.#fold, basis.actor, nowMs),
      overrides: this.#fold.overridesInForce(actionId, intent, nowMs),
      given: this.#fold.grants.inForce(nowMs),
      release: this.#fold.releaseFor(actionId, proposalDigest, nowMs),
    }
  }

  #hostAt(size: number): HostState {
    return this.#host.findLast((state) => state.size <= size) as HostState // The first has size 0.
  }
}

function seenOf({ basis }: Asked): number {
  return basis.facts_seen.stream
}

/** Returns how much an actor's acts created, changed and deleted in the hour before a moment. */
export function hourUse(standing: StandingFold, actor: string, nowMs: number): Amount {
  let [files, bytes] = [0, 0]
  for (const { actionId, promotedAt, promotion } of standing.promotedNewestFirst()) {
    if (nowMs - (parseIsoMomentMs(promotedAt) ?? 0) >= HOUR_MS) break
    if (standing.actorOf(actionId) !== actor) continue
    files += promotion.paths
    bytes += promotion.bytes
  }
  return { files, bytes }
}

/** Returns the bytes that are kept to undo those acts of an actor that no human approved. */
export function undoUse(standing: StandingFold, actor: string, nowMs: number): number {
  let bytes = 0
  for (const { actionId, undoUntil, rolledBackBy } of standing.promotedNewestFirst()) {
    if (nowMs >= (parseIsoMomentMs(undoUntil) ?? 0)) break
    if (rolledBackBy !== null || standing.actorOf(actionId) !== actor) continue
    bytes += standing.unapproved(actionId) ?? 0
  }
  return bytes
}
