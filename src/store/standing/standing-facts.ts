/** Reads facts for `StandingFold`: only those of the types that it folds, each with its whole payload. */
import { STANDING_TYPES, type StandingFact } from '../../gate/index.ts'
import type { Fact, Store, StoredFact } from '../../ledger/index.ts'
import type { ObjectStore } from '../ledger/objects.ts'

/** Where facts and their bodies are read. */
export interface FactSource {
  readonly store: Pick<Store, 'read'>
  readonly objects: Pick<ObjectStore, 'get'>
}

export interface WholeFact {
  readonly fact: Fact
  readonly payload: unknown
}

/** Everything else is skipped unread. */
const STANDING = new RegExp(`"type":"(?:${STANDING_TYPES.join('|')})"`)
const PAGE = 1_000

/** A page of a stream: how many facts it has, the last of them, and those that count. */
interface StandingPage {
  readonly size: number
  readonly last: StoredFact | null
  readonly facts: readonly StandingFact[]
  readonly isLast: boolean
}

export async function standingPage(
  source: FactSource,
  stream: string,
  from: number,
  limit: number = PAGE,
): Promise<StandingPage> {
  const stored = await source.store.read(stream, from, Math.min(limit, PAGE))
  const facts: StandingFact[] = []
  for (const { text, seq } of stored) {
    if (!STANDING.test(text)) continue
    // The store returns texts of facts.
    const { fact, payload } = await wholeFact(source, JSON.parse(text) as Fact)
    const { record, occurred_at: occurredAt, principal } = fact
    facts.push({ type: record.type, payload, occurredAt, seq, principal })
  }
  const { length: size } = stored
  return { size, last: stored.at(-1) ?? null, facts, isLast: size < Math.min(limit, PAGE) }
}

export async function wholeFact({ objects }: FactSource, fact: Fact): Promise<WholeFact> {
  const { payload, payload_ref: reference } = fact.record
  if (reference === undefined) return { fact, payload }
  // Throws if the body is missing: no decision rests on half a record. A checked fact holds a digest.
  const bytes = await objects.get(reference as never)
  return { fact, payload: JSON.parse(decoder.decode(bytes)) }
}

const decoder = new TextDecoder()
