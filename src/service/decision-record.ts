/** What is recorded of a decision, as one commit: what led to it, and where nothing was to be done, that. */
import type { Promotion } from '../contracts/index.ts'
import type { GateContext } from './context.ts'
import type { Judged } from './decided.ts'
import type { GateRecord, LedgerView } from './ledger-view.ts'
import { recordUse, usesOverride } from './override-use.ts'
import { nothingPromoted } from './promoting.ts'
import { keyOf, proposalRecord } from './proposal-record.ts'

export interface DecisionRecord {
  readonly records: readonly GateRecord[]
  /** Null when something is left to be promoted, or nothing may be. */
  readonly promotion: Promotion | null
}

export function decisionRecord(
  { draft, proposal, decision, result, changes }: Judged,
  { nowMs }: Pick<GateContext, 'nowMs'>,
): DecisionRecord {
  const actionId = draft.action_id
  const records: GateRecord[] = []
  // A refused proposal that follows its contract is on the record too.
  if (proposal !== null && result === null) records.push(proposalRecord(draft, proposal))
  if (result !== null) {
    records.push({ type: 'sandbox_result_v1', payload: result, key: `result/${keyOf(draft)}` })
  }
  records.push({ type: 'evaluation_v1', payload: draft, key: `evaluation/${keyOf(draft)}` })
  records.push({ type: 'decision_v1', payload: decision, key: `decision/${keyOf(draft)}` })
  const isOver = draft.held === undefined && decision.decision === 'PROMOTE'
  if (result === null || !isOver || changes.length > 0) return { records, promotion: null }
  const promotion = nothingPromoted(decision, result, nowMs())
  records.push({ type: 'promotion_v1', payload: promotion, key: `promotion/${actionId}` })
  return { records, promotion }
}

/**
 * When what it is about is staged. False when an override that it rests on was used up meanwhile:
 * nothing is recorded then.
 */
export async function recordDecision(
  view: LedgerView,
  { draft, decision }: Judged,
  records: readonly GateRecord[],
  staged: Promise<void>,
): Promise<boolean> {
  if (decision.decision !== 'BLOCK' && usesOverride(draft)) {
    await staged
    return recordUse(view, records, draft)
  }
  await view.recordAfter(staged, records)
  return true
}
