/** One line for each fact: place, time, what, who, and the id by which `writ show` finds it. */
import { type Fact, principalText, termsOf } from '../../ledger/index.ts'
import { plain } from './text.ts'

export const FACT_HEADS = ['seq', 'time', 'type', 'principal', 'about'] as const

export function factRow(fact: Fact): readonly string[] {
  const { seq, occurred_at: time, record, principal } = fact
  return [String(seq), time, plain(record.type), plain(principalText(principal)), about(fact)]
}

function about({ record, fact_id: id }: Fact): string {
  const terms = termsOf(record)
  return plain(terms['task'] ?? terms['action'] ?? terms['run'] ?? id)
}
