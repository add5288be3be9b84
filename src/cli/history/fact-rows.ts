/** One line for each fact: place, time, what, who, and the id by which `writ show` finds it. */

import { show } from '../../base/index.ts'
import { type Fact, principalText, termsOf } from '../../ledger/index.ts'

export const FACT_HEADS = ['seq', 'time', 'type', 'principal', 'about'] as const

export function factRow(fact: Fact): readonly string[] {
  const { seq, occurred_at: time, record, principal } = fact
  return [String(seq), time, record.type, plain(principalText(principal)), about(fact)]
}

function about({ record, fact_id: id }: Fact): string {
  const terms = termsOf(record)
  return plain(terms['task'] ?? terms['action'] ?? terms['run'] ?? id)
}

/** Names come from documents: what a terminal would act on is escaped. */
function plain(text: string): string {
  return show(text, '').slice(2, -2)
}
