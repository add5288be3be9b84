/** The acts of a stream, newest first, each gathered from its facts. */
import type { Decision, Rollback } from '../../contracts/index.ts'
import type { OpenedFact, Query } from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { type ActHistory, actOf } from './act.ts'
import { allFacts, eachFact, openFact } from './facts.ts'

/** How many acts are listed without `--limit`. */
export const ACTS = 30
const PAGE = 200

/** At most so many; the newest ones that the query names by time and principal. */
export async function actsOf(
  ledger: LedgerReader,
  { stream, since, until, principal }: Query,
  limit: number = ACTS,
): Promise<readonly ActHistory[]> {
  const named = Object.fromEntries(
    Object.entries({ since, until, principal }).filter(([, value]) => value !== undefined),
  )
  const ids: string[] = []
  for (let cursor: number | null | undefined; cursor !== null && ids.length < limit; ) {
    const query = { ...named, stream, type: 'decision_v1', limit: PAGE, order: 'newest_first' }
    // The order is one of the two words that a query knows.
    const asked = (cursor === undefined ? query : { ...query, cursor }) as Query
    const page = await ledger.store.find(asked)
    for (const { text } of page.facts) {
      const { payload } = await openFact(ledger, text)
      // The query finds decisions only; the payload of one that is gone is null.
      const id = (payload as Decision | null)?.action_id
      if (id !== undefined && !ids.includes(id) && ids.length < limit) ids.push(id)
    }
    cursor = page.next
  }
  const rollbacks = await rollbacksOf(ledger, stream)
  const acts: ActHistory[] = []
  for (const id of ids) {
    const act = await readAct(ledger, stream, id, rollbacks)
    if (act !== null) acts.push(act)
  }
  return acts
}

/** A rollback names several acts, so it is not found by one of them. */
export async function rollbacksOf(
  ledger: LedgerReader,
  stream: string,
): Promise<ReadonlyMap<string, OpenedFact>> {
  const found = new Map<string, OpenedFact>()
  for await (const fact of eachFact(ledger, { stream, type: 'rollback_v1' })) {
    // The store judged the record by its contract; only one that is gone is null.
    const payload = fact.payload as Rollback | null
    for (const id of payload?.action_ids ?? []) found.set(id.toLowerCase(), fact)
  }
  return found
}

export async function readAct(
  ledger: LedgerReader,
  stream: string,
  id: string,
  rollbacks: ReadonlyMap<string, OpenedFact>,
): Promise<ActHistory | null> {
  const facts = await allFacts(ledger, { stream, action: id })
  const rollback = rollbacks.get(id.toLowerCase())
  return actOf(id, rollback === undefined ? facts : [...facts, rollback])
}
