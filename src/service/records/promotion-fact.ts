/** The fact of a promotion (`promotion_v1`), and what recovery has to know to write it. */
import { type Digest, digestBytes } from '../../base/index.ts'
import type { Decision, Promotion as PromotionFact, SandboxResult } from '../../contracts/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { type AppliedPromotion, UNDO_PERIOD_MS } from '../../promotion/index.ts'

/** What a promotion's fact says besides what was done; kept with the intent for recovery. */
export interface PromotionNote {
  readonly proposal_digest: string
  readonly result_digest: string
  readonly manifest: string
  /** How many requests are sent before it is final; absent where there are none. */
  readonly requests?: number
  /** The stream of the act, which is not that of every command that recovers. */
  readonly stream?: string
  /** Of the fact, after recovery took the promotion back before and recorded that; absent else. */
  readonly key?: string
}

const EMPTY: Digest = digestBytes('')
export const NO_NOTE: PromotionNote = {
  proposal_digest: EMPTY,
  result_digest: EMPTY,
  manifest: EMPTY,
}

/** No effects: nothing to lock, nothing to undo, and still a fact. */
export function nothingPromoted(
  { action_id, proposal_digest, result_digest = '' }: Decision,
  { diff }: SandboxResult,
  nowMs: number,
): PromotionFact {
  const note = { proposal_digest, result_digest, manifest: diff.manifest }
  return factOf({ ...notDone(action_id, note), status: 'APPLIED', promotedAtMs: nowMs }, note)
}

export function notDone(actionId: string, note: PromotionNote): AppliedPromotion {
  return {
    actionId,
    status: 'REVERTED',
    paths: 0,
    bytes: 0,
    snapshot: EMPTY,
    windowMs: 0,
    promotedAtMs: Date.now(),
    recovered: false,
    note,
  }
}

export function factOf(
  done: AppliedPromotion,
  { key: _key, requests: _requests, stream: _stream, ...note }: PromotionNote,
  undoMs = UNDO_PERIOD_MS,
): PromotionFact {
  return {
    action_id: done.actionId,
    ...note,
    status: done.status,
    paths: done.paths,
    bytes: done.bytes,
    snapshot_digest: done.snapshot,
    window_ms: Math.round(done.windowMs * 1_000) / 1_000,
    undo_until: occurredAtText(done.promotedAtMs + undoMs),
    promoted_at: occurredAtText(done.promotedAtMs),
    recovered: done.recovered,
  }
}
