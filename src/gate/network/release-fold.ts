/**
 * Releases that stand: each for one proposal, its hosts and its methods, used once. What is released
 * cannot be taken back, so a release counts as used as soon as the proposal is on the record, before
 * anything runs; only a refusal before any run gives it back.
 *
 * A proposal that was rehearsed and refused may come again with its release under the same id: that
 * run is the act, and does not count among the rehearsals (G-16).
 */
import { parseIsoMomentMs } from '../../base/index.ts'
import type { Decision, Evaluation, NetworkGrounds, Override } from '../../contracts/index.ts'

export type UsableRelease = NonNullable<NetworkGrounds['release']>

interface KnownRelease {
  readonly override: Override
  isUsed: boolean
}

/** A released run that began: nobody knows yet what it sent. */
export interface ReleasedRun extends UsableRelease {
  readonly actionId: string
  readonly proposalDigest: string
}

/** One that was interrupted, as it was found afterwards. */
export interface InterruptedRun extends UsableRelease {
  readonly actionId: string
  readonly foundMs: number
}

/** Nobody knows whether something was sent. */
export const RUN_UNKNOWN = 'request.unknown'

export class ReleaseFold {
  readonly #byAction = new Map<string, KnownRelease[]>()
  /** What the first use of an id proposed, while nothing but refusals came of it. */
  readonly #refused = new Map<string, string>()
  /** Ids that somebody was asked about, or that were let through. */
  readonly #letOn = new Set<string>()
  /** Of the action that is being decided: whether something of it may have run. */
  readonly #mayHaveRun = new Map<string, boolean>()
  /** By action: what its last proposal used, as long as nothing was decided about that one. */
  readonly #fresh = new Map<string, readonly KnownRelease[]>()
  /** By action: releases whose run began and was not decided about. */
  readonly #open = new Map<string, readonly KnownRelease[]>()
  readonly #interrupted = new Map<string, InterruptedRun>()
  /** Of the action that is being decided: its own release, and whether it was a proposal at all. */
  readonly #judged = new Map<string, { readonly release: string; readonly isWhole: boolean }>()

  takeOverride(override: Override): void {
    if (override.kind !== 'release' || override.action_id === undefined) return
    const id = override.action_id.toLowerCase()
    const known = this.#byAction.get(id) ?? []
    this.#byAction.set(id, [...known, { override, isUsed: false }])
  }

  takeProposal(actionIds: readonly string[]): void {
    for (const id of actionIds) {
      const fresh = (this.#byAction.get(id) ?? []).filter(({ isUsed }) => !isUsed)
      for (const release of fresh) release.isUsed = true
      this.#fresh.set(id, fresh)
      if (fresh.length > 0) this.#open.set(id, fresh)
    }
  }

  takeEvaluation(evaluation: Evaluation): void {
    const { action_id, proposal_digest, obstacles, violations, network, host } = evaluation
    const id = action_id.toLowerCase()
    const release = network?.release ?? null
    const isWhole = violations.length === 0
    this.#judged.set(id, { release: release?.override_id ?? '', isWhole })
    if (release !== null && obstacles.some(({ code }) => code === RUN_UNKNOWN)) {
      this.#interrupted.set(id, { ...release, actionId: action_id, foundMs: host.now_ms })
    }
    if (!this.#refused.has(id) && !this.#letOn.has(id)) this.#refused.set(id, proposal_digest)
    this.#mayHaveRun.set(id, obstacles.length > 0)
  }

  takeDecision({ action_id, decision, result_digest }: Decision): void {
    const id = action_id.toLowerCase()
    const mayHaveRun = result_digest !== undefined || this.#mayHaveRun.get(id) !== false
    this.#mayHaveRun.delete(id)
    const fresh = this.#closed(id)
    if (decision !== 'BLOCK') {
      this.#letOn.add(id)
      this.#refused.delete(id)
      return
    }
    if (mayHaveRun) return
    for (const release of fresh) release.isUsed = false
  }

  /**
   * What the proposal used that a decision is about. Others may use the id meanwhile, and are refused:
   * that neither ends a run that goes on nor gives its release back.
   */
  #closed(id: string): readonly KnownRelease[] {
    const { release = '', isWhole = false } = this.#judged.get(id) ?? {}
    this.#judged.delete(id)
    const isOwn = (this.#open.get(id) ?? []).some(
      ({ override }) => override.override_id === release,
    )
    const fresh = isWhole ? (this.#fresh.get(id) ?? []) : []
    if (isOwn || fresh.length > 0) this.#open.delete(id)
    if (isWhole) this.#fresh.delete(id)
    return fresh
  }

  /** Runs that began with a release and about which nothing was decided since. */
  openRuns(): readonly ReleasedRun[] {
    return [...this.#open.values()].flatMap((releases) =>
      releases.slice(-1).map(({ override }) => ({
        actionId: override.action_id ?? '',
        proposalDigest: override.proposal_digest ?? '',
        override_id: override.override_id,
        hosts: override.hosts ?? [],
        methods: override.methods ?? [],
      })),
    )
  }

  /** Runs of which a fact says that nobody knows what they sent. */
  interruptedRuns(): readonly InterruptedRun[] {
    return [...this.#interrupted.values()]
  }

  /** What may be sent by this proposal at this time; null when nobody released anything. */
  usable(actionId: string, proposalDigest: string, nowMs: number): UsableRelease | null {
    const known = this.#byAction.get(actionId.toLowerCase()) ?? []
    const found = known.findLast(
      ({ override, isUsed }) =>
        !isUsed && override.proposal_digest === proposalDigest && isInForce(override, nowMs),
    )
    if (found === undefined) return null
    const { override_id, hosts = [], methods = [] } = found.override
    return { override_id, hosts, methods }
  }

  /** Whether the id was used by nothing but refused runs of this very proposal. */
  onlyRefused(actionId: string, proposalDigest: string): boolean {
    return this.#refused.get(actionId.toLowerCase()) === proposalDigest
  }
}

function isInForce({ expires_at }: Override, nowMs: number): boolean {
  const expiresMs = expires_at === undefined ? null : parseIsoMomentMs(expires_at)
  return expiresMs === null || nowMs < expiresMs
}
