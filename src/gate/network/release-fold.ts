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

export class ReleaseFold {
  readonly #byAction = new Map<string, KnownRelease[]>()
  /** What the first use of an id proposed, while nothing but refusals came of it. */
  readonly #refused = new Map<string, string>()
  /** Ids that somebody was asked about, or that were let through. */
  readonly #letOn = new Set<string>()
  /** Of the action that is being decided: whether something of it may have run. */
  readonly #mayHaveRun = new Map<string, boolean>()

  takeOverride(override: Override): void {
    if (override.kind !== 'release' || override.action_id === undefined) return
    const id = override.action_id.toLowerCase()
    const known = this.#byAction.get(id) ?? []
    this.#byAction.set(id, [...known, { override, isUsed: false }])
  }

  takeProposal(actionIds: readonly string[]): void {
    for (const id of actionIds) {
      for (const release of this.#byAction.get(id) ?? []) release.isUsed = true
    }
  }

  takeEvaluation({ action_id, proposal_digest, obstacles }: Evaluation): void {
    const id = action_id.toLowerCase()
    if (!this.#refused.has(id) && !this.#letOn.has(id)) this.#refused.set(id, proposal_digest)
    this.#mayHaveRun.set(id, obstacles.length > 0)
  }

  takeDecision({ action_id, decision, result_digest }: Decision): void {
    const id = action_id.toLowerCase()
    const mayHaveRun = result_digest !== undefined || this.#mayHaveRun.get(id) !== false
    this.#mayHaveRun.delete(id)
    if (decision !== 'BLOCK') {
      this.#letOn.add(id)
      this.#refused.delete(id)
      return
    }
    if (mayHaveRun) return
    for (const release of this.#byAction.get(id) ?? []) release.isUsed = false
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
