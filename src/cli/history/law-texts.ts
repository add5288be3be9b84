/** What the laws that a decision names say for people, from the laws that the act was judged by. */
import type { Decision, Evaluation } from '../../contracts/index.ts'
import type { OpenedFact } from '../../ledger/index.ts'
import type { LawWords } from '../../service/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { lawsOf, NotKept } from './past-decision.ts'
import { replayLookup } from './replay-lookup.ts'

/** Of the last decision among the facts of one act; empty where the laws are no longer kept. */
export async function lawWordsAmong(
  ledger: LedgerReader,
  facts: readonly OpenedFact[],
): Promise<readonly LawWords[]> {
  const { law_refs = [] } = lastPayload<Decision>(facts, 'decision_v1') ?? {}
  const evaluation = lastPayload<Evaluation>(facts, 'evaluation_v1')
  if (law_refs.length === 0 || evaluation === null) return []
  try {
    const laws = await lawsOf(evaluation, replayLookup(ledger))
    return (laws?.laws ?? []).flatMap(({ policyId: policy_id, text }) =>
      text !== null && law_refs.includes(policy_id) ? [{ policy_id, text }] : [],
    )
  } catch (error) {
    if (error instanceof NotKept) return []
    throw error
  }
}

function lastPayload<Payload>(facts: readonly OpenedFact[], type: string): Payload | null {
  const last = facts.findLast(({ record, payload }) => record.type === type && payload !== null)
  // The store judged the record by its contract before it was written.
  return last === undefined ? null : (last.payload as Payload)
}
