/** One act as its facts tell it: what was wanted, what happened, what was decided, what became of it. */
import type {
  Confirmation,
  Decision,
  Evaluation,
  Promotion,
  Proposal,
  RequestFact,
  Rollback,
  SandboxResult,
} from '../../contracts/index.ts'
import type { OpenedFact } from '../../ledger/index.ts'

export type ActStatus =
  | 'promoted'
  | 'no effects'
  | 'waiting'
  | 'denied'
  | 'expired'
  | 'superseded'
  | 'blocked'
  | 'undone'
  | 'put back'
  | 'approved'
  | 'held'
  /** Decided to be promoted, and not promoted yet: under way, or interrupted. */
  | 'unfinished'
  | 'unknown'

/** A record with who wrote it and when; null where there is none, or its payload is no longer kept. */
export interface HistoryRecord<Payload> {
  readonly payload: Payload
  readonly by: OpenedFact['principal']
  readonly at: string
}

export interface ActHistory {
  readonly id: string
  readonly at: string
  readonly by: OpenedFact['principal']
  readonly proposal: HistoryRecord<Proposal> | null
  readonly result: HistoryRecord<SandboxResult> | null
  readonly evaluation: HistoryRecord<Evaluation> | null
  readonly decision: HistoryRecord<Decision> | null
  readonly answers: readonly HistoryRecord<Confirmation>[]
  readonly promotion: HistoryRecord<Promotion> | null
  /** What became of held requests, fact by fact. */
  readonly requests: readonly HistoryRecord<RequestFact>[]
  readonly rollback: HistoryRecord<Rollback> | null
  readonly outcome: ActStatus
}

/** From the facts about one action, in their order; null when there are none. */
export function actOf(id: string, facts: readonly OpenedFact[]): ActHistory | null {
  const [first] = facts
  if (first === undefined) return null
  const parts = {
    proposal: last<Proposal>(facts, 'proposal_v1'),
    result: last<SandboxResult>(facts, 'sandbox_result_v1'),
    evaluation: last<Evaluation>(facts, 'evaluation_v1'),
    decision: last<Decision>(facts, 'decision_v1'),
    answers: all<Confirmation>(facts, 'confirmation_v1'),
    promotion: last<Promotion>(facts, 'promotion_v1'),
    requests: all<RequestFact>(facts, 'request_v1'),
    rollback: last<Rollback>(facts, 'rollback_v1'),
  }
  return { id, at: first.occurred_at, by: first.principal, ...parts, outcome: outcomeOf(parts) }
}

function all<Payload>(
  facts: readonly OpenedFact[],
  type: string,
): readonly HistoryRecord<Payload>[] {
  return facts
    .filter(({ record, payload }) => record.type === type && payload !== null)
    .map(({ payload, principal, occurred_at }) => ({
      // The store judged the record by its contract before it was written.
      payload: payload as Payload,
      by: principal,
      at: occurred_at,
    }))
}

function last<Payload>(facts: readonly OpenedFact[], type: string): HistoryRecord<Payload> | null {
  return all<Payload>(facts, type).at(-1) ?? null
}

type Told = Pick<
  ActHistory,
  'evaluation' | 'decision' | 'answers' | 'promotion' | 'rollback' | 'requests'
>

function outcomeOf(parts: Told): ActStatus {
  const { evaluation, decision, answers, promotion, rollback, requests } = parts
  const isUndone = rollback !== null && promotion !== null && rollback.at >= promotion.at
  if (isUndone) return 'undone'
  if (promotion?.payload.status === 'APPLIED') {
    const hasEffects = promotion.payload.paths > 0 || requests.length > 0
    return hasEffects ? 'promoted' : 'no effects'
  }
  if (promotion?.payload.status === 'REVERTED') return 'put back'
  if (decision?.payload.decision === 'BLOCK') return 'blocked'
  const { answer, superseded_by } = answers.at(-1)?.payload ?? {}
  if (answer === 'DENIED') return 'denied'
  if (superseded_by !== undefined) return 'superseded'
  if (answer === 'EXPIRED') return 'expired'
  if (decision?.payload.decision === 'CONFIRM') return answer === undefined ? 'waiting' : 'approved'
  if (decision === null) return 'unknown'
  return evaluation?.payload.held === undefined ? 'unfinished' : 'held'
}
