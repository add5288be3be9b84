/** Acts of a run that a person took back: the run itself does not learn of it, its readers must. */
import type { Rollback } from '../contracts/index.ts'
import type { FlowFact } from '../flow/index.ts'
import { type Fact as LedgerFact, principalText } from '../ledger/index.ts'
import type { LedgerReader } from '../store/index.ts'
import { rows } from './run-records.ts'

export interface TakenBack {
  readonly node_id: string
  readonly action_id: string
  readonly at: string
  readonly by: string
}

/** Returns the promoted acts of a run that were undone by another than the run, oldest first. */
export async function takenBack(
  ledger: LedgerReader,
  stream: string,
  runId: string,
  facts: readonly FlowFact[],
): Promise<readonly TakenBack[]> {
  const promoted = promotedIn(facts)
  if (promoted.size === 0) return []
  const found: TakenBack[] = []
  for await (const { text } of rows(ledger, { stream, type: 'rollback_v1' })) {
    // The store returns texts of facts.
    const { principal, record } = JSON.parse(text) as LedgerFact
    // The store judged the record by its contract before it was written.
    const { action_ids, rolled_back_at: at, run } = record.payload as Rollback
    if (run === runId) continue
    for (const action_id of action_ids) {
      const node_id = promoted.get(action_id)
      if (node_id !== undefined)
        found.push({ node_id, action_id, at, by: principalText(principal) })
    }
  }
  return found
}

/** Nodes by the acts that were promoted for them. */
function promotedIn(facts: readonly FlowFact[]): ReadonlyMap<string, string> {
  const promoted = new Map<string, string>()
  for (const { type, payload } of facts) {
    if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
    const { event } = payload
    if (event.type === 'promoted' && event.action_id !== null)
      promoted.set(event.action_id, event.node_id)
  }
  return promoted
}
